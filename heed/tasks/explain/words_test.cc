#include "heed/tasks/explain/words.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "heed/unicode/text_width.h"

namespace heed {
namespace {

// The numbers of a text and its places {0}, {1}, in the order of their values.
std::vector<std::string> figures(std::string_view text) {
  std::vector<std::string> found;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && (std::isdigit(static_cast<unsigned char>(text[end])) != 0 || text[end] == '.')) ++end;
    std::string figure(text.substr(at, end - at));
    while (figure.ends_with('.')) figure.pop_back();
    if (!figure.empty()) found.push_back(figure);
    at = std::max(end, at + 1);
  }
  std::sort(found.begin(), found.end());
  return found;
}

TEST(Words, EveryPhraseIsInBothLanguages) {
  std::set<std::string_view> keys;
  for (const WordsEntry& entry : words_table()) {
    SCOPED_TRACE(entry.key);
    EXPECT_TRUE(keys.insert(entry.key).second) << "twice";
    EXPECT_FALSE(entry.text.english.empty());
    for (const Phrase& phrase : {entry.title, entry.text}) {
      EXPECT_EQ(phrase.english.empty(), phrase.chinese.empty());
      if (phrase.english.empty()) continue;
      EXPECT_EQ(figures(phrase.english), figures(phrase.chinese));
      EXPECT_GT(text_columns(phrase.chinese), 0);
      EXPECT_EQ(text_columns(phrase.english), static_cast<Index>(phrase.english.size())) << "ASCII";
      EXPECT_NE(static_cast<std::size_t>(text_columns(phrase.chinese)), phrase.chinese.size()) << "Chinese";
    }
  }
}

// Chinese punctuation is full-width beside Chinese characters; half-width marks stand in formulas and names only.
TEST(Words, ChineseTextHasChinesePunctuation) {
  for (const WordsEntry& entry : words_table()) {
    for (const std::string_view text : {entry.title.chinese, entry.text.chinese}) {
      for (std::size_t i = 1; i < text.size(); ++i) {
        const bool after_chinese = (static_cast<unsigned char>(text[i - 1]) & 0x80U) != 0;
        const bool half = text[i] == ',' || text[i] == ';' || text[i] == ':' || text[i] == '?';
        EXPECT_FALSE(after_chinese && half) << entry.key << ": " << text;
      }
    }
  }
}

TEST(Words, PlacesAreFilled) {
  EXPECT_EQ(Words(Language::english).text("matrix.head", {"3"}), ", head 3");
  EXPECT_EQ(Words(Language::chinese).text("matrix.head", {"3"}), "，头 3");
}

TEST(Words, AnUnknownKeyOrLanguageIsAnError) {
  EXPECT_THROW(Words(Language::english).text("attention.nothing"), Error);
  EXPECT_THROW(language_named("de"), Error);
  EXPECT_EQ(language_named(language_name(Language::chinese)), Language::chinese);
}

}  // namespace
}  // namespace heed
