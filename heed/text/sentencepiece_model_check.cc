#include "heed/text/sentencepiece_model_check.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "heed/base/check.h"
#include "heed/base/control_characters.h"
#include "heed/base/printable.h"
#include "heed/base/utf8.h"
#include "heed/text/sentencepiece_fields.h"

namespace heed {
namespace {

// message SentencePiece { string piece = 1; float score = 2; Type type = 3; }
// Adds the piece to `user_defined` where it is that.
void check_piece(std::string_view bytes, std::string_view name, SentencePieceRules rules,
                 std::vector<std::string_view>& user_defined) {
  constexpr std::uint64_t kLastType = 6, kUserDefined = 4;
  // Far over any score of a trained model, far under what could overflow when a sentence's scores are added.
  constexpr float kLargestScore = 1e9F;
  std::string_view piece;
  std::uint64_t type = 1;
  for (SentencePieceMessage reader(bytes, name); !reader.done();) {
    const SentencePieceField field = reader.next();
    if (field.number == 1) {
      field.expect(WireType::bytes, "piece", name);
      piece = field.bytes;
    } else if (field.number == 2) {
      field.expect(WireType::fixed32, "score", name);
      const float score = field.number32();
      HEED_CHECK(std::abs(score) <= kLargestScore, "{}: the score of a piece is {}", name, score);
    } else if (field.number == 3) {
      field.expect(WireType::varint, "piece type", name);
      type = field.value;
      HEED_CHECK(type >= 1 && type <= kLastType, "{}: a piece has the unknown type {}", name, type);
    }
  }
  HEED_CHECK(!piece.empty(), "{}: a piece is empty", name);
  HEED_CHECK(valid_utf8(piece) && piece.find('\0') == std::string_view::npos, "{}: a piece is not valid UTF-8", name);
  HEED_CHECK(rules == SentencePieceRules::library || !has_control_character(piece),
             "{}: a piece holds a control character: '{}'", name, printable(piece));
  if (type == kUserDefined) user_defined.push_back(piece);
}

// The library has room for 64 user-defined pieces that start at one byte, and does not check it: that is how many may
// begin with one another, as runs of spaces of every length do.
void check_user_defined(std::vector<std::string_view> pieces, std::string_view name) {
  constexpr std::size_t kMostMatches = 64;
  std::ranges::sort(pieces);
  std::vector<std::string_view> beginnings;  // of the piece at hand, each of the next, and the piece itself
  for (const std::string_view piece : pieces) {
    while (!beginnings.empty() && !piece.starts_with(beginnings.back())) beginnings.pop_back();
    beginnings.push_back(piece);
    HEED_CHECK(beginnings.size() <= kMostMatches, "{}: {} user-defined pieces or more begin with one another, over {}",
               name, beginnings.size(), kMostMatches);
  }
}

// The units of a double-array trie in the layout of Darts-clone. A unit is 32 bits: its byte label (bits 0-7 and, set
// in a leaf, bit 31), whether a leaf hangs on it (bit 8), and the offset to its children (bits 10-30, times 256 where
// bit 9 is set). The child of the unit at i for byte c is at (i ^ offset) ^ c; the leaf is at i ^ offset and holds a
// value in bits 0-30.
class TrieCheck {
 public:
  // There is a unit.
  TrieCheck(std::string_view units, std::string_view strings, std::string_view name)
      : units_(units.size() / sizeof(std::uint32_t)),
        strings_(strings),
        name_(name),
        longest_(units_.size(), kNotSeen),
        first_child_(units_.size(), kNone),
        next_child_(units_.size(), kNone) {
    std::memcpy(units_.data(), units.data(), units_.size() * sizeof(std::uint32_t));
    // A unit names its parent's children by its own place and label: none is searched for.
    for (std::uint32_t at = 0; at < units_.size(); ++at) {
      const std::uint32_t children = at ^ label(units_[at]);
      if (children < units_.size()) next_child_[at] = std::exchange(first_child_[children], at);
    }
  }

  void run() { most_matches(0, 0); }

 private:
  static constexpr int kNotSeen = -1, kOpen = -2;
  static constexpr std::uint32_t kNone = 0xFFFFFFFFU;
  static constexpr int kMostMatches = 32;  // the room that the library has for the matches at one position
  static constexpr int kLongestKey = 512;  // bytes; the longest in the library's own tables is far shorter

  static std::uint32_t label(std::uint32_t unit) { return unit & 0x800000FFU; }
  static bool has_leaf(std::uint32_t unit) { return (unit >> 8 & 1U) != 0; }
  static std::uint32_t offset(std::uint32_t unit) { return (unit >> 10) << ((unit & 0x200U) >> 6); }

  // Returns the largest number of leaves on a path below the unit. Suffixes may be shared, so results are kept.
  int most_matches(std::uint32_t at, int depth) {
    HEED_CHECK(longest_[at] != kOpen && depth <= kLongestKey, "{}: the normaliser's trie has a cycle", name_);
    if (longest_[at] != kNotSeen) return longest_[at];
    longest_[at] = kOpen;
    const std::uint32_t children = at ^ offset(units_[at]);
    // c < 256, so that every child lies in one aligned block of 256 units.
    HEED_CHECK((children | 0xFFU) < units_.size(), "{}: the normaliser's trie has a link to unit {} of {}", name_,
               children, units_.size());
    int most = 0;
    // The root's own unit has label 0 and is nobody's child, but the library's search may still read it as one.
    for (std::uint32_t child = first_child_[children]; child != kNone; child = next_child_[child]) {
      most = std::max(most, leaf(child) + most_matches(child, depth + 1));
    }
    HEED_CHECK(most <= kMostMatches, "{}: the normaliser has {} rules or more that apply at one position, over {}",
               name_, most, kMostMatches);
    return longest_[at] = most;
  }

  // Returns 1 if a leaf hangs on the unit, after checking where it points, else 0.
  int leaf(std::uint32_t at) const {
    if (!has_leaf(units_[at])) return 0;
    const std::uint64_t where = at ^ offset(units_[at]);
    HEED_CHECK(where < units_.size(), "{}: the normaliser's trie has a leaf at unit {} of {}", name_, where,
               units_.size());
    const std::uint32_t value = units_[where] & 0x7FFFFFFFU;
    HEED_CHECK(value < strings_.size() && (strings_[value] & 0xC0) != 0x80,
               "{}: a rule of the normaliser points to byte {} of its {} bytes of text", name_, value, strings_.size());
    return 1;
  }

  std::vector<std::uint32_t> units_;
  std::string_view strings_;
  std::string_view name_;
  std::vector<int> longest_;
  std::vector<std::uint32_t> first_child_, next_child_;  // the children at a place, in a list
};

}  // namespace

// A normaliser's table: the trie's size in bytes (32 bits, little-endian), the trie, and the strings that it points to,
// each ended by a NUL byte.
void check_character_map(std::string_view map, std::string_view name) {
  if (map.empty()) return;
  std::uint32_t trie_bytes = 0;
  HEED_CHECK(map.size() > sizeof trie_bytes, "{}: the normaliser's table has {} bytes", name, map.size());
  std::memcpy(&trie_bytes, map.data(), sizeof trie_bytes);
  map.remove_prefix(sizeof trie_bytes);
  HEED_CHECK(trie_bytes > 0 && trie_bytes < map.size() && trie_bytes % sizeof(std::uint32_t) == 0,
             "{}: the normaliser's table of {} bytes cannot hold a trie of {}", name, map.size(), trie_bytes);
  const std::string_view strings = map.substr(trie_bytes);
  HEED_CHECK(strings.back() == '\0' && valid_utf8(strings), "{}: the normaliser's strings are not valid UTF-8", name);
  TrieCheck(map.substr(0, trie_bytes), strings, name).run();
}

namespace {

// message NormalizerSpec { string name = 1; bytes precompiled_charsmap = 2; ...; bool escape_whitespaces = 5; ... }
void check_normalizer(std::string_view bytes, std::string_view name, SentencePieceRules rules) {
  for (SentencePieceMessage reader(bytes, name); !reader.done();) {
    const SentencePieceField field = reader.next();
    if (field.number == 2) {
      field.expect(WireType::bytes, "normaliser's table", name);
      check_character_map(field.bytes, name);
    } else if (field.number == 5) {
      HEED_CHECK(rules == SentencePieceRules::library || field.value != 0,
                 "{}: a model without escape_whitespaces is not supported", name);
    }
  }
}

// message TrainerSpec { ...; bool treat_whitespace_as_suffix = 24; ...; string unk_surface = 44; ... }
void check_trainer(std::string_view bytes, std::string_view name, SentencePieceRules rules) {
  for (SentencePieceMessage reader(bytes, name); !reader.done();) {
    const SentencePieceField field = reader.next();
    if (field.number == 44) {  // what the library decodes an unknown piece to
      field.expect(WireType::bytes, "unknown piece's text", name);
      HEED_CHECK(
          valid_utf8(field.bytes) && (rules == SentencePieceRules::library || !has_control_character(field.bytes)),
          "{}: the text for an unknown piece is not UTF-8 without control characters: '{}'", name,
          printable(field.bytes));
    }
    HEED_CHECK(rules == SentencePieceRules::library || field.number != 24 || field.value == 0,
               "{}: a model with treat_whitespace_as_suffix is not supported", name);
  }
}

}  // namespace

// message ModelProto { repeated SentencePiece pieces = 1; TrainerSpec trainer_spec = 2; NormalizerSpec normalizer_spec
// = 3;
//                      SelfTestData self_test_data = 4; NormalizerSpec denormalizer_spec = 5; }
void check_sentencepiece_model(std::string_view bytes, std::string_view name, SentencePieceRules rules) {
  HEED_CHECK(!bytes.empty(), "{}: the file is empty", name);
  HEED_CHECK(bytes.size() < std::numeric_limits<std::int32_t>::max(), "{}: a SentencePiece model has less than 2 GiB",
             name);
  bool has_pieces = false;
  std::vector<std::string_view> user_defined;
  for (SentencePieceMessage reader(bytes, name); !reader.done();) {
    const SentencePieceField field = reader.next();
    if (field.number < 1 || field.number > 5) continue;
    field.expect(WireType::bytes, "message", name);
    if (field.number == 1) check_piece(field.bytes, name, rules, user_defined);
    if (field.number == 2) check_trainer(field.bytes, name, rules);
    if (field.number == 3 || field.number == 5) check_normalizer(field.bytes, name, rules);
    has_pieces = has_pieces || field.number == 1;
  }
  HEED_CHECK(has_pieces, "{}: not a SentencePiece model: it has no pieces", name);
  check_user_defined(std::move(user_defined), name);
}

}  // namespace heed
