// Which ids a tokenizer's symbols have: by the names that its files give them, or that models of its kind have.
#pragma once

#include <functional>
#include <string_view>

#include "heed/io/json.h"
#include "heed/text/vocabulary.h"

namespace heed {

// The id of a piece; -1 where there is none.
using FindPiece = std::function<int(std::string_view)>;

// By the names that are common: "<s>", "[CLS]", "<|endoftext|>", ... ; `unknown` where the model says it.
SymbolIds symbols_by_name(const FindPiece& find, int unknown);

// By the names in tokenizer_config.json or special_tokens_map.json ("bos_token": "<s>", or an object with content);
// those that the file does not name stay as they are, those that it names null are none. Throws heed::Error for a name
// that is no text.
void name_symbols(const Json& json, const FindPiece& find, SymbolIds& symbols);

// heed's own member: {"pad": 0, ...}; what is not there is -1. Throws heed::Error for an id outside [0, size).
SymbolIds read_symbols(const Json& json, Index size);
Json symbols_json(const SymbolIds& symbols);
// Throws heed::Error naming `name` for an id that is neither -1 nor in [0, size).
void check_symbols(const SymbolIds& symbols, Index size, std::string_view name);

}  // namespace heed
