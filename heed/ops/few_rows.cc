#include "heed/ops/few_rows.h"

#include <algorithm>

#include "heed/base/memory.h"
#include "heed/kernels/ask_ahead.h"
#include "heed/kernels/gemm_tile.h"
#include "heed/kernels/stored_rows.h"
#include "heed/ops/output_shares.h"

namespace heed {
namespace {

using kernels::kFewRows;
using kernels::StoredRows;

// Whether the weight's rows become f32 in scratch: the kernel reads all that have an address for each number.
bool is_widened_first(const Weight& weight) { return weight.blocks != BlockType::none; }

// Outputs that are computed together. Where numbers are widened in registers, one group of sixteen would wait for its
// sums.
constexpr Index kGroup = 16, kMostTogether = 2 * kGroup;

// Outputs first, first + apart, ...
struct Outputs {
  Index first, apart, count;
};

// Their rows of a weight, all of which have an address for each number.
StoredRows rows_of(const Weight& weight, const Outputs& outputs) {
  const ConstView& values = weight.values;
  return {.data = values.as<char>() + outputs.first * values.stride[0] * size_of(values.dtype),
          .dtype = values.dtype,
          .count = outputs.count,
          .width = weight.inputs(),
          .row = outputs.apart * values.stride[0],
          .scales = weight.scales ? weight.scales.as<float>() + outputs.first : nullptr,
          .scale_row = outputs.apart};
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

  // Outputs [first, last) of a map, whose outputs are y.
  void multiply(const AffineMap& map, const View& y, Index first, Index last) const {
    is_widened_first(map.weight) ? multiply_widened(map, y, first, last) : multiply_read(map, y, first, last);
  }

 private:
  // Each of the outputs that are computed together goes on to the one below it, for memory is read fastest in a few
  // long runs.
  void multiply_read(const AffineMap& map, const View& y, Index first, Index last) const {
    const ConstView& values = map.weight.values;
    const Index row_bytes = values.stride[0] * size_of(values.dtype);
    const Index together = values.dtype == DType::f32 ? kGroup : kMostTogether;
    while (first < last) {
      const Index count = std::min(together, last - first);
      const Index apart = kernels::rows_apart((last - first) / count, row_bytes);
      for (Index n = 0; n < apart; ++n) {
        const Outputs outputs{first + n, apart, count};
        StoredRows rows = rows_of(map.weight, outputs);
        if (n + 1 < apart) rows.next = rows_of(map.weight, {first + n + 1, apart, count}).data;
        multiply_rows(rows, map.bias, outputs, y);
      }
      first += apart * count;
    }
  }

  // While outputs that were widened in scratch are multiplied, the blocks of the next ones are asked for. They are few,
  // so that they stay in a core's own cache meanwhile.
  void multiply_widened(const AffineMap& map, const View& y, Index first, Index last) const {
    const auto scratch = allocate(kGroup * inputs_ * static_cast<Index>(sizeof(float)));
    auto* const numbers = static_cast<float*>(scratch.get());
    const ConstView& values = map.weight.values;  // rows one after another
    const Index row_bytes = values.stride[0] * size_of(values.dtype);
    for (Index next; first < last; first = next) {
      next = std::min(first + kGroup, last);
      widen_rows(map.weight, first, next, numbers);
      StoredRows rows = rows_of(make_view(numbers, {next - first, inputs_}), {0, 1, next - first});
      rows.next = values.as<char>() + next * row_bytes;
      rows.next_bytes = (std::min(next + kGroup, last) - next) * row_bytes;
      multiply_rows(rows, map.bias, {first, 1, next - first}, y);
    }
  }

  void multiply_rows(const StoredRows& whole, const ConstView& bias, const Outputs& outputs, const View& y) const {
    // gemm adds the bias to its first part of the inputs, and the sums of the others to that.
    const Index depth = bias ? kernels::kGemmTileDepth : inputs_;
    float part[kFewRows][kMostTogether];
    for (Index begin = 0; begin < inputs_; begin += depth) {
      const Index end = std::min(begin + depth, inputs_);
      const auto* const data = static_cast<const char*>(whole.data);
      StoredRows rows = whole;
      rows.data = data + begin * size_of(whole.dtype), rows.width = end - begin;
      if (whole.next_bytes > 0 && begin > 0) {
        rows.next = nullptr, rows.next_bytes = 0;  // it has been asked for
      } else if (whole.next_bytes == 0 && end < inputs_) {
        rows.next = data + end * size_of(whole.dtype);
      }
      kernels::row_products(computed_, x_ + begin * computed_, rows, 1, {&part[0][0], kMostTogether});
      for (Index n = 0; n < count_; ++n) {
        float* to = y.as<float>() + n * y.stride[0] + outputs.first;
        const float* base = begin > 0 ? to : bias ? bias.as<float>() + outputs.first : nullptr;
        for (Index j = 0; j < outputs.count; ++j) {
          const Index at = j * outputs.apart;
          to[at] = base == nullptr ? part[n][j] : part[n][j] + base[at];
        }
      }
    }
  }

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
  const auto step_of = [](const Weight&) { return kMostTogether; };
  double bytes = 0;
  for (const AffineMap& map : maps) {
    const ConstView& values = map.weight.values;
    bytes = std::max(bytes, static_cast<double>(kMostTogether * values.shape[1] * size_of(values.dtype)));
  }
  for_each_share(maps, y, step_of, bytes,
                 [&](const OutputShare& share) { rows.multiply(share.map, share.y, share.first, share.last); });
}

}  // namespace heed
