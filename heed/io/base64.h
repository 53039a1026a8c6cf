// Bytes as text (RFC 4648, section 4).
//
//   base64("heed") == "aGVlZA==";
//   base64_bytes("aGVlZA==", "trace.json") == "heed";
#pragma once

#include <string>
#include <string_view>

#include "heed/base/index.h"

namespace heed {

std::string base64(std::string_view bytes);
// Throws heed::Error, "<name>: ...", for what base64 does not write: other characters, white space and line ends among
// them, padding that is missing or misplaced, bits that no byte holds.
std::string base64_bytes(std::string_view text, std::string_view name);

}  // namespace heed
