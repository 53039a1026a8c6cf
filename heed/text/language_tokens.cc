#include "heed/text/language_tokens.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <span>

#include "heed/base/check.h"
#include "heed/text/bounded_vocabulary.h"
#include "heed/text/tokenizer/tokenizer.h"

namespace heed {
namespace {

constexpr std::string_view kAround = "__";  // of M2M-100's

bool is_small(char c) { return c >= 'a' && c <= 'z'; }
bool is_capital(char c) { return c >= 'A' && c <= 'Z'; }

bool is_language(std::string_view text) {
  return (text.size() == 2 || text.size() == 3) && std::ranges::all_of(text, is_small);
}
bool is_country(std::string_view text) { return text.size() == 2 && std::ranges::all_of(text, is_capital); }
bool is_script(std::string_view text) {
  return text.size() == 4 && is_capital(text[0]) && std::ranges::all_of(text.substr(1), is_small);
}

}  // namespace

bool is_language_token(std::string_view piece) {
  if (piece.size() > 2 * kAround.size() && piece.starts_with(kAround) && piece.ends_with(kAround)) {
    return is_language(piece.substr(kAround.size(), piece.size() - 2 * kAround.size()));
  }
  const std::size_t between = piece.find('_');
  if (between == std::string_view::npos) return false;
  const std::string_view behind = piece.substr(between + 1);
  return is_language(piece.substr(0, between)) && (is_country(behind) || is_script(behind));
}

std::vector<std::string> languages_of(const Vocabulary& vocabulary) {
  std::vector<std::string> languages;
  for (int id = 0; id < vocabulary.size(); ++id) {
    if (!vocabulary.is_special(id)) continue;
    if (std::string piece = vocabulary.piece(id); is_language_token(piece)) languages.push_back(std::move(piece));
  }
  return languages;
}

int language_id(const Vocabulary& vocabulary, std::string_view language) {
  for (const std::string& piece : {std::string(language), fmt::format("{0}{1}{0}", kAround, language)}) {
    const int id = vocabulary.id_of(piece);
    if (id >= 0 && vocabulary.is_special(id) && is_language_token(piece)) return id;
  }
  constexpr std::size_t kShown = 10;
  const std::vector<std::string> all = languages_of(vocabulary);
  HEED_CHECK(!all.empty(), "'{}' is no language of the model: its vocabulary has no tokens for languages", language);
  const std::span<const std::string> shown(all.data(), std::min(all.size(), kShown));
  fail("'{}' is none of the model's {} languages: {}{}", language, all.size(), fmt::join(shown, ", "),
       all.size() > kShown ? ", ..." : "");
}

std::shared_ptr<const Vocabulary> with_language(const Vocabulary& vocabulary, std::string_view language) {
  const int id = language_id(vocabulary, language);
  if (const auto* const bounded = dynamic_cast<const BoundedVocabulary*>(&vocabulary))
    return bounded_vocabulary(with_language(bounded->whole(), language), bounded->size());
  const auto* const tokenizer = dynamic_cast<const Tokenizer*>(&vocabulary);
  HEED_CHECK(tokenizer != nullptr, "a vocabulary of the kind {} has no template that could name a language",
             vocabulary.kind());
  return std::make_shared<const Tokenizer>(tokenizer->with_special_token(is_language_token, id));
}

}  // namespace heed
