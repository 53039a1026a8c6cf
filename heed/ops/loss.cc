#include "heed/ops/loss.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "heed/base/check.h"
#include "heed/base/parallel.h"
#include "heed/kernels/softmax.h"
#include "heed/ops/gemm.h"
#include "heed/ops/linear.h"
#include "heed/tensor/operands.h"
#include "heed/tensor/tensor.h"

namespace heed {
namespace {

using kernels::RowLoss;

// kernels::cross_entropy_row, in double.
RowLoss cross_entropy_row(double* logits, Index n, Index target, double smoothing, double scale, bool gradient) {
  const double largest = *std::max_element(logits, logits + n);
  double sum = 0, shifted = 0;
  for (Index v = 0; v < n; ++v) sum += std::exp(logits[v] - largest), shifted += logits[v] - largest;
  const double log_sum = std::log(sum);
  RowLoss loss{};
  loss.correct = std::find(logits, logits + n, largest) == logits + target;
  loss.nll = log_sum - (logits[target] - largest);
  loss.mean_nll = smoothing != 0 ? log_sum - shifted / static_cast<double>(n) : loss.nll;
  if (!gradient) return loss;
  for (Index v = 0; v < n; ++v)
    logits[v] = scale * (std::exp(logits[v] - largest) / sum - smoothing / static_cast<double>(n));
  logits[target] -= scale * (1 - smoothing);
  return loss;
}

RowLoss cross_entropy_row(float* logits, Index n, Index target, double smoothing, double scale, bool gradient) {
  return kernels::cross_entropy_row(logits, n, target, smoothing, scale, gradient);
}

void add_column_sums(const float* x, Index rows, Index n, float* sums) {
  kernels::add_column_sums(x, rows, n, n, sums);
}

void add_column_sums(const double* x, Index rows, Index n, double* sums) {
  for (Index r = 0; r < rows; ++r)
    for (Index v = 0; v < n; ++v) sums[v] += x[r * n + v];
}

// Rows of logits that are worked on together: some 16 MB of f32, which stay in a shared cache between the products and
// the softmax, and not fewer than make the products efficient.
Index chunk_rows(Index vocabulary) {
  return std::clamp<Index>((4 << 20) / std::max<Index>(vocabulary, 1) / 16 * 16, 64, 4096);
}

// Rows that one task turns from logits into gradients, and whose bias gradient it sums.
constexpr Index kBlockRows = 16;

// The scratch of one call, for chunks of up to `rows` rows.
struct Scratch {
  Scratch(DType dtype, Index rows, Index width, Index vocabulary, bool gather)
      : logits(Tensor::empty(dtype, {rows, vocabulary})),
        bias_sums(Tensor::empty(dtype, {ceil_div(rows, kBlockRows), vocabulary})),
        x(gather ? Tensor::empty(dtype, {rows, width}) : Tensor()),
        dx(gather ? Tensor::empty(dtype, {rows, width}) : Tensor()),
        losses(static_cast<std::size_t>(rows)) {}

  Tensor logits;     // and then their gradient
  Tensor bias_sums;  // the column sums of each block of rows
  Tensor x, dx;      // rows gathered from among ignored ones
  std::vector<RowLoss> losses;
};

// Logits to losses and, with `gradient`, to their gradient, for the rows whose targets are given.
template <typename T>
void cross_entropy_rows(const Scratch& scratch, Index rows, const std::int32_t* target,
                        const CrossEntropyOptions& options, bool gradient, bool sum_columns,
                        std::vector<RowLoss>& losses) {
  const Index vocabulary = scratch.logits.dim(1);
  parallel_for(rows, kBlockRows, [&](Index begin, Index end) {
    T* logits = scratch.logits.data<T>() + begin * vocabulary;
    for (Index r = begin; r < end; ++r) {
      losses[static_cast<std::size_t>(r)] =
          cross_entropy_row(logits + (r - begin) * vocabulary, vocabulary, target[r], options.label_smoothing,
                            options.gradient_scale, gradient);
    }
    if (sum_columns) {
      T* sums = scratch.bias_sums.data<T>() + begin / kBlockRows * vocabulary;
      std::fill(sums, sums + vocabulary, T{0});
      add_column_sums(logits, end - begin, vocabulary, sums);
    }
  });
}

// to[i] = from[index[i]], or to[index[i]] = from[i].
void gather_rows(const ConstView& from, const Index* index, const View& to) {
  const Index bytes = from.shape[1] * size_of(from.dtype);
  for (Index i = 0; i < to.shape[0]; ++i)
    std::memcpy(to.as<char>() + i * bytes, from.as<char>() + index[i] * bytes, static_cast<std::size_t>(bytes));
}
void scatter_rows(const ConstView& from, const Index* index, const View& to) {
  const Index bytes = from.shape[1] * size_of(from.dtype);
  for (Index i = 0; i < from.shape[0]; ++i)
    std::memcpy(to.as<char>() + index[i] * bytes, from.as<char>() + i * bytes, static_cast<std::size_t>(bytes));
}

void check(const ConstView& x, const Weight& typed_weight, const ConstView& bias, const ConstView& targets,
           const CrossEntropyOptions& options, const View& dx, const View& dweight, const View& dbias) {
  const ConstView& weight = typed_weight.values;
  check_operands("linear_cross_entropy",
                 {{"x", x},
                  {"weight", weight},
                  {"scales", typed_weight.scales, kOptional},
                  {"bias", bias, kOptional},
                  {"targets", targets}},
                 {{"dx", dx, kOptional}, {"dweight", dweight, kOptional}, {"dbias", dbias, kOptional}});
  HEED_CHECK(x.rank == 2 && weight.rank == 2 && x.shape[1] == typed_weight.inputs() && weight.shape[0] >= 1 &&
                 targets.rank == 1 && targets.shape[0] == x.shape[0] && targets.dtype == DType::i32 &&
                 x.dtype == typed_weight.wide() && (x.dtype == DType::f32 || x.dtype == DType::f64) && x.contiguous() &&
                 weight.contiguous() && targets.contiguous(),
             "linear_cross_entropy: needs x [R, D], weight [V, D] and i32 targets [R], contiguous and f32 or f64, but "
             "got {}, {} "
             "and {}",
             describe(x), describe_weight(typed_weight), describe(targets));
  check_weight("linear_cross_entropy", typed_weight);
  HEED_CHECK(!is_narrow(weight.dtype) || (!dx && !dweight && !dbias),
             "linear_cross_entropy: a narrow weight has no gradient, and gives none, but it is {}",
             describe_weight(typed_weight));
  const auto fits = [&](const ConstView& view, const ConstView& model) {
    return !view || (same_shape(view, model) && view.dtype == model.dtype && view.contiguous());
  };
  HEED_CHECK(fits(dx, x) && fits(dweight, weight),
             "linear_cross_entropy: dx and dweight must be like x {} and weight {}, but are {} and {}", describe(x),
             describe(weight), describe(dx), describe(dweight));
  const auto is_bias = [&](const ConstView& view) {
    return !view || (view.rank == 1 && view.shape[0] == weight.shape[0] && view.dtype == x.dtype && view.contiguous());
  };
  HEED_CHECK(is_bias(bias) && is_bias(dbias),
             "linear_cross_entropy: bias and dbias must be [V] for weight {}, but are {} and {}", describe(weight),
             describe(bias), describe(dbias));
  HEED_CHECK(options.label_smoothing >= 0 && options.label_smoothing <= 1,
             "linear_cross_entropy: label_smoothing must be in [0, 1], but is {}", options.label_smoothing);
  const std::int32_t* target = targets.as<std::int32_t>();
  for (Index r = 0; r < targets.shape[0]; ++r) {
    HEED_CHECK(target[r] == options.ignore_index || (target[r] >= 0 && target[r] < weight.shape[0]),
               "linear_cross_entropy: target {} of row {} is outside the vocabulary of {}", target[r], r,
               weight.shape[0]);
  }
}

}  // namespace

LossResult linear_cross_entropy(ConstView x, const Weight& weight, ConstView bias, ConstView targets,
                                const CrossEntropyOptions& options, View dx, View dweight, View dbias) {
  check(x, weight, bias, targets, options, dx, dweight, dbias);
  const Index rows = x.shape[0], width = x.shape[1], vocabulary = weight.outputs();
  std::vector<Index> kept;  // the rows that count, and their targets
  std::vector<std::int32_t> kept_target;
  for (Index r = 0; r < rows; ++r) {
    const std::int32_t target = targets.at<std::int32_t>({r});
    if (target == options.ignore_index) continue;
    kept.push_back(r);
    kept_target.push_back(target);
  }
  LossResult result{.tokens = static_cast<Index>(kept.size())};
  const bool gather = result.tokens < rows;
  if (dx && gather) fill(dx, 0);
  if (result.tokens == 0) return result;

  const bool gradient = dx || dweight || dbias;
  Scratch scratch(x.dtype, std::min(chunk_rows(vocabulary), result.tokens), width, vocabulary, gather);
  for (Index begin = 0; begin < result.tokens; begin += scratch.logits.dim(0)) {
    const Index end = std::min(begin + scratch.logits.dim(0), result.tokens), count = end - begin;
    const View logits = slice(scratch.logits.view(), 0, 0, count);
    ConstView chunk_x = gather ? slice(scratch.x.view(), 0, 0, count) : slice(x, 0, begin, end);
    if (gather) gather_rows(x, kept.data() + begin, slice(scratch.x.view(), 0, 0, count));
    linear(chunk_x, weight, bias, logits);
    const auto run = x.dtype == DType::f32 ? cross_entropy_rows<float> : cross_entropy_rows<double>;
    run(scratch, count, kept_target.data() + begin, options, gradient, !dbias.empty(), scratch.losses);
    for (Index r = 0; r < count; ++r) {
      const RowLoss& loss = scratch.losses[static_cast<std::size_t>(r)];
      result.nll_sum += loss.nll;
      result.loss_sum += (1 - options.label_smoothing) * loss.nll + options.label_smoothing * loss.mean_nll;
      result.correct += loss.correct ? 1 : 0;
    }
    if (dx) {
      const View chunk_dx = gather ? slice(scratch.dx.view(), 0, 0, count) : slice(dx, 0, begin, end);
      gemm(logits, weight.values, chunk_dx);
      if (gather) scatter_rows(chunk_dx, kept.data() + begin, dx);
    }
    if (dweight) gemm(transpose(logits, 0, 1), chunk_x, dweight, {.accumulate = true});
    if (dbias) {
      const View sums = slice(scratch.bias_sums.view(), 0, 0, ceil_div(count, kBlockRows));
      linear_backward({}, {}, sums, {}, {}, dbias);
    }
  }
  return result;
}

}  // namespace heed
