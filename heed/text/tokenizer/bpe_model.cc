#include "heed/text/tokenizer/bpe_model.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <queue>

#include "heed/base/check.h"
#include "heed/base/printable.h"
#include "heed/unicode/unicode.h"

namespace heed {
namespace {

constexpr std::size_t kIndexedCharacters = 0x10000;
constexpr std::size_t kFew = 48;  // symbols up to which looking at all pairs is faster than a queue of them
constexpr char kIsWhole = 1, kIsNot = 2;

std::size_t length_of_first(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  return lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
}

// Files name tokens that their vocabularies lack, and need them for no text.
int unknown_id(const PieceTable& pieces, const BpeOptions& options) {
  return options.unknown.empty() ? -1 : pieces.find(options.unknown);
}

}  // namespace

BpeModel::BpeModel(PieceTable&& pieces, MergeTable merges, BpeOptions options)
    : TokenModel(std::move(pieces), unknown_id(pieces, options)),
      merges_(std::move(merges)),
      options_(std::move(options)),
      decorated_(!options_.word_prefix.empty() || !options_.word_suffix.empty()),
      whole_(new std::atomic<char>[static_cast<std::size_t>(this->pieces().size())]()) {
  index_characters();
  if (options_.long_words && !decorated_) find_joints();
}

std::unique_ptr<const BpeModel> BpeModel::with_merges(PieceTable pieces,
                                                      const std::vector<std::pair<std::string, std::string>>& merges,
                                                      BpeOptions options) {
  MergeTable table(merges.size());
  int rank = 0;
  for (const auto& [left, right] : merges) {
    const int a = pieces.find(left), b = pieces.find(right);
    HEED_CHECK(a >= 0 && b >= 0, "merge {}: '{}' is not in the vocabulary", rank + 1, printable(a < 0 ? left : right));
    const std::size_t repeated = std::min(options.word_prefix.size(), right.size());
    const std::string both = left + right.substr(repeated);
    const int together = pieces.find(both);
    HEED_CHECK(together >= 0, "merge {}: '{}' is not in the vocabulary", rank + 1, printable(both));
    table.set(a, b, {rank++, together});
  }
  return std::unique_ptr<const BpeModel>(new BpeModel(std::move(pieces), std::move(table), std::move(options)));
}

std::unique_ptr<const BpeModel> BpeModel::with_scores(PieceTable pieces, const std::vector<float>& scores,
                                                      const std::vector<bool>& mergeable, BpeOptions options) {
  std::vector<float> ranked = scores;
  std::ranges::sort(ranked, std::greater<>{});
  ranked.erase(std::unique(ranked.begin(), ranked.end()), ranked.end());
  const auto rank_of = [&](int id) {
    const auto at = std::ranges::lower_bound(ranked, scores[static_cast<std::size_t>(id)], std::greater<>{});
    return static_cast<int>(at - ranked.begin());
  };
  struct Pair {
    int left, right;
    MergeTable::Merge merge;
  };
  std::vector<Pair> pairs;
  for (int id = 0; id < pieces.size(); ++id) {
    const std::string_view piece = pieces.piece(id);
    if (!mergeable[static_cast<std::size_t>(id)] || piece.empty() || pieces.find(piece) != id) continue;
    for (std::size_t cut = length_of_first(piece); cut < piece.size(); cut += length_of_first(piece.substr(cut))) {
      const int left = pieces.find(piece.substr(0, cut)), right = pieces.find(piece.substr(cut));
      if (left < 0 || right < 0) continue;
      if (!mergeable[static_cast<std::size_t>(left)] || !mergeable[static_cast<std::size_t>(right)]) continue;
      pairs.push_back({left, right, {rank_of(id), id}});
    }
  }
  MergeTable table(pairs.size());
  for (const Pair& pair : pairs) table.set(pair.left, pair.right, pair.merge);
  return std::unique_ptr<const BpeModel>(new BpeModel(std::move(pieces), std::move(table), std::move(options)));
}

void BpeModel::index_characters() {
  character_ids_.assign(kIndexedCharacters, -1);
  for (int id = 0; id < pieces().size(); ++id) {
    const std::string_view piece = pieces().piece(id);
    if (piece.empty() || length_of_first(piece) != piece.size()) continue;
    for_each_code_point(piece, [&](char32_t c, std::string_view) {
      if (c < kIndexedCharacters) character_ids_[c] = pieces().find(piece);
    });
  }
  for (unsigned byte = 0; byte < byte_ids_.size(); ++byte) {
    byte_ids_[byte] = options_.byte_fallback ? pieces().find(fmt::format("<0x{:02X}>", byte)) : -1;
  }
}

// A symbol of a split word is a character's piece (or a byte's, or the unknown one), and a merge joins two neighbours
// of these: the last symbol of its left part and the first of its right part. What no merge has at its seam is never
// joined.
void BpeModel::find_joints() {
  struct Pair {
    int left, right, together;
  };
  std::vector<Pair> pairs;
  merges_.for_each([&](int left, int right, MergeTable::Merge merge) { pairs.push_back({left, right, merge.id}); });
  const auto length = [&](const Pair& pair) { return pieces().piece(pair.together).size(); };
  std::ranges::sort(pairs, {}, length);  // parts are shorter than what is made of them
  const auto count = static_cast<std::size_t>(pieces().size());
  std::vector<int> first(count, -1), last(count, -1);
  const auto end_of = [](const std::vector<int>& ends, int id) {
    return ends[static_cast<std::size_t>(id)] < 0 ? id : ends[static_cast<std::size_t>(id)];
  };
  MergeTable joints(4 * pairs.size());
  for (const auto& [left, right, together] : pairs) {
    int& begins = first[static_cast<std::size_t>(together)];
    int& ends = last[static_cast<std::size_t>(together)];
    const int begin = end_of(first, left), end = end_of(last, right);
    if ((begins >= 0 && begins != begin) || (ends >= 0 && ends != end)) return;  // cannot be told: words stay whole
    begins = begin;
    ends = end;
    for (const int a : {left, end_of(last, left)}) {
      for (const int b : {right, end_of(first, right)}) joints.set(a, b, {0, 0});
    }
  }
  joints_ = std::move(joints);
}

int BpeModel::id_of_character(std::string_view character) const {
  if (decorated_ || character.size() > 3) return pieces().find(character);
  int id = -1;
  for_each_code_point(character, [&](char32_t c, std::string_view) { id = character_ids_[c]; });
  return id;
}

// Adds the pieces of the bytes; false where one of them has none.
bool BpeModel::bytes_of(std::string_view character, std::vector<int>& symbols) const {
  const auto id = [&](char byte) { return byte_ids_[static_cast<unsigned char>(byte)]; };
  if (!std::ranges::all_of(character, [&](char byte) { return id(byte) >= 0; })) return false;
  for (const char byte : character) symbols.push_back(id(byte));
  return true;
}

void BpeModel::tokenize(std::string_view word, std::vector<int>& ids) const {
  if (options_.ignore_merges) {
    if (const int id = pieces().find(word); id >= 0) {
      ids.push_back(id);
      return;
    }
  }
  std::vector<int> symbols;
  symbols.reserve(std::min<std::size_t>(word.size(), 64));
  std::size_t begin = 0;       // of the part of the word that the symbols are of
  bool unknown_waits = false;  // Hugging Face's order: it follows the bytes that come after it
  const auto add = [&](int symbol, std::size_t at) {
    if (joints_ && !symbols.empty() && !unknown_waits && joints_->find(symbols.back(), symbol).id < 0) {
      merge(word.substr(begin, at - begin), symbols, ids);
      begin = at;
    }
    symbols.push_back(symbol);
  };
  for (std::size_t at = 0; at < word.size();) {
    std::string_view character = word.substr(at, length_of_first(word.substr(at)));
    const std::size_t end = at + character.size();
    std::string decorated;
    if (decorated_) {
      decorated = at == 0 ? "" : options_.word_prefix;
      decorated += character;
      if (end == word.size()) decorated += options_.word_suffix;
      character = decorated;
    }
    const int id = id_of_character(character);
    if (id >= 0) {
      if (unknown_waits) symbols.push_back(unknown());
      unknown_waits = false;
      add(id, at);
    } else if (!bytes_of(character, symbols) && !options_.unknown.empty()) {
      HEED_CHECK(unknown() >= 0, "encode: '{}' has no piece, and the unknown token '{}' is not in the vocabulary",
                 printable(character), printable(options_.unknown));
      if (unknown_waits && !options_.fuse_unknown) symbols.push_back(unknown());
      unknown_waits = true;
    }
    at = end;
  }
  if (unknown_waits) symbols.push_back(unknown());
  if (!symbols.empty()) merge(word.substr(begin), symbols, ids);
}

// Appends what the symbols, which are of this part of a word, are merged to, and empties them.
void BpeModel::merge(std::string_view word, std::vector<int>& symbols, std::vector<int>& ids) const {
  if (symbols.size() == 1) {
    ids.push_back(symbols[0]);
    symbols.clear();
    return;
  }
  const int piece = decorated_ ? -1 : pieces().find(word);
  std::atomic<char>* whole = piece < 0 ? nullptr : &whole_[static_cast<std::size_t>(piece)];
  if (whole != nullptr && whole->load(std::memory_order_relaxed) == kIsWhole) {
    ids.push_back(piece);
    symbols.clear();
    return;
  }
  const std::size_t before = ids.size();
  if (symbols.size() <= kFew) {
    merge_few(symbols, ids);
  } else {
    merge_many(symbols, ids);
  }
  symbols.clear();
  if (whole != nullptr) {
    const bool is_whole = ids.size() == before + 1 && ids.back() == piece;
    whole->store(is_whole ? kIsWhole : kIsNot, std::memory_order_relaxed);
  }
}

void BpeModel::merge_few(std::span<int> symbols, std::vector<int>& ids) const {
  constexpr int kNever = std::numeric_limits<int>::max();
  std::array<int, kFew> ranks, together;
  std::size_t count = symbols.size();
  const auto look_up = [&](std::size_t at) {
    const MergeTable::Merge merge = merges_.find(symbols[at], symbols[at + 1]);
    ranks[at] = merge.id < 0 ? kNever : merge.rank;
    together[at] = merge.id;
  };
  for (std::size_t at = 0; at + 1 < count; ++at) look_up(at);
  while (count > 1) {
    const std::size_t best =
        static_cast<std::size_t>(std::min_element(ranks.begin(), ranks.begin() + count - 1) - ranks.begin());
    if (ranks[best] == kNever) break;
    symbols[best] = together[best];
    --count;
    for (std::size_t at = best + 1; at < count; ++at) symbols[at] = symbols[at + 1];
    for (std::size_t at = best + 1; at + 1 < count; ++at) {
      ranks[at] = ranks[at + 1];
      together[at] = together[at + 1];
    }
    if (best > 0) look_up(best - 1);
    if (best + 1 < count) look_up(best);
  }
  ids.insert(ids.end(), symbols.begin(), symbols.begin() + static_cast<std::ptrdiff_t>(count));
}

void BpeModel::merge_many(std::span<const int> symbols, std::vector<int>& ids) const {
  constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
  struct Link {
    int id;  // -1: merged into the one before it
    std::size_t before, after;
  };
  struct Candidate {
    int rank, id;
    std::size_t at;
    // std::priority_queue has the largest first: the lowest rank is that, and then the leftmost.
    bool operator<(const Candidate& other) const { return rank != other.rank ? rank > other.rank : at > other.at; }
  };
  std::vector<Link> links;
  links.reserve(symbols.size());
  for (std::size_t at = 0; at < symbols.size(); ++at) {
    links.push_back({symbols[at], at == 0 ? kNone : at - 1, at + 1 == symbols.size() ? kNone : at + 1});
  }
  std::priority_queue<Candidate> queue;
  const auto look_up = [&](std::size_t at) {
    const MergeTable::Merge merge = merges_.find(links[at].id, links[links[at].after].id);
    if (merge.id >= 0) queue.push({merge.rank, merge.id, at});
  };
  for (std::size_t at = 0; at + 1 < links.size(); ++at) look_up(at);
  while (!queue.empty()) {
    const Candidate best = queue.top();
    queue.pop();
    Link& left = links[best.at];
    if (left.id < 0 || left.after == kNone) continue;
    Link& right = links[left.after];
    const MergeTable::Merge merge = merges_.find(left.id, right.id);
    if (merge.id != best.id || merge.rank != best.rank) continue;  // what stood there has changed since
    left.id = merge.id;
    right.id = -1;
    left.after = right.after;
    if (left.after != kNone) links[left.after].before = best.at;
    if (left.before != kNone) look_up(left.before);
    if (left.after != kNone) look_up(best.at);
  }
  for (std::size_t at = 0; at != kNone; at = links[at].after) ids.push_back(links[at].id);
}

}  // namespace heed
