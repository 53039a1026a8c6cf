#include "heed/corpus/word.h"

#include <array>
#include <utility>

namespace heed::grammar {
namespace {

// Appends text in the notation of Expression; meanings are those of the digits 1 to 9, or `whole` for every word.
void append_marked(Words& words, std::string_view text, const std::array<int, 10>& marks, int whole) {
  while (!text.empty()) {
    std::size_t blank = text.find(' ');
    std::string_view token = text.substr(0, blank);
    text.remove_prefix(blank == std::string_view::npos ? text.size() : blank + 1);
    Word word;
    std::size_t colon = token.find(':');
    word.text = token.substr(0, colon);
    if (colon == std::string_view::npos) {
      word.meaning = whole;
    } else {
      word.meaning = marks[static_cast<std::size_t>(token[colon + 1] - '0')];
      if (colon + 2 < token.size()) word.also = marks[static_cast<std::size_t>(token[colon + 2] - '0')];
    }
    words.push_back(std::move(word));
  }
}

// Whether the spoken word begins with a vowel; a list where the spelling misleads.
bool begins_with_vowel_sound(std::string_view word) {
  for (std::string_view consonant : {"uni", "use", "one"}) {
    if (word.starts_with(consonant)) return false;
  }
  for (std::string_view vowel : {"hour", "honest"}) {
    if (word.starts_with(vowel)) return true;
  }
  return !word.empty() && std::string_view("aeiouAEIOU").find(word.front()) != std::string_view::npos;
}

void capitalise(std::string& text) {
  if (text.empty()) return;
  if (text.front() >= 'a' && text.front() <= 'z') {
    text.front() = static_cast<char>(text.front() - 'a' + 'A');
  } else if (text.size() >= 2 && text[0] == '\xC3' && static_cast<unsigned char>(text[1]) >= 0xA0) {
    text[1] = static_cast<char>(text[1] - 0x20);  // ä ö ü: the capital lies 32 code points lower
  }
}

Words finish(Words words, std::string_view final_mark, int final_meaning) {
  words.push_back({std::string(final_mark), final_meaning, 0});
  Words kept;
  for (std::size_t i = 0; i < words.size(); ++i) {
    bool swallowed = words[i].text == "," && is_punctuation(words[i + 1].text);
    if (!swallowed) kept.push_back(std::move(words[i]));
  }
  capitalise(kept.front().text);
  return kept;
}

}  // namespace

Phrase expression(const Expression& source, Meanings& meanings) {
  std::array<int, 10> marks{};
  bool marked = source.german.find(':') != std::string::npos || source.english.find(':') != std::string::npos;
  int whole = marked ? 0 : meanings.fresh();
  if (marked) {
    for (std::size_t i = 1; i < marks.size(); ++i) marks[i] = meanings.fresh();
  }
  Phrase phrase;
  append_marked(phrase.german, source.german, marks, whole);
  append_marked(phrase.english, source.english, marks, whole);
  return phrase;
}

void append(Words& words, std::string_view text, int meaning, int also) {
  while (!text.empty()) {
    std::size_t blank = text.find(' ');
    if (blank != 0) words.push_back({std::string(text.substr(0, blank)), meaning, also});
    text.remove_prefix(blank == std::string_view::npos ? text.size() : blank + 1);
  }
}

void append(Words& words, const Words& tail) { words.insert(words.end(), tail.begin(), tail.end()); }

bool is_punctuation(std::string_view word) {
  return word.size() == 1 && std::string_view(".,?!:").find(word.front()) != std::string_view::npos;
}

Words finish_german(Words words, std::string_view final_mark, int final_meaning) {
  return finish(std::move(words), final_mark, final_meaning);
}

Words finish_english(Words words, std::string_view final_mark, int final_meaning) {
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (words[i].text == "a" && begins_with_vowel_sound(words[i + 1].text)) words[i].text = "an";
  }
  return finish(std::move(words), final_mark, final_meaning);
}

std::string join(const Words& words) {
  std::string sentence;
  for (const Word& word : words) {
    if (!sentence.empty() && !is_punctuation(word.text)) sentence += ' ';
    sentence += word.text;
  }
  return sentence;
}

}  // namespace heed::grammar
