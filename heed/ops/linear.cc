#include "heed/ops/linear.h"

#include <algorithm>

#include "heed/base/check.h"
#include "heed/base/memory.h"
#include "heed/base/parallel.h"
#include "heed/ops/digit_product.h"
#include "heed/ops/few_rows.h"
#include "heed/ops/gemm.h"
#include "heed/ops/output_shares.h"
#include "heed/ops/tile_product.h"
#include "heed/tensor/operands.h"

namespace heed {
namespace {

// dbias += 1^T dy, where the row of ones is a single 1 with strides of zero.
void add_column_sums(const ConstView& dy, const View& dbias) {
  static constexpr float kOneF32 = 1;
  static constexpr double kOneF64 = 1;
  ConstView ones = dy.dtype == DType::f32 ? make_view(&kOneF32, {1, 1}) : make_view(&kOneF64, {1, 1});
  ones.shape[1] = dy.shape[0];
  ones.stride = {0, 0, 0, 0};
  gemm(ones, dy, reshape(dbias, {1, dy.shape[1]}), {.accumulate = true});
}

bool is_vector(const ConstView& view, DType dtype, Index size) {
  return view.rank == 1 && view.shape[0] == size && view.dtype == dtype && view.contiguous();
}

// Outputs that are widened together: as much as stays in a core's own cache between the widening and the product.
Index panel_outputs(Index inputs) {
  constexpr Index kPanelNumbers = 128 * 1024;
  return std::clamp<Index>(kPanelNumbers / std::max<Index>(inputs, 1) / 16 * 16, 48, 256);
}

// No bit of an element of a product depends on how many others are computed with it, so panels may be of any size.
void multiply_narrow(const ConstView& x, const Weight& weight, const ConstView& bias, const View& y) {
  const Index outputs = weight.outputs(), inputs = weight.inputs(), panel = panel_outputs(inputs);
  const double rows = static_cast<double>(std::max<Index>(x.shape[0], 8));  // with fewer, reading takes the time
  constexpr double kWorkPerTask = 256 * 1024;
  const Index grain = grain_of(rows * static_cast<double>(panel * inputs), kWorkPerTask);
  parallel_for(ceil_div(outputs, panel), grain, [&](Index begin, Index end) {
    const auto memory = allocate(panel * inputs * static_cast<Index>(sizeof(float)));
    float* const wide = static_cast<float*>(memory.get());
    for (Index first = begin * panel, last; first < std::min(end * panel, outputs); first = last) {
      last = std::min(first + panel, outputs);
      widen_rows(weight, first, last, wide);
      gemm(x, transpose(make_view(wide, {last - first, inputs}), 0, 1), slice(y, 1, first, last),
           {.bias = bias ? slice(bias, 0, first, last) : ConstView()});
    }
  });
}

void multiply_one(const ConstView& x, const AffineMap& map, const View& y) {
  const std::span one(&map, 1);
  if (are_digits(one)) return multiply_digits(x, one, y);
  if (are_of_tiles(one)) return multiply_in_tiles(x, one, y);
  if (are_few_rows(x, one, y)) return multiply_few_rows(x, one, y);
  if (is_narrow(map.weight.values.dtype)) return multiply_narrow(x, map.weight, map.bias, y);
  gemm(x, transpose(map.weight.values, 0, 1), y, {.bias = map.bias});
}

void check_one(const ConstView& x, const AffineMap& map, const View& y) {
  const Weight& weight = map.weight;
  const ConstView& bias = map.bias;
  const ConstView& values = weight.values;
  check_operands("linear",
                 {{"x", x}, {"weight", values}, {"scales", weight.scales, kOptional}, {"bias", bias, kOptional}},
                 {{"y", y}});
  HEED_CHECK(x.rank == 2 && values.rank == 2 && y.rank == 2 && x.shape[1] == weight.inputs() &&
                 y.shape[0] == x.shape[0] && y.shape[1] == values.shape[0] && x.dtype == y.dtype &&
                 weight.wide() == y.dtype,
             "linear: needs x [R, In], weight [Out, In] and y [R, Out] of one type, or a narrow weight with f32, but "
             "got {}, {} and {}",
             describe(x), describe_weight(weight), describe(y));
  check_weight("linear", weight);
  HEED_CHECK(!bias || is_vector(bias, y.dtype, y.shape[1]),
             "linear: bias must be contiguous [Out] for weight {}, but is {}", describe_weight(weight), describe(bias));
}

}  // namespace

void linear(ConstView x, const Weight& weight, ConstView bias, View y) {
  const AffineMap map{weight, bias};
  check_one(x, map, y);
  multiply_one(x, map, y);
}

void linear(ConstView x, std::span<const AffineMap> maps, View y) {
  Index outputs = 0;
  for (const AffineMap& map : maps) outputs += map.weight.outputs();
  HEED_CHECK(!maps.empty() && y.rank == 2 && y.shape[1] == outputs, "linear: needs y [R, {}] for {} maps, but got {}",
             outputs, maps.size(), describe(y));
  for_each_map(maps, y, [&](const AffineMap& map, const View& own) { check_one(x, map, own); });
  if (are_digits(maps)) return multiply_digits(x, maps, y);
  if (are_of_tiles(maps)) return multiply_in_tiles(x, maps, y);
  const auto has_its_own = [](const AffineMap& map) { return are_digits({&map, 1}) || are_of_tiles({&map, 1}); };
  if (are_few_rows(x, maps, y) && std::ranges::none_of(maps, has_its_own)) return multiply_few_rows(x, maps, y);
  for_each_map(maps, y, [&](const AffineMap& map, const View& own) { multiply_one(x, map, own); });
}

void linear_backward(ConstView x, ConstView weight, ConstView dy, View dx, View dweight, View dbias) {
  // What is not needed is not looked at.
  check_operands("linear_backward",
                 {{"x", dweight ? x : ConstView(), !dweight}, {"weight", dx ? weight : ConstView(), !dx}, {"dy", dy}},
                 {{"dx", dx, kOptional}, {"dweight", dweight, kOptional}, {"dbias", dbias, kOptional}});
  HEED_CHECK(dy.rank == 2, "linear_backward: dy must be [R, Out], but is {}", describe(dy));
  const auto is_matrix = [&](const ConstView& view, Index rows, Index columns) {
    return view.rank == 2 && view.shape[0] == rows && view.shape[1] == columns && view.dtype == dy.dtype;
  };
  const Index rows = dy.shape[0], out = dy.shape[1];
  if (dx) {
    HEED_CHECK(weight.rank == 2 && is_matrix(weight, out, weight.shape[1]) && is_matrix(dx, rows, weight.shape[1]),
               "linear_backward: needs weight [Out, In] and dx [R, In] for dy {}, but got {} and {}", describe(dy),
               describe(weight), describe(dx));
  }
  if (dweight) {
    HEED_CHECK(x.rank == 2 && is_matrix(x, rows, x.shape[1]) && is_matrix(dweight, out, x.shape[1]),
               "linear_backward: needs x [R, In] and dweight [Out, In] for dy {}, but got {} and {}", describe(dy),
               describe(x), describe(dweight));
  }
  if (dbias) {
    HEED_CHECK(is_vector(dbias, dy.dtype, out), "linear_backward: dbias must be contiguous [Out] for dy {}, but is {}",
               describe(dy), describe(dbias));
  }
  if (dx) gemm(dy, weight, dx);
  if (dweight) gemm(transpose(dy, 0, 1), x, dweight, {.accumulate = true});
  if (dbias) add_column_sums(dy, dbias);
}

}  // namespace heed
