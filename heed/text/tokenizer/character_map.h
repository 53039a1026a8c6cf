// SentencePiece's table of what each character is replaced with, as tokenizer.json's Precompiled normaliser holds it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/error.h"

namespace heed {

class CharacterMap {
 public:
  // The table's bytes (sentencepiece_model_check.h); throws heed::Error that names it `name` where they are not sound.
  CharacterMap(std::string_view bytes, std::string_view name);

  // Replaces each grapheme of less than 6 bytes for which there is a rule, and each character of all others. A rule
  // for a grapheme's first characters is one for the grapheme: so does the library that tokenizer.json is of.
  std::string apply(std::string_view text) const;

 private:
  // The replacement by the rule for the fewest of the first bytes; nothing where there is no rule.
  std::optional<std::string_view> rule_for(std::string_view text) const;
  void apply_to(std::string_view grapheme, std::string& text) const;

  std::vector<std::uint32_t> trie_;  // a double array
  std::string strings_;              // each ended by a NUL byte
  bool plain_ascii_ = true;          // no character of ASCII has a rule
};

}  // namespace heed
