#include "heed/text/tokenizer/added_tokens.h"

#include <algorithm>

#include "heed/base/check.h"
#include "heed/base/printable.h"
#include "heed/text/tokenizer/json_fields.h"
#include "heed/text/tokenizer/library_unicode.h"
#include "heed/unicode/unicode.h"

namespace heed {
namespace {

// The bytes of the character that begins at `at`, or that ends there.
std::size_t character_end(std::string_view text, std::size_t at) {
  do {
    ++at;
  } while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80);
  return at;
}
std::size_t character_begin(std::string_view text, std::size_t end) {
  do {
    --end;
  } while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80);
  return end;
}

char32_t character(std::string_view bytes) {
  char32_t found = 0;
  for_each_code_point(bytes, [&](char32_t c, std::string_view) { found = c; });
  return found;
}
char32_t character_before(std::string_view text, std::size_t at) {
  const std::size_t begin = character_begin(text, at);
  return character(text.substr(begin, at - begin));
}
char32_t character_at(std::string_view text, std::size_t at) {
  return character(text.substr(at, character_end(text, at) - at));
}

// Enough of a text to see what a normaliser makes of its first character.
std::string_view beginning(std::string_view text) {
  constexpr std::size_t kEnough = 256;
  return text.size() <= kEnough ? text : text.substr(0, character_begin(text, kEnough));
}

}  // namespace

AddedToken read_added_token(const Json& json) {
  const bool special = flag_or(json, "special", false);
  return {.content = json["content"].string(),
          .special = special,
          .single_word = flag_or(json, "single_word", false),
          .lstrip = flag_or(json, "lstrip", false),
          .rstrip = flag_or(json, "rstrip", false),
          .normalized = flag_or(json, "normalized", !special)};
}

std::uint32_t AddedTokens::Trie::child(std::uint32_t node, char byte) const {
  std::uint32_t child = nodes_[node].first_child;
  while (child != 0 && nodes_[child].byte != byte) child = nodes_[child].next_sibling;
  return child;
}

void AddedTokens::Trie::add(std::string_view text, int id) {
  if (text.empty()) return;
  starts_[static_cast<unsigned char>(text[0])] = true;
  std::uint32_t node = 0;
  for (const char byte : text) {
    std::uint32_t next = child(node, byte);
    if (next == 0) {
      next = static_cast<std::uint32_t>(nodes_.size());
      nodes_.push_back({.next_sibling = nodes_[node].first_child, .byte = byte});
      nodes_[node].first_child = next;
    }
    node = next;
  }
  if (nodes_[node].id < 0) nodes_[node].id = id;
}

std::size_t AddedTokens::Trie::longest(std::string_view text, int& id) const {
  std::size_t length = 0;
  std::uint32_t node = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    node = child(node, text[at]);
    if (node == 0) break;
    if (nodes_[node].id < 0) continue;
    id = nodes_[node].id;
    length = at + 1;
  }
  return length;
}

std::size_t AddedTokens::Trie::next_start(std::string_view text, std::size_t from) const {
  while (from < text.size() && !starts_[static_cast<unsigned char>(text[from])]) ++from;
  return from;
}

void AddedTokens::add(const AddedToken& token, const PieceTable& pieces) {
  HEED_CHECK(token.content.size() <= kLongest, "the added token '{}' has {} bytes, over {}", printable(token.content),
             token.content.size(), kLongest);
  if (token.content.empty()) return;
  bytes_ += token.content.size();
  HEED_CHECK(bytes_ <= kMostBytes, "the added tokens have more than {} bytes", kMostBytes);
  if (!token.special) {
    plain_tokens_.push_back(token);
  } else if (special_.insert(token.content).second) {
    special_tokens_.push_back(token);
  }
  int id = find(token.content);
  if (id < 0) id = pieces.find(token.content);
  if (id < 0) id = static_cast<int>(pieces.count() + new_tokens_++);
  HEED_CHECK(id < PieceTable::kMostPieces, "there are more than {} tokens", PieceTable::kMostPieces);
  ids_[token.content] = id;
  by_id_.insert_or_assign(id, token);
  largest_id_ = std::max(largest_id_, id);
}

void AddedTokens::finish(const Normaliser* normaliser) {
  const auto look_for = [&](const AddedToken& token) {
    if (!token.normalized) {
      plain_.add(token.content, find(token.content));
    } else {
      normalised_.add(normaliser == nullptr ? token.content : normaliser->normalise(token.content),
                      find(token.content));
    }
  };
  for (const AddedToken& token : special_tokens_) look_for(token);
  for (const AddedToken& token : plain_tokens_) {  // of two that are spelled alike, the special one counts
    if (!is_special(token.content)) look_for(token);
  }
}

void AddedTokens::split(std::string_view text, const Normaliser* normaliser, const Use& use) const {
  find_in(plain_, {text, true}, [&](Word word, int id) {
    if (id >= 0) {
      use(word, id);
      return;
    }
    std::string normalised;
    if (normaliser != nullptr) {
      normalised = normaliser->normalise(word.text);
      word.first = word.first && !normaliser->loses_first(beginning(word.text));
      word.text = normalised;
    }
    find_in(normalised_, word, use);
  });
}

void AddedTokens::find_in(const Trie& trie, Word text, const Use& use) const {
  const std::string_view all = text.text;
  const auto tell = [&](std::size_t begin, std::size_t end, int id) {
    use({all.substr(begin, end - begin), text.first && begin == 0}, id);
  };
  std::size_t told = 0;
  for (std::size_t at = trie.next_start(all, 0); at < all.size(); at = trie.next_start(all, at)) {
    int id = -1;
    const std::size_t length = trie.longest(all.substr(at), id);
    if (length == 0) {
      ++at;
      continue;
    }
    std::size_t begin = at, end = at + length;
    at = end;
    const AddedToken& token = by_id_.at(id);
    if (token.single_word) {
      const bool word_before = begin > 0 && is_library_word_character(character_before(all, begin));
      const bool word_behind = end < all.size() && is_library_word_character(character_at(all, end));
      if (word_before || word_behind) continue;
    }
    if (token.lstrip) {
      while (begin > told && is_white_space(character_before(all, begin))) begin = character_begin(all, begin);
      begin = std::max(begin, told);
    }
    if (token.rstrip) {
      end = std::max(end, told);  // what was told beyond this token is space that was stripped
      while (end < all.size() && is_white_space(character_at(all, end))) end = character_end(all, end);
    }
    if (told < begin) tell(told, begin, -1);
    if (begin < end) tell(begin, end, id);  // nothing is left of a space that the token before took along
    told = end;
  }
  if (told < all.size()) tell(told, all.size(), -1);
}

int AddedTokens::find(std::string_view content) const {
  const auto found = ids_.find(std::string(content));
  return found == ids_.end() ? -1 : found->second;
}

const AddedToken* AddedTokens::token(int id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : &found->second;
}

std::vector<int> AddedTokens::special_ids() const {
  std::vector<int> ids;
  for (const std::string& content : special_) ids.push_back(find(content));
  return ids;
}

bool AddedTokens::is_special(std::string_view content) const { return special_.contains(std::string(content)); }

}  // namespace heed
