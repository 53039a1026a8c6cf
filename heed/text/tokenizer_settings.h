// What the files beside a tokenizer say of it: tokenizer_config.json, special_tokens_map.json, added_tokens.json, and
// the config.json of its model.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heed/io/json.h"
#include "heed/text/tokenizer/symbols.h"

namespace heed {

class TokenizerSettings {
 public:
  // Of a folder; a file that is not there says nothing. This and all below throw heed::Error that names the file and
  // the place where one is not sound.
  explicit TokenizerSettings(const std::filesystem::path& folder);

  // The last file that speaks of a symbol is right about it.
  void name_symbols(const FindPiece& find, SymbolIds& symbols) const;

  std::optional<bool> flag(std::string_view key) const;
  std::optional<Index> number(std::string_view key) const;
  // A token's text, which may be an object's "content".
  std::string token(std::string_view key, std::string_view otherwise) const;

  // As the files name it, or else as the model's configuration does, or its type; empty where nothing does.
  const std::string& tokenizer_class() const { return class_; }

  // What was added to the vocabulary's pieces, by id: tokenizer_config.json has it whole, added_tokens.json the ids.
  std::vector<Json> added_tokens() const;

  // The tokens that it names, whatever for.
  std::vector<std::string> tokens() const;

 private:
  std::filesystem::path folder_;
  std::vector<Json> files_;
  std::string class_;
};

}  // namespace heed
