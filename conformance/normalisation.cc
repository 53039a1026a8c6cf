// LayerNormalization, RMSNormalization, LpNormalization, Softmax and LogSoftmax.
#include <cmath>
#include <limits>

#include "heed/base/check.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/normalise.h"
#include "heed/ops/softmax.h"
#include "operators.h"

namespace heed::conformance {
namespace {

// x as rows of everything from `axis` on.
struct NormalisedRows {
  explicit NormalisedRows(const Case& c) : x(c.real(0)) {
    const auto axis = static_cast<std::size_t>(axis_of(c.integer("axis", -1), x.shape));
    normalised.assign(x.shape.begin() + static_cast<std::ptrdiff_t>(axis), x.shape.end());
    statistics = x.shape;
    std::fill(statistics.begin() + static_cast<std::ptrdiff_t>(axis), statistics.end(), 1);
    rows = x.elements.reshape({count_of(statistics), count_of(normalised)});
  }

  Array x;
  Extents normalised;  // the extents from `axis` on
  Extents statistics;  // x's shape with ones from `axis` on
  Tensor rows;
};

// Whether the scale or bias broadcasts to a row, which heed's operators take as it is.
bool is_of_a_row(const Array& parameter, const Extents& normalised) {
  return parameter.shape.size() <= normalised.size();
}

// y (of x's shape) times the scale and plus the bias that heed's operator has not applied.
void apply(const Case& c, Index input, const Array& x, const Tensor& y, void (*operation)(ConstView, ConstView, View)) {
  const Tensor flat = y.reshape({y.size()});
  operation(flat, broadcast(c.real(input), x.shape).elements, flat);
}

Outputs normalise_axis(const Case& c, void (*operation)(ConstView, View)) {
  c.allow_attributes({"axis"});
  const Array x = c.real(0);
  // Before opset 13 the default axis was 1, and all axes from there on were one.
  const bool coerced = c.opset() < 13;
  const Index axis = axis_of(c.integer("axis", coerced ? 1 : -1), x.shape);
  if (coerced) {
    const Index outer = count_of(std::span(x.shape).first(static_cast<std::size_t>(axis)));
    const Index width = count_of(std::span(x.shape).subspan(static_cast<std::size_t>(axis)));
    const Tensor rows = x.elements.reshape({outer, width});
    operation(rows, rows);
    return {x};
  }
  const Tensor rows = rows_along(x, axis);
  operation(rows, rows);
  return {from_rows(rows, x.shape, axis)};
}

}  // namespace

// stash_type names the type of the statistics; heed's are f32 or wider whatever it says.
Outputs layer_normalization(const Case& c) {
  c.allow_attributes({"axis", "epsilon", "stash_type"});
  const NormalisedRows n(c);
  const Index count = n.rows.dim(0);
  const Tensor mean = Tensor::empty(n.rows.dtype(), {count}), rstd = Tensor::empty(n.rows.dtype(), {count});
  const bool inside = is_of_a_row(c.input(1), n.normalised) && (!c.has(2) || is_of_a_row(c.input(2), n.normalised));
  const auto parameter = [&](Index i) {
    return inside && c.has(i) ? broadcast(c.real(i), n.normalised).elements : Tensor();
  };
  layer_norm(n.rows, parameter(1), parameter(2), c.number("epsilon", 1e-5), n.rows, mean, rstd);
  if (!inside) apply(c, 1, n.x, n.rows, multiply);
  if (!inside && c.has(2)) apply(c, 2, n.x, n.rows, add);
  return {n.x, {n.statistics, mean}, {n.statistics, rstd}};
}

Outputs rms_normalization(const Case& c) {
  c.allow_attributes({"axis", "epsilon", "stash_type"});
  const NormalisedRows n(c);
  const bool inside = is_of_a_row(c.input(1), n.normalised);
  const Tensor scale = inside ? broadcast(c.real(1), n.normalised).elements : Tensor();
  rms_norm(n.rows, scale, c.number("epsilon", 1e-5), n.rows, {});
  if (!inside) apply(c, 1, n.x, n.rows, multiply);
  return {n.x};
}

// x / |x| is the root-mean-square norm with the scale 1 / sqrt(n). The smallest epsilon keeps rows of zeros zero.
Outputs lp_normalization(const Case& c) {
  c.allow_attributes({"axis", "p"});
  if (const Index p = c.integer("p", 2); p != 2) throw Skip(fmt::format("LpNormalization with p = {}", p));
  const Array x = c.real(0);
  const Index axis = axis_of(c.integer("axis", -1), x.shape);
  const Tensor rows = rows_along(x, axis), gamma = Tensor::empty(rows.dtype(), {rows.dim(1)});
  fill(gamma, 1 / std::sqrt(static_cast<double>(rows.dim(1))));
  rms_norm(rows, gamma, static_cast<double>(std::numeric_limits<float>::min()), rows, {});
  return {from_rows(rows, x.shape, axis)};
}

Outputs run_softmax(const Case& c) { return normalise_axis(c, softmax); }
Outputs run_log_softmax(const Case& c) { return normalise_axis(c, log_softmax); }

}  // namespace heed::conformance
