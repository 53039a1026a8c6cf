#include "heed/ops/causal_convolution.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "heed/base/check.h"
#include "heed/base/parallel.h"
#include "heed/tensor/operands.h"
#include "heed/tensor/rows.h"

namespace heed {
namespace {

struct ConvolutionExtents {
  Index batch, channels, length, kernel;
  Index held() const { return kernel - 1; }
  Index rows() const { return batch * channels; }
  // Rows that are worth handing to a thread, `times` over.
  Index rows_per_task(Index times = 1) const {
    const double work = static_cast<double>(length) * static_cast<double>(kernel) * static_cast<double>(times);
    return grain_of(work, kElementsPerTask);
  }
};

bool is_like(const ConstView& view, DType dtype, std::initializer_list<Index> shape) {
  if (view.empty()) return true;
  return view.dtype == dtype && view.contiguous() && view.rank == static_cast<int>(shape.size()) &&
         std::equal(shape.begin(), shape.end(), view.shape.begin());
}

ConvolutionExtents check_extents(std::string_view function, const CausalConvolution& c) {
  HEED_CHECK(c.x.rank == 3 && c.weight.rank == 2 && c.weight.shape[0] == c.x.shape[1] && c.weight.shape[1] >= 1 &&
                 c.x.dtype == c.weight.dtype && (c.x.dtype == DType::f32 || c.x.dtype == DType::f64) &&
                 c.x.contiguous() && c.weight.contiguous(),
             "{}: needs x [B, C, L] and weight [C, K], contiguous and f32 or f64, but got {} and {}", function,
             describe(c.x), describe(c.weight));
  const ConvolutionExtents e{c.x.shape[0], c.x.shape[1], c.x.shape[2], c.weight.shape[1]};
  check_vector(function, "bias", c.bias, c.x.dtype, e.channels);
  HEED_CHECK(is_like(c.state, c.x.dtype, {e.batch, e.channels, e.held()}),
             "{}: the state must be [B, C, K - 1] for x {} and weight {}, but is {}", function, describe(c.x),
             describe(c.weight), describe(c.state));
  return e;
}

void check_result(std::string_view function, std::string_view name, const ConstView& view, DType dtype,
                  std::initializer_list<Index> shape) {
  HEED_CHECK(is_like(view, dtype, shape), "{}: {} must be contiguous {} [{}], but is {}", function, name,
             name_of(dtype), fmt::join(shape, ", "), describe(view));
}

// One row (a sequence's channel): its inputs, and those before them.
template <typename T>
struct Past {
  const T* state;  // nullptr for zeros
  const T* x;
  Index held;
  T operator[](Index i) const { return i >= held ? x[i - held] : state != nullptr ? state[i] : T{0}; }
};

template <typename T>
Past<T> past_of(const CausalConvolution& c, const ConvolutionExtents& e, Index row) {
  return {c.state ? c.state.as<T>() + row * e.held() : nullptr, c.x.as<T>() + row * e.length, e.held()};
}

template <typename T>
void forward_row(const CausalConvolution& c, const ConvolutionExtents& e, Index row, const View& y,
                 const View& last_state) {
  const Past<T> past = past_of<T>(c, e, row);
  const T* weight = c.weight.as<T>() + row % e.channels * e.kernel;
  if (y) {
    T* out = y.as<T>() + row * e.length;
    std::fill_n(out, e.length, c.bias ? c.bias.as<T>()[row % e.channels] : T{0});
    for (Index j = 0; j < e.kernel; ++j) {
      const Index before = std::min(e.held() - j, e.length);  // outputs whose j-th input lies in the state
      for (Index l = 0; l < before; ++l) out[l] += weight[j] * past[l + j];
      const T* x = past.x;
      for (Index l = before; l < e.length; ++l) out[l] += weight[j] * x[l - (e.held() - j)];
    }
  }
  // In ascending order, so that a state may be moved up in place.
  if (last_state) {
    for (Index i = 0; i < e.held(); ++i) last_state.as<T>()[row * e.held() + i] = past[e.length + i];
  }
}

// The gradient of past[i]: what the outputs that read it hand back, and the last state.
template <typename T>
T past_gradient(const ConvolutionExtents& e, Index i, const T* weight, const T* dy, const T* dlast) {
  T sum = dlast != nullptr && i >= e.length ? dlast[i - e.length] : T{0};
  for (Index j = std::max<Index>(0, i - e.length + 1); j < e.kernel && j <= i; ++j) sum += weight[j] * dy[i - j];
  return sum;
}

template <typename T>
void backward_row(const CausalConvolution& c, const ConvolutionExtents& e, Index row, const ConstView& dy,
                  const ConstView& dlast_state, const CausalConvolutionGrad& grad) {
  const T* weight = c.weight.as<T>() + row % e.channels * e.kernel;
  const T* own_dy = dy.as<T>() + row * e.length;
  const T* dlast = dlast_state ? dlast_state.as<T>() + row * e.held() : nullptr;
  const auto at = [&](Index i) { return past_gradient(e, i, weight, own_dy, dlast); };
  if (grad.dstate) {
    for (Index i = 0; i < e.held(); ++i) grad.dstate.as<T>()[row * e.held() + i] = at(i);
  }
  if (grad.dx) {
    for (Index l = 0; l < e.length; ++l) grad.dx.as<T>()[row * e.length + l] = at(e.held() + l);
  }
}

// A channel's parameters, over the batch in order.
template <typename T>
void backward_channel(const CausalConvolution& c, const ConvolutionExtents& e, Index channel, const ConstView& dy,
                      const CausalConvolutionGrad& grad) {
  for (Index j = -1; j < e.kernel; ++j) {  // -1: the bias
    if (j < 0 ? grad.dbias.empty() : grad.dweight.empty()) continue;
    double sum = 0;
    for (Index b = 0; b < e.batch; ++b) {
      const Index row = b * e.channels + channel;
      const Past<T> past = past_of<T>(c, e, row);
      const T* own_dy = dy.as<T>() + row * e.length;
      for (Index l = 0; l < e.length; ++l)
        sum += static_cast<double>(own_dy[l]) * (j < 0 ? 1.0 : static_cast<double>(past[l + j]));
    }
    T& total = j < 0 ? grad.dbias.as<T>()[channel] : grad.dweight.as<T>()[channel * e.kernel + j];
    total += static_cast<T>(sum);
  }
}

// Calls body with a value of the type that the views have.
template <typename Body>
void as_type(DType dtype, const Body& body) {
  dtype == DType::f32 ? body(float{}) : body(double{});
}

}  // namespace

void causal_convolution(const CausalConvolution& c, View y, View last_state) {
  constexpr std::string_view kName = "causal_convolution";
  check_operands(kName, {{"x", c.x}, {"weight", c.weight}, {"bias", c.bias, kOptional}},
                 {{"y", y, kOptional}, {"last_state", last_state, kOptional}}, {{"the state", c.state, kOptional}});
  check_apart(kName, {"y", y}, {"the state", c.state});
  const ConvolutionExtents e = check_extents(kName, c);
  check_result(kName, "y", y, c.x.dtype, {e.batch, e.channels, e.length});
  check_result(kName, "last_state", last_state, c.x.dtype, {e.batch, e.channels, e.held()});
  as_type(c.x.dtype, [&]<typename T>(T) {
    parallel_for(e.rows(), e.rows_per_task(), [&](Index begin, Index end) {
      for (Index row = begin; row < end; ++row) forward_row<T>(c, e, row, y, last_state);
    });
  });
}

void causal_convolution_backward(const CausalConvolution& c, ConstView dy, ConstView dlast_state,
                                 const CausalConvolutionGrad& grad) {
  constexpr std::string_view kName = "causal_convolution_backward";
  check_operands(kName,
                 {{"x", c.x},
                  {"weight", c.weight},
                  {"bias", c.bias, kOptional},
                  {"the state", c.state, kOptional},
                  {"dy", dy},
                  {"dlast_state", dlast_state, kOptional}},
                 {{"dx", grad.dx, kOptional},
                  {"dstate", grad.dstate, kOptional},
                  {"dweight", grad.dweight, kOptional},
                  {"dbias", grad.dbias, kOptional}});
  const ConvolutionExtents e = check_extents(kName, c);
  HEED_CHECK(!dy.empty(), "{}: dy is empty", kName);
  check_result(kName, "dy", dy, c.x.dtype, {e.batch, e.channels, e.length});
  check_result(kName, "dlast_state", dlast_state, c.x.dtype, {e.batch, e.channels, e.held()});
  check_result(kName, "dx", grad.dx, c.x.dtype, {e.batch, e.channels, e.length});
  check_result(kName, "dstate", grad.dstate, c.x.dtype, {e.batch, e.channels, e.held()});
  check_result(kName, "dweight", grad.dweight, c.x.dtype, {e.channels, e.kernel});
  check_result(kName, "dbias", grad.dbias, c.x.dtype, {e.channels});
  as_type(c.x.dtype, [&]<typename T>(T) {
    parallel_for(e.rows(), e.rows_per_task(), [&](Index begin, Index end) {
      for (Index row = begin; row < end; ++row) backward_row<T>(c, e, row, dy, dlast_state, grad);
    });
    parallel_for(e.channels, e.rows_per_task(e.batch), [&](Index begin, Index end) {
      for (Index channel = begin; channel < end; ++channel) backward_channel<T>(c, e, channel, dy, grad);
    });
  });
}

}  // namespace heed
