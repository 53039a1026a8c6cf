// attention, its gradients and its weights on arrays of any library. What their arguments mean is told where Python
// users read it, in heed/attention_calls.py.
#include "heed/ops/attention/attention.h"

#include <pybind11/stl.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <string>
#include <vector>

#include "array.h"
#include "bindings.h"
#include "heed/base/check.h"
#include "heed/ops/attention/double_backward.h"
#include "heed/ops/attention/problem/attention_problem.h"
#include "spec_arguments.h"

namespace heed::python {
namespace {

DType number_of(const ConstView& q) { return q.dtype == DType::f64 ? DType::f64 : DType::f32; }

// Extents of keys: of a paged cache, those of its pages.
Index keys_of(const ConstView& k, const AttentionSpec& spec) {
  const View& pages = spec.sequences.pages.view();
  return pages ? pages.shape[1] * k.shape[2] : k.shape[2];
}

struct Operands {
  SharedArray q, k, v;

  Operands(const char* caller, py::handle q_array, py::handle k_array, py::handle v_array)
      : q(share(caller, "q", q_array)), k(share(caller, "k", k_array)), v(share(caller, "v", v_array)) {
    // Results are made before the call checks the rest.
    HEED_CHECK(q.view.rank == 4 && k.view.rank == 4 && v.view.rank == 4,
               "{}: q, k and v must be [batch, heads, length, width], but are {}, {} and {}", caller, describe(q.view),
               describe(k.view), describe(v.view));
  }
};

ScoreStage stage_of(const char* caller, const std::string& name) {
  if (name == "raw") return ScoreStage::raw;
  if (name == "capped") return ScoreStage::capped;
  if (name == "masked") return ScoreStage::masked;
  fail("{}: return_scores must be 'raw', 'capped' or 'masked', but is '{}'", caller, name);
}

py::object call_attention(const py::object& q, const py::object& k, const py::object& v, const py::tuple& options,
                          const py::object& out, bool return_lse, bool return_weights,
                          const py::object& return_scores) {
  const char* caller = "attention";
  const Operands given(caller, q, k, v);
  const ConstView &qs = given.q.view, &ks = given.k.view;
  const AttentionSpec spec = make_spec(caller, options, qs);
  const Library library = Library::of(q);
  Tensor made, lse, weights, scores;
  AttentionResult result;
  SharedArray written;
  if (out.is_none()) {
    made = Tensor::empty(qs.dtype, {qs.shape[0], qs.shape[1], qs.shape[2], given.v.view.shape[3]});
    result.out = made;
  } else {
    written = share_writable(caller, "out", out);
    result.out = written.view;
  }
  if (return_lse) result.row_stat = lse = Tensor::empty(number_of(qs), {qs.shape[0], qs.shape[1], qs.shape[2]});
  const auto square = [&] {
    return Tensor::empty(qs.dtype, {qs.shape[0], qs.shape[1], qs.shape[2], keys_of(ks, spec)});
  };
  if (return_weights) result.weights = weights = square();
  if (!return_scores.is_none()) {
    result.score_stage = stage_of(caller, py::str(return_scores));
    result.scores = scores = square();
  }
  {
    const py::gil_scoped_release unlocked;
    Workspace workspace;
    attention(qs, ks, given.v.view, spec, result, workspace);
  }
  const py::object first = out.is_none() ? library.give(made) : out;
  if (!lse && !weights && !scores) return first;
  py::list results;
  results.append(first);
  for (const Tensor& tensor : {lse, weights, scores}) {
    if (tensor) results.append(library.give(tensor));
  }
  return py::tuple(results);
}

// The tensor of the spec that a name of `wanted` means, and where its gradient goes.
struct Learned {
  const Tensor& parameter;
  View& gradient;
};

Learned learned_by(const std::string& name, const AttentionSpec& spec, AttentionGrad& grad) {
  if (name == "bias") return {spec.bias.dense, grad.dbias};
  if (name == "additive_vector") return {spec.score.additive_vector, grad.dadditive_vector};
  if (name == "sinks") return {spec.normaliser.sinks, grad.dsinks};
  if (name == "relative") return {spec.bias.relative.table, grad.drelative};
  if (name == "centre") return {spec.bias.gaussian.centre, grad.dcentre};
  fail("attention_backward: wanted may have q, k, v, bias, additive_vector, sinks, relative and centre, but has '{}'",
       name);
}

py::dict call_attention_backward(const py::object& q, const py::object& k, const py::object& v, const py::object& out,
                                 const py::object& lse, const py::object& dout, const py::object& dlse,
                                 const py::tuple& options, const std::vector<std::string>& wanted) {
  const char* caller = "attention_backward";
  const Operands given(caller, q, k, v);
  const AttentionSpec spec = make_spec(caller, options, given.q.view);
  const SharedArray outs = share(caller, "out", out), stats = share(caller, "lse", lse);
  const SharedArray douts = share(caller, "dout", dout);
  const SharedArray dstats = dlse.is_none() ? SharedArray{} : share(caller, "dlse", dlse);
  AttentionGrad grad;
  std::vector<std::pair<std::string, Tensor>> made;
  for (const std::string& name : wanted) {
    if (name == "q" || name == "k" || name == "v") {
      const ConstView& like = name == "q" ? given.q.view : name == "k" ? given.k.view : given.v.view;
      View& gradient = name == "q" ? grad.dq : name == "k" ? grad.dk : grad.dv;
      made.emplace_back(name, Tensor::empty_like(like));
      gradient = made.back().second;
      continue;
    }
    const Learned learned = learned_by(name, spec, grad);
    HEED_CHECK(learned.parameter, "{}: the gradient of '{}' is wanted, but the call has none", caller, name);
    ConstView like = learned.parameter.view();
    like.dtype = number_of(given.q.view);
    made.emplace_back(name, Tensor::zeros_like(like));
    learned.gradient = made.back().second;
  }
  {
    const py::gil_scoped_release unlocked;
    Workspace workspace;
    attention_backward(given.q.view, given.k.view, given.v.view, spec,
                       {.out = outs.view, .row_stat = stats.view, .dout = douts.view, .drow_stat = dstats.view}, grad,
                       workspace);
  }
  const Library library = Library::of(q);
  py::dict gradients;
  for (const auto& [name, tensor] : made) gradients[py::str(name)] = library.give(tensor);
  return gradients;
}

py::tuple call_double_backward(const py::object& q, const py::object& k, const py::object& v, const py::object& lse,
                               const py::object& dout, const py::object& ddq, const py::object& ddk,
                               const py::object& ddv, const py::tuple& options) {
  const char* caller = "attention_double_backward";
  const Operands given(caller, q, k, v);
  const AttentionSpec spec = make_spec(caller, options, given.q.view);
  const SharedArray stats = share(caller, "lse", lse), douts = share(caller, "dout", dout);
  const auto optional = [&](const char* name, const py::object& array) {
    return array.is_none() ? SharedArray{} : share(caller, name, array);
  };
  const SharedArray ddqs = optional("ddq", ddq), ddks = optional("ddk", ddk), ddvs = optional("ddv", ddv);
  const Tensor dq = Tensor::empty_like(given.q.view), dk = Tensor::empty_like(given.k.view),
               dv = Tensor::empty_like(given.v.view), ddout = Tensor::empty_like(douts.view);
  {
    const py::gil_scoped_release unlocked;
    attention_double_backward(given.q.view, given.k.view, given.v.view, spec,
                              {.row_stat = stats.view, .dout = douts.view}, {ddqs.view, ddks.view, ddvs.view},
                              {dq, dk, dv, ddout});
  }
  const Library library = Library::of(q);
  return py::make_tuple(library.give(dq), library.give(dk), library.give(dv), library.give(ddout));
}

py::object call_attention_weights(const py::object& q, const py::object& k, const py::object& lse,
                                  const std::vector<Index>& heads, const std::vector<Index>& rows,
                                  const py::tuple& options) {
  const char* caller = "attention_weights";
  const Operands given(caller, q, k, k);
  const ConstView& qs = given.q.view;
  const AttentionSpec spec = make_spec(caller, options, qs);
  const SharedArray stats = share(caller, "lse", lse);
  const auto extent = [](const std::vector<Index>& chosen, Index all) {
    return chosen.empty() ? all : static_cast<Index>(chosen.size());
  };
  const Tensor weights = Tensor::empty(
      qs.dtype, {qs.shape[0], extent(heads, qs.shape[1]), extent(rows, qs.shape[2]), keys_of(given.k.view, spec)});
  {
    const py::gil_scoped_release unlocked;
    Workspace workspace;
    attention_weights(qs, given.k.view, spec, stats.view, weights, workspace, {.heads = heads, .rows = rows});
  }
  return Library::of(q).give(weights);
}

std::string call_explain(const py::object& q, const py::object& k, const py::object& v, const py::tuple& options) {
  const Operands given("explain", q, k, v);
  return explain(given.q.view, given.k.view, given.v.view, make_spec("explain", options, given.q.view));
}

// The seconds of a call without Python around it: the least of so many, into an array that is there.
double time_attention(const py::object& q, const py::object& k, const py::object& v, const py::tuple& options,
                      const py::object& out, Index calls) {
  const char* caller = "time_attention";
  const Operands given(caller, q, k, v);
  const AttentionSpec spec = make_spec(caller, options, given.q.view);
  const SharedArray written = share_writable(caller, "out", out);
  const py::gil_scoped_release unlocked;
  double least = std::numeric_limits<double>::infinity();
  for (Index call = 0; call < calls; ++call) {
    const auto begin = std::chrono::steady_clock::now();
    Workspace workspace;
    attention(given.q.view, given.k.view, given.v.view, spec, {.out = written.view}, workspace);
    least = std::min(least, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  return least;
}

// What a bias adds to the scores, f64 [B, H, Lq, Lk].
py::object bias_array(const py::object& bias, const py::object& mask, const std::vector<Index>& extents) {
  const char* caller = "bias_array";
  HEED_CHECK(extents.size() == 4, "{}: needs batch, heads, queries and keys, but got {} extents", caller,
             extents.size());
  const MaskShape shape{extents[0], extents[1], extents[2], extents[3]};
  const Tensor sum = Tensor::zeros(DType::f64, {shape.batch, shape.heads, shape.queries, shape.keys});
  const MaskRows mask_rows(make_mask(caller, mask), shape, caller);
  const BiasRows rows(make_bias(caller, bias).of_heads(shape.heads, DType::f64), mask_rows, shape, DType::f64, caller);
  for (Index b = 0; b < shape.batch && rows.active(); ++b)
    for (Index h = 0; h < shape.heads; ++h)
      for (Index i = 0; i < shape.queries; ++i) rows.add(b, h, i, {0, shape.keys}, &sum.at<double>({b, h, i, 0}));
  return Library().give(sum);
}

// What dropout multiplies the weights by, f64 [B, H, Lq, Lk].
py::object dropout_array(const Dropout& dropout, Index batch, Index heads, Index queries, Index keys) {
  const Tensor factors = Tensor::empty(DType::f64, {batch, heads, queries, keys});
  const DropoutMask mask(dropout);
  auto* factor = factors.data<double>();
  for (Index b = 0; b < batch; ++b)
    for (Index h = 0; h < heads; ++h)
      for (Index i = 0; i < queries; ++i) {
        const DropoutRow row = mask.row(b, h, i);
        for (Index j = 0; j < keys; ++j) *factor++ = row.keeps(j) ? mask.scale() : 0;
      }
  return Library().give(factors);
}

}  // namespace

void add_attention(py::module_& module) {
  module.def("attention", &call_attention);
  module.def("attention_backward", &call_attention_backward);
  module.def("attention_double_backward", &call_double_backward);
  module.def("attention_weights", &call_attention_weights);
  module.def("explain", &call_explain);
  module.def("time_attention", &time_attention);
  module.def("bias_array", &bias_array);
  module.def("dropout_array", &dropout_array);
}

}  // namespace heed::python
