// The key-value pairs at the head of a GGUF file: for the file that reads the rest only.
#pragma once

#include "heed/base/error.h"
#include "heed/io/byte_reader.h"
#include "heed/io/json.h"

namespace heed {

// A length of 8 bytes and as many bytes.
std::string_view read_gguf_string(ByteReader& reader, std::string_view what);

// Reads `count` pairs, as an object; throws as parse_gguf says (heed/io/gguf.h).
Json read_gguf_metadata(ByteReader& reader, std::uint64_t count);

}  // namespace heed
