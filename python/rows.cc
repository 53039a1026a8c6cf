// What stands beside attention: rotary positions, and merging over split keys.
#include <pybind11/stl.h>

#include <optional>
#include <string>
#include <utility>

#include "array.h"
#include "bindings.h"
#include "heed/base/check.h"
#include "heed/base/parallel.h"
#include "heed/ops/attention/merge.h"
#include "heed/ops/rotary/rotary.h"
#include "heed/tensor/quantise_rows.h"

namespace heed::python {
namespace {

RotaryPairing pairing_of(const char* caller, const std::string& name) {
  if (name == "halves") return RotaryPairing::halves;
  if (name == "interleaved") return RotaryPairing::interleaved;
  fail("{}: pairing must be 'halves' or 'interleaved', but is '{}'", caller, name);
}

DType table_type(const std::string& name) {
  for (const DType dtype : {DType::f32, DType::f64, DType::f16}) {
    if (name == name_of(dtype)) return dtype;
  }
  fail("rotary_tables: dtype must be 'f32', 'f64' or 'f16', but is '{}'", name);
}

py::tuple make_rotary_tables(Index positions, Index width, double base, const RotaryScaling& scaling,
                             const std::string& dtype) {
  const RotaryTables tables =
      rotary_tables({.width = width, .base = base, .scaling = scaling}, positions, table_type(dtype));
  const Library numpy;
  return py::make_tuple(numpy.give(tables.cos), numpy.give(tables.sin));
}

// Both directions take the same arguments.
using Turn = void (*)(ConstView, const RotaryAngles&, RotaryPairing, View);

template <Turn turn>
py::object call_turn(const char* caller, const py::object& x, const py::object& cos, const py::object& sin,
                     const py::object& positions, Index offset, const std::string& pairing, const py::object& out) {
  const SharedArray given = share(caller, "x", x);
  const SharedArray cosines = share(caller, "cos", cos), sines = share(caller, "sin", sin);
  const Tensor places = share_tensor(caller, "positions", positions);
  const SharedArray written = out.is_none() ? SharedArray{} : share_writable(caller, "out", out);
  const Tensor made = out.is_none() ? Tensor::empty_like(given.view) : Tensor();
  const RotaryAngles angles{cosines.view, sines.view, places.view(), offset};
  const RotaryPairing pairs = pairing_of(caller, pairing);
  {
    const py::gil_scoped_release unlocked;
    turn(given.view, angles, pairs, out.is_none() ? made.view() : written.view);
  }
  return out.is_none() ? Library::of(x).give(made) : out;
}

void add_rotary(py::module_& m) {
  py::class_<RotaryScaling>(m, "RotaryScaling", "How a model reads longer texts than it was trained on.")
      .def(py::init<>())
      .def_static("linear", &RotaryScaling::linear, py::arg("factor"), "Position interpolation (Chen et al. 2023).")
      .def_static("ntk", &RotaryScaling::ntk, py::arg("factor"), "A larger base: the fastest pair turns as before.")
      .def_static("llama3", &RotaryScaling::llama3, py::arg("factor"), py::arg("original_length"),
                  py::arg("slow_turns") = 1.0, py::arg("fast_turns") = 4.0, "Llama 3.1's.")
      .def_static("yarn", &RotaryScaling::yarn, py::arg("factor"), py::arg("original_length"),
                  py::arg("slow_turns") = 1.0, py::arg("fast_turns") = 32.0, "YaRN (Peng et al. 2023).")
      .def_static("longrope", &RotaryScaling::longrope, py::arg("factors"), py::arg("attention_factor") = 1.0,
                  "LongRoPE (Ding et al. 2024): a factor for each pair.");
  m.def("rotary_tables", &make_rotary_tables, py::arg("positions"), py::arg("width"), py::arg("base") = 10000.0,
        py::arg("scaling") = RotaryScaling{}, py::arg("dtype") = "f32",
        "(cos, sin) of every position's angles, NumPy arrays [positions, width / 2].\n\n"
        "width: the features of a row that turn, even. dtype: 'f32', 'f64' or 'f16'.");
  const auto add = [&](const char* name, auto function, const char* doc) {
    m.def(name, function, py::arg("x"), py::arg("cos"), py::arg("sin"), py::kw_only(),
          py::arg("positions") = py::none(), py::arg("offset") = 0, py::arg("pairing") = "halves",
          py::arg("out") = py::none(), doc);
  };
  add(
      "rotary",
      [](const py::object& x, const py::object& cos, const py::object& sin, const py::object& positions, Index offset,
         const std::string& pairing,
         const py::object& out) { return call_turn<&rotary>("rotary", x, cos, sin, positions, offset, pairing, out); },
      "Turns x [B, H, L, D] by its positions (Su et al. 2021), features from the tables' width on are copied.\n\n"
      "cos, sin: rotary_tables(), or gathered already, [B|1, L, R / 2]. positions: [B|1, L], int32 or int64; row i "
      "is at\n"
      "`offset` + i where they are not given. pairing: 'halves' (GPT-NeoX, Llama) or 'interleaved' (GPT-J). out may "
      "be x.");
  add(
      "rotary_backward",
      [](const py::object& x, const py::object& cos, const py::object& sin, const py::object& positions, Index offset,
         const std::string& pairing, const py::object& out) {
        return call_turn<&rotary_backward>("rotary_backward", x, cos, sin, positions, offset, pairing, out);
      },
      "The gradient of rotary()'s x from that of its result: the turn back.");
}

py::tuple merge(const py::object& out_a, const py::object& lse_a, const py::object& out_b, const py::object& lse_b) {
  const char* caller = "merge";
  const SharedArray a = share(caller, "out of the first part", out_a), b = share(caller, "out of the second", out_b);
  const SharedArray stat_a = share(caller, "lse of the first part", lse_a);
  const SharedArray stat_b = share(caller, "lse of the second", lse_b);
  const Tensor out = Tensor::empty_like(a.view), lse = Tensor::empty_like(stat_a.view);
  {
    const py::gil_scoped_release unlocked;
    merge_attention({a.view, stat_a.view}, {b.view, stat_b.view}, {.out = out, .row_stat = lse});
  }
  const Library library = Library::of(out_a);
  return py::make_tuple(library.give(out), library.give(lse));
}

py::tuple quantise(const py::object& x) {
  const SharedArray rows = share("quantise_rows", "x", x);
  const View& view = rows.view;
  HEED_CHECK(view.rank == 4, "quantise_rows: x must be [batch, heads, length, width], but is {}", describe(view));
  const Tensor integers = Tensor::empty(DType::i8, {view.shape[0], view.shape[1], view.shape[2], view.shape[3]});
  const Tensor scales = Tensor::empty(DType::f32, {view.shape[0], view.shape[1], view.shape[2]});
  {
    const py::gil_scoped_release unlocked;
    quantise_rows(view, integers, scales);
  }
  const Library library = Library::of(x);
  return py::make_tuple(library.give(integers), library.give(scales));
}

}  // namespace

void add_rows(py::module_& module) {
  add_rotary(module);
  module.def(
      "merge", &merge, py::arg("out_a"), py::arg("lse_a"), py::arg("out_b"), py::arg("lse_b"),
      "(out, lse) of attention over two disjoint sets of keys, from what attention gave of each (Dao et al. 2022, "
      "section 3.1); exact, under a softmax.\n\n"
      "out: [B, H, Lq, Dv]; lse: [B, H, Lq], of return_lse.");
  module.def(
      "quantise_rows", &quantise, py::arg("x"),
      "(int8 [B, H, L, D], scales float32 [B, H, L]) of x [B, H, L, D]: keys and values for a cache of 8 bits, and "
      "what attention()'s `scales` takes.");
  module.def("threads", &thread_count, "How many threads compute.");
  module.def("set_threads", &set_thread_count, py::arg("threads"), "Sets how many threads compute, from 1 to 1024.");
}

}  // namespace heed::python
