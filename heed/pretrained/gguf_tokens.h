// What a GGUF file says of its vocabulary (tokenizer.ggml.*), and what llama.cpp makes of what it leaves out.
//
//   gguf_pieces(file.metadata())[gguf_token_id(file.metadata(), "bos_token_id")];      // "<s>"
//   gguf_ends(file.metadata());                                                        // {128001, 128008, 128009}
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "heed/io/json.h"

namespace heed {

// The pieces by id; one without a text is called [EMPTY_7].
std::vector<std::string> gguf_pieces(const Json& metadata);

// The id that a key of tokenizer.ggml names, else that of llama.cpp's default for tokenizer.ggml.model; -1 where it is
// no piece's, as the largest one, or there is none.
std::int32_t gguf_token_id(const Json& metadata, std::string_view key);

// What a text without tokens begins with: no default of BPE, which llama.cpp puts before a text that is to begin with
// one and before no other. -1: nothing.
std::int32_t gguf_begin(const Json& metadata);

// The ids that end a text, each once and eos_token_id first: those of keys, and the pieces that llama.cpp knows by
// their texts, whatever the keys are.
std::vector<std::int32_t> gguf_ends(const Json& metadata);

}  // namespace heed
