// What the walks say, in English and in Chinese. The table, words/*.cc, has both beside each other; what is computed is
// the same in both.
//
//   const Words words(Language::chinese);
//   words.title("attention.scores");                    // "每个查询与每个键相比"
//   words.text("attention.inputs.shared", {"2"});       // the phrase, with its places {0}, {1}, ... filled
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/error.h"

namespace heed {

enum class Language { english, chinese };

// The language called "en" or "zh". Throws heed::Error for another name.
Language language_named(std::string_view name);
// "en" or "zh".
std::string_view language_name(Language language);

struct Phrase {
  std::string_view english{}, chinese{};

  std::string_view in(Language language) const { return language == Language::english ? english : chinese; }
};

// A step's title and meaning, a walk's title and introduction, or a phrase by itself, which is a text without a title.
struct WordsEntry {
  std::string_view key;
  Phrase title{}, text{};
};

// The whole table.
const std::vector<WordsEntry>& words_table();

class Words {
 public:
  explicit Words(Language language) : language_(language) {}

  Language language() const { return language_; }
  // Throw heed::Error where the table has no such key.
  std::string title(std::string_view key, std::initializer_list<std::string> values = {}) const;
  std::string text(std::string_view key, std::initializer_list<std::string> values = {}) const;

 private:
  Language language_;
};

}  // namespace heed
