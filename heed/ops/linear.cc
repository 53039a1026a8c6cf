#include "heed/ops/linear.h"

#include "heed/base/check.h"
#include "heed/ops/gemm.h"
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

}  // namespace

void linear(ConstView x, ConstView weight, ConstView bias, View y) {
  check_operands("linear", {{"x", x}, {"weight", weight}, {"bias", bias, kOptional}}, {{"y", y}});
  HEED_CHECK(x.rank == 2 && weight.rank == 2 && y.rank == 2 && x.shape[1] == weight.shape[1] &&
                 y.shape[0] == x.shape[0] && y.shape[1] == weight.shape[0] && x.dtype == y.dtype &&
                 weight.dtype == y.dtype,
             "linear: needs x [R, In], weight [Out, In] and y [R, Out] of one type, but got {}, {} and {}", describe(x),
             describe(weight), describe(y));
  HEED_CHECK(!bias || is_vector(bias, y.dtype, y.shape[1]),
             "linear: bias must be contiguous [Out] for weight {}, but is {}", describe(weight), describe(bias));
  gemm(x, transpose(weight, 0, 1), y, {.bias = bias});
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
