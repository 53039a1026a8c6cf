#include "heed/ops/few_rows.h"

#include <algorithm>

#include "heed/base/memory.h"
#include "heed/base/parallel.h"
#include "heed/kernels/gemm_tile.h"
#include "heed/kernels/stored_rows.h"
#include "heed/ops/output_steps.h"

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

class FewRowsProduct {
 public:
  FewRowsProduct(const ConstView& x, const Weight& weight, const ConstView& bias, const View& y)
      : weight_(weight),
        bias_(bias),
        y_(y),
        rows_(x.shape[0]),
        computed_(kernels::few_rows_for(rows_)),
        inputs_(weight.inputs()) {
    if (rows_ == 1 && x.stride[1] == 1) {
      x_ = x.as<float>();
      return;
    }
    // Feature by feature, as the kernel meets them, with zeros for rows that are not there.
    memory_ = allocate(computed_ * inputs_ * static_cast<Index>(sizeof(float)));
    auto* const to = static_cast<float*>(memory_.get());
    std::fill_n(to, computed_ * inputs_, 0.0f);
    for (Index n = 0; n < rows_; ++n) {
      const float* const row = x.as<float>() + n * x.stride[0];
      for (Index d = 0; d < inputs_; ++d) to[d * computed_ + n] = row[d * x.stride[1]];
    }
    x_ = to;
  }

  // How many outputs to compute at a time, and the floats of scratch that this needs.
  Index step() const { return is_widened_first(weight_) ? kWidenedOutputs : kOutputs; }
  Index scratch() const { return is_widened_first(weight_) ? kWidenedOutputs * inputs_ : 0; }

  // Outputs [first, last); [last, next) are computed after them by the same thread.
  void compute(Index first, Index last, Index next, float* scratch) const {
    const bool widened = is_widened_first(weight_);
    if (widened) widen_rows(weight_, first, last, scratch);
    const Weight weight = widened ? Weight(make_view(scratch, {last - first, inputs_})) : weight_.rows(first, last);
    // gemm adds the bias to its first part of the inputs, and the sums of the others to that.
    const Index depth = bias_ ? kernels::kGemmTileDepth : inputs_;
    float part[kFewRows][kOutputs];
    for (Index begin = 0; begin < inputs_; begin += depth) {
      const Index end = std::min(begin + depth, inputs_);
      StoredRows rows = part_of(weight, 0, last - first, begin, end);
      if (widened && begin == 0 && last < next) {
        const ConstView& values = weight_.values;  // rows one after another
        rows.next_bytes = (next - last) * values.stride[0] * size_of(values.dtype);
        rows.next = part_of(weight_, last, next, 0, inputs_).data;
      } else if (!widened && (end < inputs_ || last < next)) {
        rows.next = end < inputs_ ? part_of(weight, 0, last - first, end, inputs_).data
                                  : part_of(weight_, last, next, 0, inputs_).data;
      }
      kernels::row_products(computed_, x_ + begin * computed_, rows, 1, {&part[0][0], kOutputs});
      for (Index n = 0; n < rows_; ++n) {
        float* const to = y_.as<float>() + n * y_.stride[0] + first;
        const float* const base = begin > 0 ? to : bias_ ? bias_.as<float>() + first : nullptr;
        for (Index j = 0; j < last - first; ++j) to[j] = base == nullptr ? part[n][j] : part[n][j] + base[j];
      }
    }
  }

 private:
  const Weight& weight_;
  const ConstView& bias_;
  const View& y_;
  Index rows_, computed_, inputs_;
  decltype(allocate(0)) memory_;
  const float* x_;
};

}  // namespace

bool are_few_rows(const ConstView& x, const Weight& weight, const View& y) {
  return y.dtype == DType::f32 && x.shape[0] <= kFewRows && weight.inputs() > 0 && weight.values.stride[1] == 1 &&
         y.stride[1] == 1;
}

void multiply_few_rows(const ConstView& x, const Weight& weight, const ConstView& bias, const View& y) {
  const FewRowsProduct product(x, weight, bias, y);
  const Index outputs = weight.outputs(), step = product.step();
  const Index steps = ceil_div(outputs, step), bytes = weight.inputs() * size_of(weight.values.dtype);
  parallel_for(steps, steps_together(steps, static_cast<double>(step * bytes)), [&](Index begin, Index end) {
    const Index floats = product.scratch(), stop = std::min(end * step, outputs);
    const auto scratch = floats > 0 ? allocate(floats * static_cast<Index>(sizeof(float))) : nullptr;
    for (Index first = begin * step; first < stop; first += step) {
      const Index last = std::min(first + step, stop);
      product.compute(first, last, std::min(last + step, stop), static_cast<float*>(scratch.get()));
    }
  });
}

}  // namespace heed
