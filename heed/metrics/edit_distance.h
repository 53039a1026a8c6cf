// The edit distance of two word sequences near the diagonal of its table, with the edits behind it, and quickly again
// for a sequence that shares its beginning.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heed/base/index.h"

namespace heed {

enum class Edit : std::uint8_t { none, keep, substitute, remove, insert };

// For one reference and hypotheses of one length. Row i of the table is about the first i words of the hypothesis,
// column j about the first j words of the reference. Only columns within a beam around j = i * reference / hypothesis
// are filled, as in tercom and sacreBLEU: the distance is an upper bound of Levenshtein's, and equal to it unless words
// moved far. Memory and time grow with the hypothesis times the beam.
class BeamEditDistance {
 public:
  BeamEditDistance(std::span<const std::uint32_t> reference, Index hypothesis_length);

  // Fills the table for this hypothesis and returns its distance.
  Index set_hypothesis(std::span<const std::uint32_t> hypothesis);
  // The distance of another one that agrees with the hypothesis that was set before word `first`.
  Index distance(std::span<const std::uint32_t> hypothesis, Index first);
  // The edits from the hypothesis that was set to the reference, in order. Of as many, a substitution or a kept word is
  // chosen before a removal, and that before an insertion, going from the end.
  std::vector<Edit> edits() const;

 private:
  struct Row {
    Index begin;   // its first column within the beam
    Index end;     // one past its last
    Index offset;  // of column `begin` in the tables
  };
  struct Table {
    std::vector<std::int32_t> cost;
    std::vector<Edit> edit;
  };

  Index fill(Table& table, std::span<const std::uint32_t> hypothesis, Index first) const;

  std::span<const std::uint32_t> reference_;
  std::vector<Row> rows_;
  Table table_;
  Table other_;  // for distance: rows that differ from table_
};

}  // namespace heed
