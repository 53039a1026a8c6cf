#include "heed/text/tokenizer/symbols.h"

#include <array>
#include <initializer_list>
#include <string>
#include <vector>

#include "heed/base/check.h"
#include "heed/text/tokenizer/json_fields.h"

namespace heed {
namespace {

struct Symbol {
  std::string_view name;        // in heed's member
  std::string_view other_name;  // in Hugging Face's files
  int SymbolIds::*id;
};
constexpr std::array<Symbol, 7> kSymbols = {{{"pad", "pad_token", &SymbolIds::pad},
                                             {"unknown", "unk_token", &SymbolIds::unknown},
                                             {"begin", "bos_token", &SymbolIds::begin},
                                             {"end", "eos_token", &SymbolIds::end},
                                             {"classifier", "cls_token", &SymbolIds::classifier},
                                             {"separator", "sep_token", &SymbolIds::separator},
                                             {"mask", "mask_token", &SymbolIds::mask}}};

int first_of(const FindPiece& find, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    if (const int id = find(name); id >= 0) return id;
  }
  return -1;
}

}  // namespace

SymbolIds symbols_by_name(const FindPiece& find, int unknown) {
  return {.pad = first_of(find, {"<pad>", "[PAD]", "<|pad|>", "<|finetune_right_pad_id|>"}),
          .unknown = unknown >= 0 ? unknown : first_of(find, {"<unk>", "[UNK]"}),
          .begin = first_of(find, {"<s>", "<bos>", "<|begin_of_text|>", "<|startoftext|>", "<|endoftext|>"}),
          .end = first_of(find, {"</s>", "<eos>", "<|end_of_text|>", "<|im_end|>", "<|endoftext|>"}),
          .classifier = first_of(find, {"[CLS]"}),
          .separator = first_of(find, {"[SEP]"}),
          .mask = first_of(find, {"[MASK]", "<mask>"})};
}

void name_symbols(const Json& json, const FindPiece& find, SymbolIds& symbols) {
  for (const Symbol& symbol : kSymbols) {
    if (!json.has(symbol.other_name)) continue;
    const Json token = json[symbol.other_name];
    if (token.is_null()) {
      symbols.*symbol.id = -1;
    } else {
      symbols.*symbol.id = find(token.kind() == Json::Kind::object ? token["content"].string() : token.string());
    }
  }
}

SymbolIds read_symbols(const Json& json, Index size) {
  SymbolIds symbols;
  for (const Symbol& symbol : kSymbols) {
    if (json.has(symbol.name)) symbols.*symbol.id = static_cast<int>(json[symbol.name].integer(0, size - 1));
  }
  return symbols;
}

Json symbols_json(const SymbolIds& symbols) {
  Json json = Json::object();
  for (const Symbol& symbol : kSymbols) {
    if (symbols.*symbol.id >= 0) json.set(symbol.name, symbols.*symbol.id);
  }
  return json;
}

void check_symbols(const SymbolIds& symbols, Index size, std::string_view name) {
  for (const Symbol& symbol : kSymbols) {
    const int id = symbols.*symbol.id;
    HEED_CHECK(id >= -1 && id < size, "{}: the symbol {} has the id {}, in a vocabulary of {}", name, symbol.name, id,
               size);
  }
}

}  // namespace heed
