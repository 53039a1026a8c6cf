#include "heed/text/tokenizer/unigram_model.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "heed/base/check.h"
#include "heed/base/printable.h"
#include "heed/base/utf8.h"

namespace heed {
namespace {

constexpr double kUnknownPenalty = 10;

PieceTable table_of(const std::vector<UnigramModel::Piece>& pieces) {
  HEED_CHECK(!pieces.empty(), "a unigram model has no pieces");
  PieceTable table;
  for (std::size_t id = 0; id < pieces.size(); ++id) {
    HEED_CHECK(std::isfinite(pieces[id].score), "the piece '{}' has the score {}", printable(pieces[id].text),
               pieces[id].score);
    table.add(pieces[id].text, static_cast<Index>(id));
  }
  return table;
}

}  // namespace

UnigramModel::UnigramModel(const std::vector<Piece>& pieces, int unknown, bool byte_fallback)
    : TokenModel(table_of(pieces), unknown), byte_fallback_(byte_fallback) {
  HEED_CHECK(unknown < std::ssize(pieces), "the unknown piece {} is not among the {}", unknown, pieces.size());
  double least = pieces[0].score;
  for (const Piece& piece : pieces) {
    scores_.push_back(piece.score);
    least = std::min(least, piece.score);
  }
  unknown_score_ = least - kUnknownPenalty;
  for (unsigned byte = 0; byte < byte_ids_.size(); ++byte) {
    byte_ids_[byte] = byte_fallback ? this->pieces().find(fmt::format("<0x{:02X}>", byte)) : -1;
  }
  build_trie();
}

void UnigramModel::build_trie() {
  std::vector<int> order;  // ids that pieces are found by, in the order of their bytes
  for (int id = 0; id < pieces().size(); ++id) {
    if (!pieces().piece(id).empty() && pieces().find(pieces().piece(id)) == id) order.push_back(id);
  }
  std::ranges::sort(order, {}, [&](int id) -> const std::string& { return pieces().piece(id); });
  // Level by level: a node is the range of the order that shares its first bytes.
  struct Range {
    std::size_t node, begin, end, depth;
  };
  trie_.push_back({});
  std::vector<Range> level{{0, 0, order.size(), 0}};
  for (std::size_t next = 0; next < level.size(); ++next) {
    auto [node, begin, end, depth] = level[next];
    const auto text = [&](std::size_t at) -> const std::string& { return pieces().piece(order[at]); };
    if (begin < end && text(begin).size() == depth) trie_[node].id = order[begin++];
    trie_[node].children = static_cast<std::uint32_t>(trie_.size());
    while (begin < end) {
      const char byte = text(begin)[depth];
      std::size_t behind = begin;
      while (behind < end && text(behind)[depth] == byte) ++behind;
      level.push_back({trie_.size(), begin, behind, depth + 1});
      trie_.push_back({.byte = static_cast<std::uint8_t>(byte)});
      ++trie_[node].child_count;
      begin = behind;
    }
  }
}

const UnigramModel::Node* UnigramModel::child(const Node& node, char byte) const {
  const auto wanted = static_cast<std::uint8_t>(byte);
  const Node* begin = trie_.data() + node.children;
  const Node* end = begin + node.child_count;
  const Node* found = std::lower_bound(begin, end, wanted, [](const Node& a, std::uint8_t b) { return a.byte < b; });
  return found != end && found->byte == wanted ? found : nullptr;
}

void UnigramModel::tokenize(std::string_view word, std::vector<int>& ids) const {
  struct Best {
    double score = 0;
    std::size_t begin = std::numeric_limits<std::size_t>::max();  // of the last piece; this, where no way leads here
    int id = -1;
  };
  constexpr std::size_t kNowhere = std::numeric_limits<std::size_t>::max();
  std::vector<Best> best(word.size() + 1);  // of the ways that end at each byte
  for (std::size_t begin = 0; begin < word.size();) {
    const double score = best[begin].score;
    const std::size_t length = std::min(utf8_length(word[begin]), word.size() - begin);
    bool has_single = false;
    const auto consider = [&](std::size_t end, double with_it, int id) {
      if (best[end].begin == kNowhere || with_it > best[end].score) best[end] = {with_it, begin, id};
    };
    const Node* node = trie_.data();
    for (std::size_t end = begin; end < word.size() && (node = child(*node, word[end])) != nullptr;) {
      ++end;
      if (node->id < 0) continue;
      consider(end, scores_[static_cast<std::size_t>(node->id)] + score, node->id);
      has_single = has_single || end - begin == length;
    }
    if (!has_single) {
      HEED_CHECK(unknown() >= 0, "encode: '{}' has no piece, and the vocabulary no unknown token",
                 printable(word.substr(begin, length)));
      consider(begin + length, unknown_score_ + score, unknown());
    }
    begin += length;
  }
  std::vector<std::size_t> ends;
  for (std::size_t end = word.size(); end > 0; end = best[end].begin) ends.push_back(end);
  std::size_t run_begin = kNowhere;  // of a run of unknown characters
  for (std::size_t i = ends.size(); i-- > 0;) {
    const Best& piece = best[ends[i]];
    if (piece.id == unknown()) {
      if (run_begin == kNowhere) run_begin = piece.begin;
      continue;
    }
    if (run_begin != kNowhere) add_unknown(word.substr(run_begin, piece.begin - run_begin), ids);
    run_begin = kNowhere;
    ids.push_back(piece.id);
  }
  if (run_begin != kNowhere) add_unknown(word.substr(run_begin), ids);
}

void UnigramModel::add_unknown(std::string_view run, std::vector<int>& ids) const {
  const auto id = [&](char byte) { return byte_ids_[static_cast<unsigned char>(byte)]; };
  if (const int piece = pieces().find(run); piece >= 0) {  // a run may spell a piece that does not win alone
    ids.push_back(piece);
  } else if (byte_fallback_ && std::ranges::all_of(run, [&](char byte) { return id(byte) >= 0; })) {
    for (const char byte : run) ids.push_back(id(byte));
  } else {
    ids.push_back(unknown());
  }
}

}  // namespace heed
