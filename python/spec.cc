// The classes and makers of what attention is asked with.
#include <pybind11/functional.h>
#include <pybind11/stl.h>

#include <optional>
#include <string>
#include <utility>

#include "array.h"
#include "bindings.h"
#include "heed/base/check.h"
#include "spec_arguments.h"

namespace heed::python {
namespace {

Anchor anchor_of(const char* caller, const std::string& name) {
  if (name == "end") return Anchor::end;
  if (name == "start") return Anchor::start;
  if (name == "length") return Anchor::length;
  fail("{}: anchor must be 'end', 'start' or 'length', but is '{}'", caller, name);
}

// A value in Python, with the array that it was made of: heed.torch finds there what gets a gradient.
template <typename T>
py::object with_array(T value, const char* name, const py::object& array) {
  py::object made = py::cast(std::move(value));
  py::dict arrays;
  if (!array.is_none()) arrays[name] = array;
  made.attr("arrays") = arrays;
  return made;
}

// --- Scores and normalisers ------------------------------------------------------------------------------------------

// The names of the makers.
const char* kind_name(const Score& score) {
  switch (score.kind) {
    case Score::Kind::dot:
      return score.scale ? "dot" : "scaled_dot";
    case Score::Kind::additive:
      return "additive";
    case Score::Kind::cosine:
      return "cosine";
    case Score::Kind::squared_distance:
      return "squared_distance";
    case Score::Kind::feature_map:
      break;
  }
  switch (score.feature_map.kind) {
    case FeatureMap::Kind::elu_plus_one:
      return "elu";
    case FeatureMap::Kind::relu:
      return "relu";
    case FeatureMap::Kind::positive_random:
      return "performer";
  }
  return "";
}

const char* kind_name(const Normaliser& normaliser) {
  switch (normaliser.kind) {
    case Normaliser::Kind::softmax:
      return "softmax";
    case Normaliser::Kind::sigmoid:
      return "sigmoid";
    case Normaliser::Kind::sparsemax:
      return "sparsemax";
    case Normaliser::Kind::entmax15:
      return "entmax15";
    case Normaliser::Kind::sum:
      return "sum";
  }
  return "";
}

void add_scores(py::module_& m) {
  py::class_<Score>(m, "Score", py::dynamic_attr(),
                    "s(q, k), how well a query and a key agree. The scale is an argument of the call.")
      .def_property_readonly("kind", [](const Score& score) { return kind_name(score); })
      .def_property_readonly("scale", [](const Score& score) { return score.scale; });
  m.def(
      "scaled_dot", [] { return Score::scaled_dot(); },
      "q . k times the scale, 1 / sqrt(D) where it is not given (Vaswani et al. 2017, eq. 1): the default.");
  m.def("dot", &Score::dot, "q . k (Luong et al. 2015, section 3.1; his general with k projected first).");
  m.def(
      "additive",
      [](const py::object& vector) {
        return with_array(Score::additive(share_tensor("additive", "vector", vector)), "additive_vector", vector);
      },
      py::arg("vector"),
      "vector . tanh(q + k), q and k projected by the caller (Bahdanau et al. 2015, app. A.1.2).\n\n"
      "vector: [D], float32 (float64 where q is).");
  m.def(
      "cosine", [] { return Score::cosine(); },
      "q . k / (|q| |k|), norms of at least 1e-8, times the scale, 1 where it is not given (Graves et al. 2014, eq. "
      "6).");
  m.def(
      "squared_distance", [] { return Score::squared_distance(); },
      "-|q - k|^2 times the scale, 1 / sqrt(D) where it is not given (Kim et al. 2021).");
  m.def(
      "elu", [] { return Score::features({}); },
      "phi(q) . phi(k), phi(x) = elu(x) + 1: linear attention, under heed.sum() (Katharopoulos et al. 2020, eq. 7).");
  m.def(
      "relu",
      [] {
        return Score::features({FeatureMap::Kind::relu, {}});
      },
      "phi(q) . phi(k), phi(x) = max(x, 0): linear attention, under heed.sum().");
  m.def(
      "performer",
      [](const py::object& projection) {
        const Tensor shared = share_tensor("performer", "projection", projection);
        return with_array(Score::features({FeatureMap::Kind::positive_random, shared}), "projection", projection);
      },
      py::arg("projection"),
      "Positive random features, whose products have the expectation exp(scale q . k), under heed.sum() (Choromanski "
      "et al. 2021).\n\n"
      "projection: [M, D], float32 (float64 where q is): see random_features.");
  m.def(
      "random_features",
      [](Index features, Index width, std::uint64_t seed, bool f64) {
        const Tensor projection = Tensor::empty(f64 ? DType::f64 : DType::f32, {features, width});
        orthogonal_random_features(projection, seed);
        return Library().give(projection);
      },
      py::arg("features"), py::arg("width"), py::arg("seed") = 1, py::arg("f64") = false,
      "The projection of performer(), [features, width]: draws from N(0, 1), orthogonal within each block of `width` "
      "rows; the same for a seed everywhere.");

  py::class_<Normaliser>(m, "Normaliser", py::dynamic_attr(), "N, which makes the scores of a row its weights.")
      .def_property_readonly("kind", [](const Normaliser& normaliser) { return kind_name(normaliser); });
  m.def(
      "softmax",
      [](const py::object& sinks) {
        return with_array(Normaliser::softmax(share_tensor("softmax", "sinks", sinks)), "sinks", sinks);
      },
      py::arg("sinks") = py::none(),
      "Softmax: the default.\n\n"
      "sinks: [H], float32 (float64 where q is), a further logit for each head that takes weight and gives no value "
      "(Xiao et al. 2024; gpt-oss).");
  m.def("sigmoid", &Normaliser::sigmoid, "Each weight by itself: 1 / (1 + exp(-s)) (Ramapuram et al. 2024).");
  m.def("sparsemax", &Normaliser::sparsemax, "max(s - tau, 0), summing to one (Martins and Astudillo 2016).");
  m.def("entmax15", &Normaliser::entmax15, "max(s / 2 - tau, 0)^2, summing to one (Peters et al. 2019).");
  m.def("sum", &Normaliser::sum, "s / sum s: linear attention's. A row whose scores sum to zero has weights zero.");
}

// --- Biases ----------------------------------------------------------------------------------------------------------

template <typename T>
void add_part(const char* name, bool first, bool second, T& into, const T& from) {
  HEED_CHECK(!first || !second, "heed.Bias: both sides of + have a part of one kind: {}", name);
  if (second) into = from;
}

BiasTerms add(const BiasTerms& a, const BiasTerms& b) {
  BiasTerms sum = a;
  add_part("dense", bool{a.bias.dense}, bool{b.bias.dense}, sum.bias.dense, b.bias.dense);
  add_part("relative", bool{a.bias.relative.table}, bool{b.bias.relative.table}, sum.bias.relative, b.bias.relative);
  add_part("gaussian", bool{a.bias.gaussian.centre}, bool{b.bias.gaussian.centre}, sum.bias.gaussian, b.bias.gaussian);
  const bool alibi_a = a.alibi || a.bias.alibi, alibi_b = b.alibi || b.bias.alibi;
  add_part("alibi", alibi_a, alibi_b, sum.bias.alibi, b.bias.alibi);
  sum.alibi = a.alibi || b.alibi;
  return sum;
}

py::object add_in_python(const py::object& a, const py::object& b) {
  if (!py::isinstance<BiasTerms>(b)) return py::reinterpret_borrow<py::object>(Py_NotImplemented);
  py::object sum = py::cast(add(a.cast<const BiasTerms&>(), b.cast<const BiasTerms&>()));
  py::dict arrays;
  for (const py::object& side : {a, b}) arrays.attr("update")(side.attr("arrays"));
  sum.attr("arrays") = arrays;
  return sum;
}

void add_biases(py::module_& m) {
  py::class_<BiasTerms>(m, "Bias", py::dynamic_attr(),
                        "b, which is added to the scores after the soft-cap. Biases add up: `a + b`.")
      .def("__add__", &add_in_python)
      .def_property_readonly("bidirectional", [](const BiasTerms& terms) { return terms.bias.relative.bidirectional; })
      .def_property_readonly("max_distance", [](const BiasTerms& terms) { return terms.bias.relative.max_distance; })
      .def_property_readonly("sigma", [](const BiasTerms& terms) { return terms.bias.gaussian.sigma; })
      .def_property_readonly("has_alibi", [](const BiasTerms& terms) { return terms.alibi || terms.bias.alibi; });
  m.def(
      "dense",
      [](const py::object& bias) {
        BiasTerms terms;
        terms.bias.dense = with_leading_axes(share_tensor("dense", "bias", bias), 4);
        return with_array(terms, "bias", bias);
      },
      py::arg("bias"),
      "Any bias, [B|1, H|1, Lq|1, Lk|1] (axes may lack at the front), float32, bfloat16 or float16 (float64 where q "
      "is). -inf refuses a key: an additive mask is one of these.");
  m.def(
      "alibi",
      [](const py::object& slopes) {
        BiasTerms terms;
        terms.alibi = slopes.is_none();
        terms.bias.alibi = share_tensor("alibi", "slopes", slopes);
        return with_array(terms, "alibi", slopes);
      },
      py::arg("slopes") = py::none(),
      "-slope * |distance| (Press et al. 2022).\n\n"
      "slopes: [H], float32 (float64 where q is); the paper's where they are not given.");
  m.def(
      "relative",
      [](const py::object& table, bool bidirectional, Index max_distance) {
        BiasTerms terms;
        terms.bias.relative = {share_tensor("relative", "table", table), bidirectional, max_distance};
        return with_array(terms, "relative", table);
      },
      py::arg("table"), py::arg("bidirectional") = true, py::arg("max_distance") = 128,
      "T5's relative positions, a number for each bucket of distances and head (Raffel et al. 2020, section 2.1).\n\n"
      "table: [buckets, H], float32 (float64 where q is).");
  m.def(
      "gaussian",
      [](const py::object& centre, double sigma) {
        BiasTerms terms;
        terms.bias.gaussian = {share_tensor("gaussian", "centre", centre), sigma};
        return with_array(terms, "centre", centre);
      },
      py::arg("centre"), py::arg("sigma") = 1.0,
      "-(j - centre)^2 / (2 sigma^2) (Luong et al. 2015, eq. 10).\n\n"
      "centre: key positions [B|1, H|1, Lq], float32 (float64 where q is).");
}

// --- Masks -----------------------------------------------------------------------------------------------------------

// A Python function that is asked from any thread.
Mask predicate_mask(py::function allows) {
  const std::shared_ptr<void> held = hold(std::move(allows));
  return Mask::predicate([held](Index b, Index h, Index i, Index j) {
    const py::gil_scoped_acquire lock;
    return py::bool_(py::handle(static_cast<PyObject*>(held.get()))(b, h, i, j)).cast<bool>();  // as `if` sees it
  });
}

// What the mask says of every query and key.
py::object mask_array(const Mask& mask, Index batch, Index heads, Index queries, Index keys) {
  for (const Index extent : {batch, heads, queries, keys}) {
    HEED_CHECK(extent >= 0, "Mask.array: extents must not be negative, but are {}, {}, {} and {}", batch, heads,
               queries, keys);
  }
  const Tensor allowed = Tensor::empty(DType::boolean, {batch, heads, queries, keys});
  {
    const py::gil_scoped_release unlocked;  // a predicate asks for it
    const MaskRows rows(mask, {batch, heads, queries, keys}, "Mask.array");
    auto* row = allowed.data<std::uint8_t>();
    for (Index b = 0; b < batch; ++b)
      for (Index h = 0; h < heads; ++h)
        for (Index i = 0; i < queries; ++i, row += keys) {
          for (Index j = 0; j < keys; ++j) row[j] = rows.allows(b, h, i, j) ? 1 : 0;
        }
  }
  return Library().give(allowed);
}

void add_intervals(py::module_& m) {
  m.def(
      "causal", [](const std::string& anchor) { return Mask::causal(anchor_of("causal", anchor)); },
      py::arg("anchor") = "end",
      "No key after the query.\n\n"
      "anchor: where the queries stand: 'end', the last query at the last key (FlashAttention, a cache); 'start', "
      "query i at key i (PyTorch); 'length', the last query at the last key within key_lengths.");
  m.def(
      "window",
      [](std::optional<Index> left, std::optional<Index> right, const std::string& anchor) {
        return Mask::sliding_window(left, right, anchor_of("window", anchor));
      },
      py::arg("left"), py::arg("right"), py::arg("anchor") = "end",
      "Keys from `left` before the query to `right` after it; None is no bound (Beltagy et al. 2020, section 3.1).");
  m.def(
      "around",
      [](const py::object& centre, Index radius) {
        return Mask::around(share_tensor("around", "centre", centre), radius);
      },
      py::arg("centre"), py::arg("radius"),
      "Keys within `radius` of a position for each query (Luong et al. 2015, section 3.2).\n\n"
      "centre: [B|1, H|1, Lq], float32, float64, int32 or int64.");
  m.def(
      "prefix",
      [](const py::object& lengths, const std::string& anchor) {
        return Mask::prefix_lm(share_tensor("prefix", "lengths", lengths), anchor_of("prefix", anchor));
      },
      py::arg("lengths"), py::arg("anchor") = "end",
      "Causal, but for the first keys, which every query sees (prefix-LM; Raffel et al. 2020, fig. 3).\n\n"
      "lengths: [B], int32 or int64.");
  m.def(
      "key_lengths",
      [](const py::object& lengths) { return Mask::key_lengths(share_tensor("key_lengths", "lengths", lengths)); },
      py::arg("lengths"), "Keys from lengths[b] on are padding.\n\nlengths: [B], int32 or int64.");
}

void add_patterns(py::module_& m) {
  m.def(
      "boolean",
      [](const py::object& allowed) {
        return Mask::boolean(with_leading_axes(share_tensor("boolean", "allowed", allowed), 4));
      },
      py::arg("allowed"), "allowed: bool [B|1, H|1, Lq|1, Lk|1] (axes may lack at the front); True means attend.");
  m.def(
      "segments",
      [](const py::object& of_queries, const py::object& of_keys) {
        const Tensor queries = share_tensor("segments", "of_queries", of_queries);
        return Mask::segments(queries, of_keys.is_none() ? queries : share_tensor("segments", "of_keys", of_keys));
      },
      py::arg("of_queries"), py::arg("of_keys") = py::none(),
      "Documents in one row: a query sees the keys of its own.\n\n"
      "of_queries, of_keys: [B|1, Lq] and [B|1, Lk], int32 or int64; of_keys is of_queries where it is not given.");
  m.def(
      "strided", [](Index stride) { return Mask::strided({stride}); }, py::arg("stride"),
      "The `stride` positions around the query and every stride-th one (Child et al. 2019, section 4.3).");
  m.def(
      "fixed",
      [](Index block, Index summary) {
        return Mask::fixed({block, summary});
      },
      py::arg("block"), py::arg("summary") = 1,
      "The query's own block and the last `summary` positions of every block (Child et al. 2019, section 4.3).");
  m.def(
      "longformer",
      [](Index radius, Index global_positions, Index dilation) {
        return Mask::longformer({radius, global_positions, dilation});
      },
      py::arg("radius"), py::arg("global_positions") = 0, py::arg("dilation") = 1,
      "Keys within radius * dilation, every dilation-th one; the first `global_positions` see and are seen by all "
      "(Beltagy et al. 2020). A dilated window is one of these.");
  m.def(
      "bigbird",
      [](Index block, Index window, Index global_blocks, Index random, Index positions, std::uint64_t seed) {
        return Mask::bigbird({block, window, global_blocks, random, positions, seed});
      },
      py::arg("block") = 64, py::arg("window") = 3, py::arg("global_blocks") = 1, py::arg("random") = 3,
      py::arg("positions") = 4096, py::arg("seed") = 0,
      "Blocks: `window` (odd) around the query's own, global ones, and random ones (Zaheer et al. 2020).");
  m.def(
      "tiles",
      [](const py::object& open, Index rows, Index keys) {
        return Mask::tiles(share_tensor("tiles", "open", open), rows, keys);
      },
      py::arg("open"), py::arg("rows"), py::arg("keys"),
      "Tiles of rows x keys that are open whole.\n\nopen: bool [H|1, ceil(Lq / rows), ceil(Lk / keys)].");
  m.def("predicate", &predicate_mask, py::arg("allows"),
        "Whatever allows(b, h, i, j) says. It is asked often, and each time takes Python's lock: for small problems.");
}

void add_masks(py::module_& m) {
  py::class_<Mask>(m, "Mask", py::dynamic_attr(), "Which keys a query may attend to. Masks intersect: `a & b`.")
      .def(
          "__and__", [](const Mask& a, const Mask& b) { return a & b; }, py::is_operator())
      .def("array", &mask_array, py::arg("batch"), py::arg("heads"), py::arg("queries"), py::arg("keys"),
           "The mask of a problem as a NumPy array, bool [batch, heads, queries, keys]: True means attend.");
  add_intervals(m);
  add_patterns(m);
}

// --- The rest --------------------------------------------------------------------------------------------------------

void add_calls(py::module_& m) {
  py::class_<Dropout>(
      m, "Dropout",
      "Weights are zeroed with this probability and the rest divided by 1 - probability. What is kept is a pure "
      "function of (seed, stream, b, h, i, j): a backward call draws the same.")
      .def(py::init([](double probability, std::uint64_t seed, std::uint64_t stream) {
             return Dropout{probability, seed, stream};
           }),
           py::arg("probability"), py::arg("seed") = 0, py::arg("stream") = 0)
      .def_readonly("probability", &Dropout::probability)
      .def_readonly("seed", &Dropout::seed)
      .def_readonly("stream", &Dropout::stream);
  py::class_<Sequences>(m, "Sequences", py::dynamic_attr(), "Where sequences lie, if not one to a batch element.");
  m.def(
      "packed",
      [](const py::object& query_offsets, const py::object& key_offsets) {
        Sequences sequences;
        sequences.query_offsets = share_tensor("packed", "query_offsets", query_offsets);
        sequences.key_offsets =
            key_offsets.is_none() ? sequences.query_offsets : share_tensor("packed", "key_offsets", key_offsets);
        return sequences;
      },
      py::arg("query_offsets"), py::arg("key_offsets") = py::none(),
      "Sequences of unequal length one after another in a batch of 1: sequence n is rows offsets[n] to offsets[n + "
      "1].\n\n"
      "query_offsets, key_offsets: [N + 1], int32 or int64; one serves both where the other is not given.");
  m.def(
      "paged",
      [](const py::object& pages) {
        Sequences sequences;
        sequences.pages = share_tensor("paged", "pages", pages);
        return sequences;
      },
      py::arg("pages"),
      "A paged cache: k and v are pools [pages, Hk, page, D], and key j of batch element b is row j % page of page "
      "pages[b, j // page]. Forward only.\n\n"
      "pages: [B, P], int32 or int64.");
}

}  // namespace

void add_spec(py::module_& module) {
  add_scores(module);
  add_biases(module);
  add_masks(module);
  add_calls(module);
}

}  // namespace heed::python
