#include "heed/text/whitespace_vocabulary.h"

#include <algorithm>
#include <array>

#include "heed/base/check.h"
#include "heed/base/control_characters.h"
#include "heed/base/file.h"
#include "heed/base/file_writer.h"
#include "heed/base/printable.h"
#include "heed/base/text_lines.h"
#include "heed/base/utf8.h"

namespace heed {
namespace {

constexpr std::array<std::string_view, 4> kFirstTokens = {"<pad>", "<unk>", "<s>", "</s>"};
constexpr std::string_view kSpaces = " \t\n\v\f\r";
constexpr std::string_view kJoin = "@@";

// Calls use(token) for every token of the line.
template <typename Use>
void for_each_token(std::string_view line, const Use& use) {
  std::size_t begin = line.find_first_not_of(kSpaces);
  while (begin != std::string_view::npos) {
    const std::size_t end = std::min(line.find_first_of(kSpaces, begin), line.size());
    use(line.substr(begin, end - begin));
    begin = line.find_first_not_of(kSpaces, end);
  }
}

}  // namespace

WhitespaceVocabulary::WhitespaceVocabulary() : Vocabulary(kOwnSymbols) {
  for (const std::string_view symbol : kFirstTokens) add(std::string(symbol));
}

bool WhitespaceVocabulary::add(std::string token) {
  const bool fresh = ids_.emplace(token, static_cast<int>(tokens_.size())).second;
  if (fresh) tokens_.push_back(std::move(token));
  return fresh;
}

WhitespaceVocabulary WhitespaceVocabulary::build(std::span<const std::string> lines, const WhitespaceOptions& options) {
  constexpr Index kSymbolCount = static_cast<Index>(kFirstTokens.size());
  HEED_CHECK(options.min_frequency >= 1, "WhitespaceVocabulary::build: min_frequency must be at least 1, not {}",
             options.min_frequency);
  HEED_CHECK(options.max_size == 0 || options.max_size > kSymbolCount,
             "WhitespaceVocabulary::build: max_size must be 0 (no limit) or more than the {} symbols, not {}",
             kSymbolCount, options.max_size);
  std::unordered_map<std::string, Index, TokenHash, std::equal_to<>> counts;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    HEED_CHECK(valid_utf8(lines[i]), "WhitespaceVocabulary::build: line {} is not valid UTF-8", i + 1);
    for_each_token(lines[i], [&](std::string_view token) {
      const auto found = counts.find(token);
      if (found != counts.end()) {
        ++found->second;
      } else {
        counts.emplace(token, 1);
      }
    });
  }
  std::vector<std::pair<std::string, Index>> ranked;
  for (const auto& [token, count] : counts) {
    const bool is_symbol = std::find(kFirstTokens.begin(), kFirstTokens.end(), token) != kFirstTokens.end();
    if (count >= options.min_frequency && !is_symbol && !has_control_character(token))
      ranked.emplace_back(token, count);
  }
  HEED_CHECK(!ranked.empty(),
             "WhitespaceVocabulary::build: none of the {} lines holds a token that occurs {} times or more",
             lines.size(), options.min_frequency);
  std::sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  WhitespaceVocabulary vocabulary;
  for (auto& [token, count] : ranked) {
    if (options.max_size != 0 && vocabulary.size() == options.max_size) break;
    vocabulary.add(std::move(token));
  }
  return vocabulary;
}

WhitespaceVocabulary WhitespaceVocabulary::load(const std::filesystem::path& path) {
  std::vector<std::string> lines = split_text_lines(read_file(path), path.string());
  for (std::size_t i = 0; i < kFirstTokens.size(); ++i) {
    HEED_CHECK(i < lines.size(),
               "{}: a vocabulary must begin with the four lines <pad>, <unk>, <s>, </s>, but holds {}", path.string(),
               lines.size());
    HEED_CHECK(lines[i] == kFirstTokens[i], "{}:{}: this line of a vocabulary must be {}, not {}", path.string(), i + 1,
               kFirstTokens[i], printable(lines[i]));
  }
  HEED_CHECK(lines.size() > kFirstTokens.size(), "{}: the vocabulary holds no token", path.string());
  WhitespaceVocabulary vocabulary;
  for (std::size_t i = kFirstTokens.size(); i < lines.size(); ++i) {
    const std::string& token = lines[i];
    HEED_CHECK(!token.empty(), "{}:{}: the line is empty", path.string(), i + 1);
    HEED_CHECK(token.find_first_of(kSpaces) == std::string::npos, "{}:{}: the token holds white space: '{}'",
               path.string(), i + 1, printable(token));
    HEED_CHECK(!has_control_character(token), "{}:{}: the token holds a control character: '{}'", path.string(), i + 1,
               printable(token));
    const auto first = vocabulary.ids_.find(token);
    HEED_CHECK(first == vocabulary.ids_.end(), "{}:{}: '{}' is on line {} already", path.string(), i + 1,
               printable(token), first->second + 1);
    vocabulary.add(std::move(lines[i]));
  }
  return vocabulary;
}

std::filesystem::path WhitespaceVocabulary::path_in(const std::filesystem::path& folder, std::string_view stem) {
  return folder / fmt::format("{}.vocab.txt", stem);
}

std::vector<int> WhitespaceVocabulary::encode(std::string_view sentence) const {
  std::vector<int> ids;
  for_each_token(sentence, [&](std::string_view token) {
    const auto found = ids_.find(token);
    const bool known = found != ids_.end() && !is_special(found->second);
    ids.push_back(known ? found->second : unknown());
  });
  return ids;
}

std::string WhitespaceVocabulary::text_of(std::span<const int> ids, Specials specials) const {
  std::string sentence;
  for (const int id : ids) {
    check_id(id, "WhitespaceVocabulary::decode");
    if (specials == Specials::keep || !is_special(id)) sentence += surface(id);
  }
  if (sentence.ends_with(' ')) sentence.pop_back();
  return sentence;
}

std::string WhitespaceVocabulary::piece(int id) const {
  check_id(id, "WhitespaceVocabulary::piece");
  return tokens_[id];
}

int WhitespaceVocabulary::id_of(std::string_view piece) const {
  const auto found = ids_.find(piece);
  return found == ids_.end() ? -1 : found->second;
}

void WhitespaceVocabulary::save(const std::filesystem::path& folder, std::string_view stem) const {
  make_folder(folder);
  std::string text;
  for (const std::string& token : tokens_) text += token + '\n';
  write_file(path_in(folder, stem), text);
}

std::string WhitespaceVocabulary::surface(int id) const {
  const std::string& token = tokens_[id];
  return token.ends_with(kJoin) ? token.substr(0, token.size() - kJoin.size()) : token + ' ';
}

}  // namespace heed
