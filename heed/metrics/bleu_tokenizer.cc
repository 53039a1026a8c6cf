#include "heed/metrics/bleu_tokenizer.h"

#include <utility>

#include "heed/base/check.h"
#include "heed/metrics/rewriting.h"
#include "heed/unicode/unicode.h"

namespace heed {
namespace {

constexpr std::pair<BleuTokenizer, std::string_view> kTokenizerNames[] = {
    {BleuTokenizer::none, "none"},
    {BleuTokenizer::v13a, "13a"},
    {BleuTokenizer::intl, "intl"},
    {BleuTokenizer::character, "char"},
};

std::u32string separate_13a(std::u32string_view line) {
  std::u32string text = replace_all(std::u32string(line), U"<skipped>", U"");
  text = replace_all(std::move(text), U"-\n", U"");
  text = replace_all(std::move(text), U"\n", U" ");
  text = U" " + replace_entities(std::move(text)) + U" ";
  return separate_western_numbers(surround_with_spaces(text, is_separate_ascii));
}

std::u32string separate_intl(std::u32string_view line) {
  const auto not_number = [](char32_t c) { return !is_number(c); };
  std::u32string text = set_off_second(line, not_number, is_punctuation);
  // Unlike 13a, no space is put at the ends first: a period after a number that ends the line stays with it.
  text = set_off_first(text, is_punctuation, not_number);
  return surround_with_spaces(text, is_symbol);
}

}  // namespace

std::string_view bleu_tokenizer_name(BleuTokenizer tokenizer) {
  for (const auto& [value, name] : kTokenizerNames) {
    if (value == tokenizer) return name;
  }
  fail("bleu_tokenizer_name: there is no BLEU tokenizer {}", static_cast<int>(tokenizer));
}

BleuTokenizer parse_bleu_tokenizer(std::string_view name) {
  for (const auto& [value, known] : kTokenizerNames) {
    if (known == name) return value;
  }
  fail("parse_bleu_tokenizer: '{}' is none of none, 13a, intl, char", name);
}

std::vector<std::u32string> bleu_tokens(std::u32string_view line, BleuTokenizer tokenizer) {
  switch (tokenizer) {
    case BleuTokenizer::v13a:
      return split_words(separate_13a(line));
    case BleuTokenizer::intl:
      return split_words(separate_intl(line));
    case BleuTokenizer::character:
      return split_words(surround_with_spaces(line, [](char32_t) { return true; }));
    case BleuTokenizer::none:
      break;
  }
  return split_words(line);
}

std::string bleu_tokenize(std::string_view line, BleuTokenizer tokenizer) {
  std::u32string joined;
  for (const std::u32string& token : bleu_tokens(decode_utf8(line, "bleu_tokenize"), tokenizer)) {
    if (!joined.empty()) joined += U' ';
    joined += token;
  }
  return encode_utf8(joined);
}

}  // namespace heed
