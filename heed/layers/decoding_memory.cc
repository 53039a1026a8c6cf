#include "heed/layers/decoding_memory.h"

#include <algorithm>

#include "heed/base/check.h"

namespace heed {

// --- Pages -----------------------------------------------------------------------------------------------------------

void PagedMemory::go_back(Index tokens) {
  for (Index row = 0; row < rows(); ++row) {
    HEED_CHECK(length(row) == length(0) && length(row) >= tokens,
               "PagedMemory::go_back: row {} has read {} tokens and the first one {}, so not all go back to {}", row,
               length(row), length(0), tokens);
  }
  if (rows() > 0) cache_.truncate(length(0) - tokens);
}

void PagedMemory::attend(ConstView q, ConstView k, ConstView v, const AttentionSpec& spec, View out, Tensor* weights,
                         Workspace& workspace) {
  cache_.append(k, v);
  attend(q, spec, out, weights, workspace);
  if (k.shape[2] > q.shape[2]) cache_.truncate(k.shape[2] - q.shape[2]);
}

void PagedMemory::attend(ConstView q, const AttentionSpec& spec, View out, Tensor* weights,
                         Workspace& workspace) const {
  AttentionSpec paged = cache_.spec(spec.mask);
  paged.score = spec.score, paged.bias = spec.bias, paged.normaliser = spec.normaliser;
  AttentionResult result{.out = out};
  Tensor columns;  // of whole pages
  Index longest = 0;
  if (weights != nullptr) {
    for (Index row = 0; row < rows(); ++row) longest = std::max(longest, length(row));
    columns = Tensor::empty(q.dtype, {q.shape[0], q.shape[1], q.shape[2], paged.sequences.pages.dim(1) * kPage});
    result.weights = columns;
  }
  attention(q, cache_.keys(), cache_.values(), paged, result, workspace);
  if (weights != nullptr) *weights = Tensor::copy_of(slice(columns.view(), 3, 0, longest));
}

// --- Sums ------------------------------------------------------------------------------------------------------------

LinearMemory::LinearMemory(Index key_heads, Index width, DType dtype, const Score& score)
    : key_heads_(key_heads),
      width_(width),
      features_(score.feature_map.projection.is_empty() ? width : score.feature_map.projection.dim(0)),
      dtype_(dtype == DType::f64 ? dtype : DType::f32),
      score_(score) {}

void LinearMemory::admit(Index rows) {
  const LinearState fresh = LinearState::zeros(rows, key_heads_, features_, width_, dtype_);
  state_ = {join_rows(state_.values, fresh.values), join_rows(state_.sums, fresh.sums)};
  lengths_.resize(lengths_.size() + static_cast<std::size_t>(rows), 0);
}

void LinearMemory::admit(ConstView k, ConstView v, std::span<const Index> lengths) {
  const Index first = rows();
  admit(std::ssize(lengths));
  for (Index i = 0; i < std::ssize(lengths); ++i) {
    const Index row = first + i, length = lengths_[row] = lengths[i];
    const auto tokens = [&](const ConstView& all) { return slice(slice(all, 0, i, i + 1), 2, 0, length); };
    const LinearState state{state_.values.rows(row, row + 1), state_.sums.rows(row, row + 1)};
    if (length > 0) linear_step(tokens(k), tokens(k), tokens(v), score_, state, {});
  }
}

void LinearMemory::select_rows(std::span<const Index> rows) {
  state_ = {state_.values.gather_rows(rows), state_.sums.gather_rows(rows)};
  std::vector<Index> lengths;
  for (Index row : rows) lengths.push_back(length(row));
  lengths_ = std::move(lengths);
}

void LinearMemory::go_back(Index) { fail("LinearMemory::go_back: sums do not say what each token added"); }

void LinearMemory::attend(ConstView q, ConstView k, ConstView v, const AttentionSpec&, View out, Tensor*, Workspace&) {
  linear_step(q, k, v, score_, state_, out);
  for (Index& length : lengths_) ++length;
}

}  // namespace heed
