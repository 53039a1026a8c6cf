// What Python calls of attention are asked with, as an AttentionSpec.
//
//   const AttentionSpec spec = make_spec("attention", options, q.view);   // options: heed/attention_calls.py
#pragma once

#include <pybind11/pybind11.h>

#include "heed/ops/attention/spec/spec.h"

namespace heed::python {

namespace py = pybind11;

// A bias as Python adds it up. ALiBi's own slopes are made when the heads are known.
struct BiasTerms {
  Bias bias{};
  bool alibi = false;  // with the slopes of Press et al. 2022

  // The bias for so many heads; `number` is the type of what is made.
  Bias of_heads(Index heads, DType number) const;
};

// Reads the nine values (score, bias, mask, normaliser, scale, soft_cap, dropout, sequences, scales), each of which may
// be None. A floating array in the place of a bias is a dense bias, a boolean one in that of a mask is a boolean mask;
// both may lack axes at the front. Throws heed::Error that names `caller`.
AttentionSpec make_spec(const char* caller, const py::tuple& options, const ConstView& q);

Mask make_mask(const char* caller, py::handle object);
BiasTerms make_bias(const char* caller, py::handle object);

}  // namespace heed::python
