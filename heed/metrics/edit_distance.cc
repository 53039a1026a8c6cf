#include "heed/metrics/edit_distance.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace heed {
namespace {

constexpr double kBeamWidth = 25;
constexpr std::int32_t kUnreached = std::numeric_limits<std::int32_t>::max() / 2;

}  // namespace

BeamEditDistance::BeamEditDistance(std::span<const std::uint32_t> reference, Index hypothesis_length)
    : reference_(reference) {
  const auto columns = static_cast<Index>(reference.size()) + 1;
  const double slope =
      hypothesis_length == 0 ? 1 : static_cast<double>(reference.size()) / static_cast<double>(hypothesis_length);
  // A row must overlap the one before it, however steep the diagonal.
  const auto beam = static_cast<Index>(kBeamWidth < slope / 2 ? std::ceil(slope / 2 + kBeamWidth) : kBeamWidth);
  rows_.reserve(hypothesis_length + 1);
  rows_.push_back({0, columns, 0});
  for (Index i = 1; i <= hypothesis_length; ++i) {
    const auto diagonal = static_cast<Index>(std::floor(static_cast<double>(i) * slope));
    const Index begin = std::max<Index>(0, diagonal - beam);
    const Index end = i == hypothesis_length ? columns : std::min(columns, diagonal + beam);
    rows_.push_back({begin, end, rows_.back().offset + rows_.back().end - rows_.back().begin});
  }
  const Index cells = rows_.back().offset + rows_.back().end - rows_.back().begin;
  table_.cost.resize(cells);
  table_.edit.resize(cells);
  other_ = table_;
  for (Index j = 0; j < columns; ++j) {
    table_.cost[j] = other_.cost[j] = static_cast<std::int32_t>(j);
    table_.edit[j] = other_.edit[j] = Edit::insert;
  }
}

Index BeamEditDistance::set_hypothesis(std::span<const std::uint32_t> hypothesis) {
  return fill(table_, hypothesis, 0);
}

Index BeamEditDistance::distance(std::span<const std::uint32_t> hypothesis, Index first) {
  const Row& known = rows_[first];
  std::copy_n(table_.cost.begin() + known.offset, known.end - known.begin, other_.cost.begin() + known.offset);
  return fill(other_, hypothesis, first);
}

// Fills the rows after `first`, which is filled.
Index BeamEditDistance::fill(Table& table, std::span<const std::uint32_t> hypothesis, Index first) const {
  for (Index i = first + 1; i < static_cast<Index>(rows_.size()); ++i) {
    const Row& above = rows_[i - 1];
    const Row& row = rows_[i];
    const std::uint32_t word = hypothesis[i - 1];
    const auto above_cost = [&](Index j) {
      return j >= above.begin && j < above.end ? table.cost[above.offset + j - above.begin] : kUnreached;
    };
    std::int32_t left = kUnreached;
    std::int32_t diagonal = row.begin > 0 ? above_cost(row.begin - 1) : kUnreached;
    for (Index j = row.begin; j < row.end; ++j) {
      const std::int32_t up = above_cost(j);
      const bool same = j > 0 && word == reference_[j - 1];
      std::int32_t cost = kUnreached;
      Edit edit = Edit::none;
      const auto offer = [&](std::int32_t offered, Edit by) {
        if (offered < cost) {
          cost = offered;
          edit = by;
        }
      };
      // The order decides between equals.
      offer(diagonal + (same ? 0 : 1), same ? Edit::keep : Edit::substitute);
      offer(up + 1, Edit::remove);
      offer(left + 1, Edit::insert);
      table.cost[row.offset + j - row.begin] = cost;
      table.edit[row.offset + j - row.begin] = edit;
      left = cost;
      diagonal = up;
    }
  }
  return table.cost[rows_.back().offset + rows_.back().end - 1 - rows_.back().begin];
}

std::vector<Edit> BeamEditDistance::edits() const {
  std::vector<Edit> edits;
  Index i = static_cast<Index>(rows_.size()) - 1;
  auto j = static_cast<Index>(reference_.size());
  while (i > 0 || j > 0) {
    const Edit edit = table_.edit[rows_[i].offset + j - rows_[i].begin];
    edits.push_back(edit);
    if (edit != Edit::insert) --i;
    if (edit != Edit::remove) --j;
  }
  std::reverse(edits.begin(), edits.end());
  return edits;
}

}  // namespace heed
