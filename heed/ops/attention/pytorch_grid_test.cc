// PyTorch's grids for scaled_dot_product_attention on the CPU (tests/data/pytorch/grids.json: shapes, types,
// tolerances), on every plan that takes the case, forward and backward, against one head by the book in double.
//
// What is left out, and why: the grids take minutes on one core, most of it in the double loops here.
// - Fused against math: of the 64 combinations and 4 types, a few in which every pair of values occurs.
// - The truth is computed for the first and the last head of a batch; heads do not meet where there are no groups.
// - The reference plan takes the cases of at most kFloatWork multiply-adds (f64: kDoubleWork) for q k^T.
// "train" is always both: a forward pass alone must give the bits of the one that a backward pass follows.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "heed/base/random.h"
#include "heed/io/json.h"
#include "heed/ops/attention/attention.h"
#include "heed/ops/attention/plans/plan.h"
#include "heed/testing/covering.h"
#include "heed/testing/data_folder.h"
#include "heed/testing/gradient_check.h"
#include "heed/testing/not_finite.h"

namespace heed {
namespace {

using testing::Combination;
using testing::covering;
using testing::gradient_error;
using testing::kInfinity;
using testing::random_tensor;
using testing::same_bits;
using testing::weighted_sum;

constexpr Index kFloatWork = 6'000'000, kDoubleWork = 40'000'000;

DType dtype_of(const std::string& name) {
  return name == "float64" ? DType::f64 : name == "float32" ? DType::f32 : name == "float16" ? DType::f16 : DType::bf16;
}

struct Tolerance {
  double absolute, relative;
};

// Of the output, and of the gradients; no gradients where nothing is said of them.
struct Tolerances {
  Tolerance out;
  std::optional<Tolerance> gradients = {};
  std::optional<Tolerance> out_of_rounded = {};  // of plans that round weights to bf16, where that is another
};

Tolerance default_tolerance(const Json& pytorch, const std::string& dtype) {
  const Json stated = pytorch["default_tolerances"][dtype];
  return {stated["atol"].number(), stated["rtol"].number()};
}

Tolerance fused_tolerance(const Json& pytorch, const std::string& dtype) {
  const std::vector<double> stated = pytorch["sdpa_cpu_fused_vs_math"]["tolerance"][dtype].number_list();
  return {stated.at(0), stated.at(1)};
}

// One call of scaled_dot_product_attention, and the gradient of its output.
struct Call {
  Tensor q, k, v, dout;
  Tensor mask;  // [B|1, H|1, L|1, S|1]: boolean (true attends), or added; empty: none
  bool causal = false;
  double dropout = 0, scale = 0;  // scale 0: 1 / sqrt(E)

  Call(DType dtype, Index batch, Index heads, Index queries, Index keys, Index width)
      : q(random_tensor(dtype, {batch, heads, queries, width}, 1)),
        k(random_tensor(dtype, {batch, heads, keys, width}, 2)),
        v(random_tensor(dtype, {batch, heads, keys, width}, 3)),
        dout(random_tensor(dtype, {batch, heads, queries, width}, 4)) {}

  Index work() const { return q.size() * k.dim(2); }
  AttentionSpec spec() const {
    AttentionSpec spec{.dropout = {.probability = dropout, .seed = 5, .stream = 6}};
    if (scale != 0) spec.score.scale = scale;
    if (causal) spec.mask = Mask::causal(Anchor::start);
    if (mask.is_empty()) return spec;
    mask.dtype() == DType::boolean ? void(spec.mask = spec.mask & Mask::boolean(mask)) : void(spec.bias.dense = mask);
    return spec;
  }
};

Tensor fair_booleans(std::initializer_list<Index> shape, std::uint64_t seed) {
  Tensor tensor = Tensor::zeros(DType::boolean, shape);
  Rng rng(seed);
  for (Index i = 0; i < tensor.size(); ++i) tensor.data<std::uint8_t>()[i] = rng.below(2) != 0;
  return tensor;
}

// Rows of one head, in double.
struct Rows {
  Index width = 0;
  std::vector<double> data;
  double* at(Index row) { return data.data() + row * width; }
};

Rows rows_of(const Tensor& tensor, Index b, Index h) {
  const Tensor head = Tensor::copy_of(select(select(tensor.view(), 0, b), 0, h)).to(DType::f64);
  return {tensor.dim(3), {head.data<double>(), head.data<double>() + head.size()}};
}

double dot(const double* x, const double* y, Index count) {
  double sum = 0;
  for (Index d = 0; d < count; ++d) sum += x[d] * y[d];
  return sum;
}

void add(double factor, const double* x, Index count, double* y) {
  for (Index d = 0; d < count; ++d) y[d] += factor * x[d];
}

// P = softmax(scale q k^T + mask), O = dropout(P) V, and the gradients, of one head. A row without a key is zero.
class BookHead {
 public:
  BookHead(const Call& call, Index batch, Index head)
      : b(batch),
        h(head),
        out(rows_of(call.dout, b, h)),
        dq(rows_of(call.q, b, h)),
        dk(rows_of(call.k, b, h)),
        dv(rows_of(call.v, b, h)),
        call_(call),
        q_(dq),
        k_(dk),
        v_(dv),
        dout_(out) {
    for (Rows* rows : {&out, &dq, &dk, &dv}) std::ranges::fill(rows->data, 0.0);
    mask_ = call.mask.is_empty() || call.mask.dtype() == DType::boolean ? call.mask : call.mask.to(DType::f64);
    for (Index i = 0; i < call.q.dim(2); ++i) add_row(i);
  }

  const Index b, h;
  Rows out, dq, dk, dv;

 private:
  double added(Index i, Index j) const {
    if (call_.causal && j > i) return -kInfinity;
    if (mask_.is_empty()) return 0;
    const auto along = [&](int axis, Index index) { return mask_.dim(axis) == 1 ? 0 : index; };
    const Index at = mask_.view().offset({along(0, b), along(1, h), along(2, i), along(3, j)});
    if (mask_.dtype() == DType::boolean) return mask_.data<std::uint8_t>()[at] != 0 ? 0 : -kInfinity;
    return mask_.data<double>()[at];
  }

  void add_row(Index i) {
    const Index keys = call_.k.dim(2);
    const double scale = call_.scale != 0 ? call_.scale : 1 / std::sqrt(static_cast<double>(q_.width));
    std::vector<double> weights(static_cast<std::size_t>(keys)), kept(weights), dweights(weights);
    double largest = -kInfinity, sum = 0, flow = 0;
    for (Index j = 0; j < keys; ++j) {
      double& score = weights[static_cast<std::size_t>(j)];
      score = added(i, j);
      if (score != -kInfinity) score += scale * dot(q_.at(i), k_.at(j), q_.width);
      largest = std::max(largest, score);
    }
    if (largest == -kInfinity) return;
    for (double& weight : weights) sum += weight = std::exp(weight - largest);
    const DropoutMask dropout(call_.spec().dropout);
    const DropoutRow draws = dropout.row(b, h, i);
    for (Index j = 0; j < keys; ++j) {
      const std::size_t at = static_cast<std::size_t>(j);
      weights[at] /= sum;
      kept[at] = !dropout.active() ? 1 : draws.keeps(j) ? dropout.scale() : 0;
      add(weights[at] * kept[at], v_.at(j), v_.width, out.at(i));
      add(weights[at] * kept[at], dout_.at(i), v_.width, dv.at(j));
      dweights[at] = kept[at] * dot(dout_.at(i), v_.at(j), v_.width);
      flow += weights[at] * dweights[at];
    }
    for (Index j = 0; j < keys; ++j) {
      const double dscore =
          weights[static_cast<std::size_t>(j)] * (dweights[static_cast<std::size_t>(j)] - flow) * scale;
      add(dscore, k_.at(j), q_.width, dq.at(i));
      add(dscore, q_.at(i), q_.width, dk.at(j));
    }
  }

  const Call& call_;
  Rows q_, k_, v_, dout_;
  Tensor mask_;
};

// The largest |got - book| / (atol + rtol |book|): at most 1 where all is close.
double excess(const Tensor& got, Rows book, Index b, Index h, Tolerance tolerance) {
  const Rows rows = rows_of(got, b, h);
  double worst = 0;
  for (std::size_t n = 0; n < rows.data.size(); ++n) {
    const double error = std::abs(rows.data[n] - book.data[n]);
    const double share = error / (tolerance.absolute + tolerance.relative * std::abs(book.data[n]));
    worst = std::isnan(share) ? kInfinity : std::max(worst, share);
  }
  return worst;
}

// Holds every plan to the book, on the first and the last head of the batch.
void expect_close(const Call& call, const Tolerances& tolerances, const std::string& what) {
  const Index batch = call.q.dim(0), heads = call.q.dim(1), queries = call.q.dim(2);
  std::vector<BookHead> book;
  book.emplace_back(call, 0, 0);
  if (batch * heads > 1) book.emplace_back(call, batch - 1, heads - 1);
  const AttentionSpec spec = call.spec();
  const AttentionProblem problem = make_attention_problem("test", call.q, call.k, call.v, spec);
  Workspace workspace;
  int plans = 0;
  for (const AttentionPlan& plan : attention_plans()) {
    if (!plan.refusal(problem).empty()) continue;
    if (plan.name == "reference" && call.work() > (problem.dtype == DType::f64 ? kDoubleWork : kFloatWork)) continue;
    if (plan.name.starts_with("decode") && queries > 16) continue;  // not meant for, and the bits of "fused"
    ++plans;
    const Tensor out = Tensor::empty_like(call.dout), alone = Tensor::empty_like(call.dout),
                 stat = Tensor::empty(problem.number, {batch, heads, queries}), dq = Tensor::empty_like(call.q),
                 dk = Tensor::empty_like(call.k), dv = Tensor::empty_like(call.v);
    for (const Tensor& t : {out, alone, dq, dk, dv}) fill(t, 77);  // must be overwritten
    plan.forward(problem, {.out = alone}, workspace);
    plan.forward(problem, {.out = out, .row_stat = stat}, workspace);
    plan.backward(problem, {.out = out, .row_stat = stat, .dout = call.dout}, {.dq = dq, .dk = dk, .dv = dv},
                  workspace);
    EXPECT_TRUE(same_bits(out, alone)) << plan.name << ": " << what;
    for (const BookHead& head : book) {
      const bool rounds = plan.order == SumOrder::bf16 && tolerances.out_of_rounded;
      const Tolerance of_out = rounds ? *tolerances.out_of_rounded : tolerances.out;
      EXPECT_LE(excess(out, head.out, head.b, head.h, of_out), 1) << plan.name << " out: " << what;
      if (!tolerances.gradients) continue;
      EXPECT_LE(excess(dq, head.dq, head.b, head.h, *tolerances.gradients), 1) << plan.name << " dq: " << what;
      EXPECT_LE(excess(dk, head.dk, head.b, head.h, *tolerances.gradients), 1) << plan.name << " dk: " << what;
      EXPECT_LE(excess(dv, head.dv, head.b, head.h, *tolerances.gradients), 1) << plan.name << " dv: " << what;
    }
  }
  EXPECT_GT(plans, 0) << what;
}

// Finite differences of sum(out * dout).
void expect_gradients(const Call& call) {
  Workspace workspace;
  const AttentionSpec spec = call.spec();
  const Tensor out = Tensor::empty_like(call.dout),
               stat = Tensor::empty(DType::f64, {call.q.dim(0), call.q.dim(1), call.q.dim(2)}),
               dq = Tensor::empty_like(call.q), dk = Tensor::empty_like(call.k), dv = Tensor::empty_like(call.v);
  const auto loss = [&] {
    attention(call.q, call.k, call.v, spec, {.out = out, .row_stat = stat}, workspace);
    return weighted_sum(out, call.dout);
  };
  loss();
  attention_backward(call.q, call.k, call.v, spec, {.out = out, .row_stat = stat, .dout = call.dout},
                     {.dq = dq, .dk = dk, .dv = dv}, workspace);
  EXPECT_LT(gradient_error(loss, call.q, dq), 1e-7);
  EXPECT_LT(gradient_error(loss, call.k, dk), 1e-7);
  EXPECT_LT(gradient_error(loss, call.v, dv), 1e-7);
}

// Inputs of rank 3 are heads of one; masks are none, causal, of rank 2, and of the inputs' rank.
void check_small_shapes(const Json& pytorch, const std::string& type) {
  const Json grid = pytorch["sdpa_math"];
  const DType dtype = dtype_of(type);
  const Tolerance tolerance = default_tolerance(pytorch, type);
  const Index batch = grid["N"].integer(), queries = grid["L"].integer(), keys = grid["S"].integer();
  for (Index heads : {Index{1}, grid["heads"].integer()})
    for (double dropout : {0.0, 0.2, 0.5})
      for (const std::string mask : {"no", "causal", "rank 2", "full rank"}) {
        Call call(dtype, batch, heads, queries, keys, grid["E"].integer());
        call.dropout = dropout;
        call.causal = mask == "causal";
        if (mask == "rank 2") call.mask = fair_booleans({1, 1, queries, keys}, 7);
        if (mask == "full rank") call.mask = fair_booleans({batch, heads, queries, keys}, 8);
        const std::string what =
            std::to_string(heads) + " heads, " + mask + " mask, dropout " + std::to_string(dropout);
        SCOPED_TRACE(what);
        expect_close(call, {tolerance, tolerance}, what);
        if (dtype == DType::f64 && mask == "no") expect_gradients(call);
      }
}

TEST(PyTorchSmallGrid, IsWhatTheBookSays) {
  const std::filesystem::path grids = testing::tree_data("pytorch/grids.json");
  const Json pytorch = read_json(grids)["pytorch"];
  for (const std::string& type : pytorch["sdpa_math"]["dtypes"].string_list()) check_small_shapes(pytorch, type);
}

// A test for each storage type.
class PyTorchGrid : public ::testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Types, PyTorchGrid, ::testing::Values("float64", "float32", "bfloat16", "float16"),
                         [](const auto& tested) { return std::string(tested.param); });

TEST_P(PyTorchGrid, FusedPlansAreWhatTheBookSays) {
  const std::filesystem::path grids = testing::tree_data("pytorch/grids.json");
  const Json pytorch = read_json(grids)["pytorch"], grid = pytorch["sdpa_cpu_fused_vs_math"];
  const std::vector<std::string> dtypes = grid["dtypes"].string_list();
  const std::vector<Json> axes{grid["dtypes"], grid["batch"],    grid["seq"],
                               grid["heads"],  grid["head_dim"], grid["causal"]};
  std::vector<Index> extents;
  for (const Json& axis : axes) extents.push_back(axis.size());
  const auto value = [&](const Combination& at, std::size_t axis) { return axes[axis][at[axis]].integer(); };
  const auto cost = [&](const Combination& at) {
    const Index work = value(at, 1) * value(at, 2) * value(at, 2) * value(at, 3) * value(at, 4);
    const bool too_long = axes[0][at[0]].string() == "float64" && work > kDoubleWork;
    return too_long ? kInfinity : static_cast<double>(work);
  };
  const Tolerance tolerance = fused_tolerance(pytorch, GetParam());
  int cases = 0;
  for (const Combination& at : covering(extents, 4, cost)) {
    if (axes[0][at[0]].string() != GetParam()) continue;
    ++cases;
    Call call(dtype_of(GetParam()), value(at, 1), value(at, 3), value(at, 2), value(at, 2), value(at, 4));
    call.causal = axes[5][at[5]].boolean();
    fill(call.dout, 1);  // the gradient of sum(out)
    expect_close(call, {tolerance, tolerance}, describe(call.q.view()) + (call.causal ? " causal" : " not causal"));
  }
  EXPECT_GE(cases, 2);  // as many as an axis has values
}

TEST_P(PyTorchGrid, MasksOfEveryShapeAreWhatTheBookSays) {
  const std::filesystem::path grids = testing::tree_data("pytorch/grids.json");
  const Json pytorch = read_json(grids)["pytorch"], grid = pytorch["sdpa_cpu_fused_mask_vs_math"];
  const DType dtype = dtype_of(GetParam());
  const Index full[] = {grid["batch"].integer(), grid["heads"].integer(), grid["q_len"].integer(),
                        grid["kv_len"].integer()};
  Call call(dtype, full[0], full[1], full[2], full[3], grid["head_dim"].integer());
  fill(call.dout, 1);  // the gradient of sum(out)
  const Tolerance tolerance = fused_tolerance(pytorch, GetParam());
  int shapes = 0;
  for (Index rank : grid["mask_rank"].integer_list()) {
    for (Index whole = 0; whole < Index{1} << rank; ++whole, ++shapes) {  // a bit for each axis, the last one first
      const auto extent = [&](int axis) { return (whole >> (3 - axis) & 1) != 0 ? full[axis] : 1; };
      for (const std::string& type : grid["mask_type"].string_list()) {
        const bool boolean = type.starts_with("bool");
        call.mask = boolean ? fair_booleans({extent(0), extent(1), extent(2), extent(3)}, 9)
                            : random_tensor(dtype, {extent(0), extent(1), extent(2), extent(3)}, 9);
        expect_close(call, {tolerance, tolerance}, type + " mask " + describe(call.mask.view()));
      }
    }
  }
  EXPECT_EQ(shapes, 20);
}

// PyTorch looks at the output only. Its one tolerance for gradients on the CPU is that of the fused plans, for
// sum(out).
TEST_P(PyTorchGrid, ABandOfMinusInfinityIsAWindow) {
  const std::filesystem::path grids = testing::tree_data("pytorch/grids.json");
  const Json pytorch = read_json(grids)["pytorch"], grid = pytorch["sdpa_inf_band"];
  const DType dtype = dtype_of(GetParam());
  const Index length = grid["seq"].integer(), below = 9;
  Call call(dtype, 1, grid["heads"].integer(), length, length, grid["head_dim"].integer());
  fill(call.dout, 1);
  const Tensor band = Tensor::zeros(DType::f64, {1, 1, length, length});
  for (Index i = 0; i < length; ++i)
    for (Index j = 0; j < length; ++j) {
      if (j > i || i - j > below) band.at<double>({0, 0, i, j}) = -kInfinity;
    }
  call.mask = band.to(dtype);
  // PyTorch says of its fused kernels, which round weights too, how far they may be off.
  const Tolerance fused = fused_tolerance(pytorch, GetParam());
  expect_close(call, {default_tolerance(pytorch, GetParam()), fused, fused}, "band");
}

// One input is query, key and value, as in PyTorch's test of it, which looks at the output only. The gradients are held
// to it in f64: scores of 1e5 and more leave a row statistic in f32 two digits after the point, and a rounding of the
// weights' gradient is multiplied by 10000.
TEST_P(PyTorchGrid, ANegativeScaleTurnsTheOrderRound) {
  const std::filesystem::path grids = testing::tree_data("pytorch/grids.json");
  const Json pytorch = read_json(grids)["pytorch"], grid = pytorch["sdpa_negative_scale"];
  const std::vector<Index> shape = grid["shape"].integer_list();
  Call call(dtype_of(GetParam()), shape.at(0), shape.at(1), shape.at(2), shape.at(2), shape.at(3));
  call.k = call.v = call.q;
  call.scale = grid["scale"].number();
  const Tolerance tolerance = default_tolerance(pytorch, GetParam());
  Tolerances tolerances{tolerance, {}};
  if (call.q.dtype() == DType::f64) tolerances.gradients = tolerance;
  expect_close(call, tolerances, "negative scale");
}

}  // namespace
}  // namespace heed
