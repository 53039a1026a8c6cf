#include "heed/ops/attention/merge.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <vector>

#include "heed/base/check.h"
#include "heed/base/parallel.h"
#include "heed/tensor/operands.h"
#include "heed/tensor/row_storage.h"
#include "heed/tensor/rows.h"

namespace heed {
namespace {

constexpr double kNoKeys = -std::numeric_limits<double>::infinity();

// How a row's two statistics combine.
struct Weights {
  double a;
  double b;
  double stat;
  bool a_counts;  // the side saw a key
  bool b_counts;
};

Weights weigh(double stat_a, double stat_b) {
  const bool a_counts = stat_a != kNoKeys, b_counts = stat_b != kNoKeys;
  if (!a_counts || !b_counts) {
    return {a_counts ? 1.0 : 0.0, b_counts ? 1.0 : 0.0, a_counts ? stat_a : stat_b, a_counts, b_counts};
  }
  const double difference = stat_a - stat_b;
  // The smaller weight is not 1 minus the larger one, so that it keeps its digits.
  const double rest = std::exp(-std::abs(difference));
  const double small = rest / (1 + rest), large = 1 / (1 + rest);
  const double stat = std::max(stat_a, stat_b) + std::log1p(rest);
  return {difference > 0 ? large : small, difference > 0 ? small : large, stat, true, true};
}

void check_rows_of(std::string_view function, std::string_view name, const ConstView& rows, const ConstView& model) {
  HEED_CHECK(same_shape(rows, model) && rows.dtype == model.dtype && has_unit_rows(rows),
             "{}: {} must be {} with a unit last stride, but is {}", function, name, describe(model), describe(rows));
}

void check_stat(std::string_view function, std::string_view name, const ConstView& stat, const ConstView& out) {
  const DType dtype = out.dtype == DType::f64 ? DType::f64 : DType::f32;
  HEED_CHECK(stat.rank == 3 && std::equal(stat.shape.begin(), stat.shape.begin() + 3, out.shape.begin()) &&
                 stat.dtype == dtype,
             "{}: {} must be {} [{}, {}, {}], but is {}", function, name, name_of(dtype), out.shape[0], out.shape[1],
             out.shape[2], describe(stat));
}

void check_parts(std::string_view function, const AttentionPart& a, const AttentionPart& b) {
  HEED_CHECK(a.out && b.out && a.row_stat && b.row_stat && a.out.rank == 4 && is_floating(a.out.dtype),
             "{}: needs two parts with out [B, H, Lq, Dv] and row_stat, but got {}, {}, {} and {}", function,
             describe(a.out), describe(a.row_stat), describe(b.out), describe(b.row_stat));
  check_rows_of(function, "a.out", a.out, a.out);
  check_rows_of(function, "b.out", b.out, a.out);
  check_stat(function, "a.row_stat", a.row_stat, a.out);
  check_stat(function, "b.row_stat", b.row_stat, a.out);
}

template <typename C>
double load_stat(const ConstView& stat, Index b, Index h, Index i) {
  return stat.at<C>({b, h, i});
}

template <typename C>
void store_stat(const View& stat, Index b, Index h, Index i, double value) {
  if (stat) stat.at<C>({b, h, i}) = static_cast<C>(value);
}

// Calls row(b, h, i, scratch) for every row, with memory for three rows of values.
template <typename C, typename F>
void for_each_row(const ConstView& out, F&& row) {
  const Index heads = out.shape[1], queries = out.shape[2], width = out.shape[3];
  parallel_for(out.shape[0] * heads * queries, rows_per_task(width), [&](Index begin, Index end) {
    std::vector<C> scratch(static_cast<std::size_t>(3 * width));
    for (Index at = begin; at < end; ++at) {
      row(at / queries / heads, at / queries % heads, at % queries, scratch.data());
    }
  });
}

// weight * from, or zeros for a side that does not count.
template <typename C>
void scale_row(const C* from, bool counts, double weight, Index width, C* to) {
  const C factor = static_cast<C>(weight);
  for (Index j = 0; j < width; ++j) to[j] = counts ? factor * from[j] : C{0};
}

template <typename C>
void merge_rows(const AttentionPart& a, const AttentionPart& b, const MergedAttention& result) {
  const Index width = a.out.shape[3];
  for_each_row<C>(a.out, [&](Index n, Index h, Index i, C* row_a) {
    const Weights w = weigh(load_stat<C>(a.row_stat, n, h, i), load_stat<C>(b.row_stat, n, h, i));
    store_stat<C>(result.row_stat, n, h, i, w.stat);
    if (!result.out) return;
    C* row_b = row_a + width;
    load_row(a.out, a.out.offset({n, h, i}), width, row_a);
    load_row(b.out, b.out.offset({n, h, i}), width, row_b);
    scale_row(row_a, w.a_counts, w.a, width, row_a);
    scale_row(row_b, w.b_counts, w.b, width, row_b);
    for (Index j = 0; j < width; ++j) row_a[j] += row_b[j];
    store_row(row_a, width, result.out, result.out.offset({n, h, i}));
  });
}

// The part of the statistics' gradients that comes through out.
template <typename C>
double shift_of(const Weights& w, const C* dout, const C* row_a, const C* row_b, Index width) {
  if (!w.a_counts || !w.b_counts) return 0;
  double sum = 0;
  for (Index j = 0; j < width; ++j) {
    sum += static_cast<double>(dout[j]) * (static_cast<double>(row_a[j]) - static_cast<double>(row_b[j]));
  }
  return w.a * w.b * sum;
}

template <typename C>
void merge_rows_backward(const AttentionPart& a, const AttentionPart& b, ConstView dout, ConstView drow_stat,
                         const MergeGrad& grad) {
  const Index width = a.out.shape[3];
  for_each_row<C>(a.out, [&](Index n, Index h, Index i, C* row_a) {
    const Weights w = weigh(load_stat<C>(a.row_stat, n, h, i), load_stat<C>(b.row_stat, n, h, i));
    C *row_b = row_a + width, *upstream = row_b + width;
    load_row(dout, dout.offset({n, h, i}), width, upstream);
    load_row(a.out, a.out.offset({n, h, i}), width, row_a);
    load_row(b.out, b.out.offset({n, h, i}), width, row_b);
    const double shift = shift_of(w, upstream, row_a, row_b, width);
    const double dstat = drow_stat ? load_stat<C>(drow_stat, n, h, i) : 0;
    store_stat<C>(grad.drow_stat_a, n, h, i, w.a_counts ? w.a * dstat + shift : 0);
    store_stat<C>(grad.drow_stat_b, n, h, i, w.b_counts ? w.b * dstat - shift : 0);
    scale_row(upstream, w.a_counts, w.a, width, row_a);
    scale_row(upstream, w.b_counts, w.b, width, row_b);
    if (grad.dout_a) store_row(row_a, width, grad.dout_a, grad.dout_a.offset({n, h, i}));
    if (grad.dout_b) store_row(row_b, width, grad.dout_b, grad.dout_b.offset({n, h, i}));
  });
}

}  // namespace

void merge_attention(const AttentionPart& a, const AttentionPart& b, const MergedAttention& result) {
  constexpr std::string_view kFunction = "merge_attention";
  check_operands(kFunction, {}, {{"out", result.out, kOptional}, {"row_stat", result.row_stat, kOptional}},
                 {{"a.out", a.out}, {"b.out", b.out}, {"a.row_stat", a.row_stat}, {"b.row_stat", b.row_stat}});
  check_parts(kFunction, a, b);
  if (result.out) check_rows_of(kFunction, "out", result.out, a.out);
  if (result.row_stat) check_stat(kFunction, "row_stat", result.row_stat, a.out);
  if (a.out.dtype == DType::f64) return merge_rows<double>(a, b, result);
  merge_rows<float>(a, b, result);
}

void merge_attention_backward(const AttentionPart& a, const AttentionPart& b, ConstView dout, ConstView drow_stat,
                              const MergeGrad& grad) {
  constexpr std::string_view kFunction = "merge_attention_backward";
  check_operands(kFunction,
                 {{"a.out", a.out},
                  {"a.row_stat", a.row_stat},
                  {"b.out", b.out},
                  {"b.row_stat", b.row_stat},
                  {"drow_stat", drow_stat, kOptional}},
                 {{"dout_a", grad.dout_a, kOptional},
                  {"dout_b", grad.dout_b, kOptional},
                  {"drow_stat_a", grad.drow_stat_a, kOptional},
                  {"drow_stat_b", grad.drow_stat_b, kOptional}},
                 {{"dout", dout}});
  check_parts(kFunction, a, b);
  check_rows_of(kFunction, "dout", dout, a.out);
  if (drow_stat) check_stat(kFunction, "drow_stat", drow_stat, a.out);
  if (grad.dout_a) check_rows_of(kFunction, "dout_a", grad.dout_a, a.out);
  if (grad.dout_b) check_rows_of(kFunction, "dout_b", grad.dout_b, a.out);
  if (grad.drow_stat_a) check_stat(kFunction, "drow_stat_a", grad.drow_stat_a, a.out);
  if (grad.drow_stat_b) check_stat(kFunction, "drow_stat_b", grad.drow_stat_b, a.out);
  if (a.out.dtype == DType::f64) return merge_rows_backward<double>(a, b, dout, drow_stat, grad);
  merge_rows_backward<float>(a, b, dout, drow_stat, grad);
}

}  // namespace heed
