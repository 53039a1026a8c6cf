#include "heed/ops/few_rows.h"

#include <algorithm>

#include "heed/base/memory.h"
#include "heed/kernels/gemm_tile.h"
#include "heed/kernels/stored_rows.h"
#include "heed/ops/output_shares.h"

namespace heed {
namespace {

using kernels::kFewRows;
using kernels::StoredRows;

// Outputs that are computed together; while they are, the weights of the next are asked for. Of those that are widened
// first there are fewer, so that they stay in a core's own cache until they are multiplied.
constexpr Index kOutputs = 32, kWidenedOutputs = 16;

// Whether the weight's rows become f32 in scratch: the kernel reads all that have an address for each number.
bool is_widened_first(const Weight& weight) { return weight.blocks != BlockType::none; }

// Features [begin, end) of the weight's rows [first, last).
StoredRows part_of(const Weight& weight, Index first, Index last, Index begin, Index end) {
  const ConstView& values = weight.values;
  const Index offset = (first * values.stride[0] + begin) * size_of(values.dtype);
  return {.data = values.as<char>() + offset,
          .dtype = values.dtype,
          .count = last - first,
          .width = end - begin,
          .row = values.stride[0],
          .scales = weight.scales ? weight.scales.as<float>() + first : nullptr,
          .scale_row = 1};
}

class TurnedRows {
 public:
  explicit TurnedRows(const ConstView& x)
      : count_(x.shape[0]), computed_(kernels::few_rows_for(count_)), inputs_(x.shape[1]) {
    if (count_ == 1 && x.stride[1] == 1) {
      x_ = x.as<float>();
      return;
    }
    // Feature by feature, as the kernel meets them, with zeros for rows that are not there.
    memory_ = allocate(computed_ * inputs_ * static_cast<Index>(sizeof(float)));
    auto* const to = static_cast<float*>(memory_.get());
    std::fill_n(to, computed_ * inputs_, 0.0f);
    for (Index n = 0; n < count_; ++n) {
      const float* const row = x.as<float>() + n * x.stride[0];
      for (Index d = 0; d < inputs_; ++d) to[d * computed_ + n] = row[d * x.stride[1]];
    }
    x_ = to;
  }

  // Outputs [first, last) of a map, whose outputs are y; [last, next) are computed after them by the same thread. The
  // scratch has kWidenedOutputs rows where the weight is widened first.
  void multiply(const AffineMap& map, const View& y, Index first, Index last, Index next, float* scratch) const {
    const Weight& weight = map.weight;
    const ConstView& bias = map.bias;
    const bool widened = is_widened_first(weight);
    if (widened) widen_rows(weight, first, last, scratch);
    const Weight read = widened ? Weight(make_view(scratch, {last - first, inputs_})) : weight.rows(first, last);
    // gemm adds the bias to its first part of the inputs, and the sums of the others to that.
    const Index depth = bias ? kernels::kGemmTileDepth : inputs_;
    float part[kFewRows][kOutputs];
    for (Index begin = 0; begin < inputs_; begin += depth) {
      const Index end = std::min(begin + depth, inputs_);
      StoredRows rows = part_of(read, 0, last - first, begin, end);
      if (widened && begin == 0 && last < next) {
        const ConstView& values = weight.values;  // rows one after another
        rows.next_bytes = (next - last) * values.stride[0] * size_of(values.dtype);
        rows.next = part_of(weight, last, next, 0, inputs_).data;
      } else if (!widened && (end < inputs_ || last < next)) {
        rows.next = end < inputs_ ? part_of(read, 0, last - first, end, inputs_).data
                                  : part_of(weight, last, next, 0, inputs_).data;
      }
      kernels::row_products(computed_, x_ + begin * computed_, rows, 1, {&part[0][0], kOutputs});
      for (Index n = 0; n < count_; ++n) {
        float* const to = y.as<float>() + n * y.stride[0] + first;
        const float* const base = begin > 0 ? to : bias ? bias.as<float>() + first : nullptr;
        for (Index j = 0; j < last - first; ++j) to[j] = base == nullptr ? part[n][j] : part[n][j] + base[j];
      }
    }
  }

 private:
  Index count_, computed_, inputs_;
  decltype(allocate(0)) memory_;
  const float* x_;
};

}  // namespace

bool are_few_rows(const ConstView& x, std::span<const AffineMap> maps, const View& y) {
  const auto is_read = [](const AffineMap& map) { return map.weight.inputs() > 0 && map.weight.values.stride[1] == 1; };
  return y.dtype == DType::f32 && x.shape[0] <= kFewRows && y.stride[1] == 1 && std::ranges::all_of(maps, is_read);
}

void multiply_few_rows(const ConstView& x, std::span<const AffineMap> maps, const View& y) {
  const TurnedRows rows(x);
  const auto step_of = [](const Weight& weight) { return is_widened_first(weight) ? kWidenedOutputs : kOutputs; };
  double bytes = 0;
  for (const AffineMap& map : maps) {
    const ConstView& values = map.weight.values;
    bytes = std::max(bytes, static_cast<double>(step_of(map.weight) * values.shape[1] * size_of(values.dtype)));
  }
  for_each_share(maps, y, step_of, bytes, [&](const OutputShare& share) {
    const Weight& weight = share.map.weight;
    const Index step = step_of(weight), floats = is_widened_first(weight) ? step * weight.inputs() : 0;
    const auto scratch = floats > 0 ? allocate(floats * static_cast<Index>(sizeof(float))) : nullptr;
    for (Index first = share.first; first < share.last; first += step) {
      const Index last = std::min(first + step, share.last), next = std::min(last + step, share.last);
      rows.multiply(share.map, share.y, first, last, next, static_cast<float*>(scratch.get()));
    }
  });
}

}  // namespace heed
