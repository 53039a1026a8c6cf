// flash-attention's grid, and PyTorch's for the same GPU kernels (tests/data/pytorch/grids.json), on every plan that
// takes the case, forward and backward, in bf16 and f16. The rule of both: the error, against the definition in f64 of
// the widened inputs, is at most a few times that of a plain program that keeps every stage in the storage type.
//
// What is left out, and why: the grids have tens of thousands of cases, of up to 1e12 multiply-adds.
// - Of the combinations, a few in which every value of every axis occurs, and every pair of values of two axes of which
//   one has at most three values. Left are pairs of two lengths or widths. "deterministic" is always: runs repeat.
// - Cases of more than kSmallSquare scores a head have one batch element and 1, 2 or 4 heads over 1, 1 or 2
//   (flash-attention), or are left out where they are too large (PyTorch).
// - The truth and the plain program are computed for some rows of three heads, spread evenly from the first row to the
//   last. A row does not depend on other rows; those that are not compared have a dout of zero, so that they give
//   nothing to dk, dv and the bias's gradient, and their dq must be exactly zero.
// - The reference plan takes the cases of at most kMostReferenceWork multiply-adds for q k^T.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heed/base/random.h"
#include "heed/io/json.h"
#include "heed/ops/attention/attention.h"
#include "heed/ops/attention/plans/plan.h"
#include "heed/ops/attention/plans/reference.h"
#include "heed/tensor/numbers.h"
#include "heed/testing/covering.h"
#include "heed/testing/data_folder.h"
#include "heed/testing/gradient_check.h"
#include "heed/testing/not_finite.h"

namespace heed {
namespace {

using testing::Combination;
using testing::covering;
using testing::kInfinity;
using testing::random_tensor;
using testing::same_bits;

constexpr Index kSmallSquare = 1 << 16;
constexpr Index kMostReferenceWork = 20'000'000;
constexpr Index kTruthWork = 4'000'000;  // multiply-adds for q k^T of the compared rows
constexpr Index kFewestRows = 8;         // to a compared head
constexpr Index kPyTorchWork = 1 << 28;

// The axes of a grid, as lists of JSON values.
struct Axes {
  std::vector<std::string> names;
  std::vector<Json> values;

  Axes(const Json& grid, std::initializer_list<const char*> chosen) {
    for (const char* name : chosen) names.emplace_back(name), values.push_back(grid[name]);
  }
  void add(const char* name, Json list) { names.emplace_back(name), values.push_back(std::move(list)); }
  std::vector<Index> extents() const {
    std::vector<Index> sizes;
    for (const Json& list : values) sizes.push_back(list.size());
    return sizes;
  }
};

// One value of each axis.
struct Point {
  const Axes& axes;
  const Combination& at;

  Json operator[](std::string_view name) const {
    const std::size_t axis = static_cast<std::size_t>(std::ranges::find(axes.names, name) - axes.names.begin());
    return axes.values.at(axis)[at[axis]];
  }
  bool is(std::string_view name) const { return std::ranges::count(axes.names, name) > 0 && (*this)[name].boolean(); }
  double number(std::string_view name) const {
    return std::ranges::count(axes.names, name) > 0 ? (*this)[name].number() : 0;
  }
  std::string text() const {
    std::string all;
    for (std::size_t axis = 0; axis < at.size(); ++axis) {
      all += axes.names[axis] + " " + axes.values[axis][at[axis]].dump() + " ";
    }
    return all;
  }
};

DType half_type_of(const std::string& name) { return name == "float16" ? DType::f16 : DType::bf16; }

// One problem. dout is zero but for the compared rows, which `compared` names, boolean [B, H, Lq, 1].
struct Problem {
  Tensor q, k, v, dout, dense, slopes, compared;
  AttentionSpec spec{};
  std::vector<Tensor> mask_parts{};

  void bind() {
    if (!dense.is_empty()) spec.bias.dense = dense;
    if (!slopes.is_empty()) spec.bias.alibi = slopes;
  }
  Index work() const { return q.size() * k.dim(2); }
};

struct Sizes {
  Index batch, heads, key_heads, queries, keys, width;
};

// Chooses the rows to compare: of the first two heads, which may share keys, and of the last.
void choose_rows(Problem& p, const Sizes& n) {
  p.compared = Tensor::zeros(DType::boolean, {n.batch, n.heads, n.queries, 1});
  std::vector<std::pair<Index, Index>> heads{{0, 0}};
  if (n.heads > 2) heads.push_back({0, 1});
  if (n.batch * n.heads > 1) heads.push_back({n.batch - 1, n.heads - 1});
  const Index affordable = kTruthWork / (std::ssize(heads) * n.keys * n.width);
  const Index rows = std::min(n.queries, std::max(affordable, kFewestRows));
  const Tensor dout = Tensor::zeros_like(p.dout);
  for (const auto& [b, h] : heads)
    for (Index r = 0; r < rows; ++r) {
      const Index i = rows == 1 ? 0 : r * (n.queries - 1) / (rows - 1);
      p.compared.at<std::uint8_t>({b, h, i, 0}) = 1;
      const auto row = [i](const View& head) { return select(head, 0, i); };
      copy(row(select(select(p.dout.view(), 0, b), 0, h)), row(select(select(dout.view(), 0, b), 0, h)));
    }
  p.dout = dout;
}

Problem make_problem(DType dtype, const Sizes& n, double query_size, std::uint64_t seed) {
  Problem p;
  p.q = random_tensor(dtype, {n.batch, n.heads, n.queries, n.width}, seed * 8 + 1, query_size);
  p.k = random_tensor(dtype, {n.batch, n.key_heads, n.keys, n.width}, seed * 8 + 2);
  p.v = random_tensor(dtype, {n.batch, n.key_heads, n.keys, n.width}, seed * 8 + 3);
  p.dout = random_tensor(dtype, {n.batch, n.heads, n.queries, n.width}, seed * 8 + 4);
  choose_rows(p, n);
  return p;
}

// Which keys a query sees, by the rule itself: aligned at the bottom right, where Lq == Lk or the rule says so.
struct Sight {
  Index shift = 0;  // Lk - Lq
  std::optional<Index> left{}, right{};

  bool sees(Index i, Index j) const { return (!left || j >= i + shift - *left) && (!right || j <= i + shift + *right); }
};

// The problem as the definition and the plain program get it: the compared rows alone, and the keys of each by a
// boolean mask that knows nothing of windows.
Problem compared_part(const Problem& p, const Sight& sight) {
  Problem part = p;
  part.spec.mask = Mask::boolean(part.compared);
  if (!sight.left && !sight.right) return part;
  const Index queries = p.q.dim(2), keys = p.k.dim(2);
  const Tensor seen = Tensor::zeros(DType::boolean, {1, 1, queries, keys});
  for (Index i = 0; i < queries; ++i)
    for (Index j = 0; j < keys; ++j) seen.at<std::uint8_t>({0, 0, i, j}) = sight.sees(i, j);
  part.mask_parts.push_back(seen);
  part.spec.mask = part.spec.mask & Mask::boolean(seen);
  return part;
}

Problem widened(Problem p) {
  for (Tensor Problem::*member :
       {&Problem::q, &Problem::k, &Problem::v, &Problem::dout, &Problem::dense, &Problem::slopes}) {
    if (!(p.*member).is_empty()) p.*member = (p.*member).to(DType::f64);
  }
  p.bind();
  return p;
}

struct FlashAnswer {
  Tensor out, dq, dk, dv, dbias;
};

constexpr Tensor FlashAnswer::*kFlashAnswers[] = {&FlashAnswer::out, &FlashAnswer::dq, &FlashAnswer::dk,
                                                  &FlashAnswer::dv, &FlashAnswer::dbias};
constexpr const char* kAnswerNames[] = {"out", "dq", "dk", "dv", "dbias"};

FlashAnswer solve(const AttentionPlan& plan, const Problem& p) {
  const AttentionProblem c = make_attention_problem("test", p.q, p.k, p.v, p.spec);
  Workspace workspace;
  FlashAnswer a{
      Tensor::empty_like(p.dout), Tensor::empty_like(p.q), Tensor::empty_like(p.k), Tensor::empty_like(p.v), {}};
  for (const Tensor& t : {a.out, a.dq, a.dk, a.dv}) fill(t, 77);  // must be overwritten
  const Tensor stat = Tensor::empty(c.number, {c.batch, c.heads, c.queries});
  plan.forward(c, {.out = a.out, .row_stat = stat}, workspace);
  AttentionGrad grad{.dq = a.dq, .dk = a.dk, .dv = a.dv};
  if (!p.dense.is_empty()) {
    a.dbias = Tensor::zeros(c.number, {p.dense.dim(0), p.dense.dim(1), p.dense.dim(2), p.dense.dim(3)});
    grad.dbias = a.dbias;
  }
  plan.backward(c, {.out = a.out, .row_stat = stat, .dout = p.dout}, grad, workspace);
  return a;
}

// The largest |a - truth| - relative |truth|, of the compared rows where the tensor has rows of queries.
double error(const Tensor& a, const Tensor& truth, const Tensor* compared, double relative = 0) {
  const Tensor numbers = a.reshape({a.size()});
  const Index width = a.dim(3);
  double worst = 0;
  for (Index i = 0; i < a.size(); ++i) {
    if (compared != nullptr && compared->data<std::uint8_t>()[i / width] == 0) continue;
    const double right = truth.data<double>()[i];
    const double difference = std::abs(number_at<double>(numbers, {i}) - right) - relative * std::abs(right);
    worst = std::isnan(difference) ? kInfinity : std::max(worst, difference);
  }
  return worst;
}

// How many rows of [B, H, Lq, D] are not all zero, among those that `is_zero` names.
template <typename F>
Index wrong_zeros(const Tensor& tensor, F&& is_zero) {
  const Tensor numbers = tensor.reshape({tensor.size()});
  const Index queries = tensor.dim(2), width = tensor.dim(3);
  Index wrong = 0;
  for (Index row = 0; row < tensor.size() / width; ++row) {
    if (!is_zero(row, row % queries)) continue;
    bool zero = true;
    for (Index d = 0; d < width; ++d) zero = zero && number_at<double>(numbers, {row * width + d}) == 0;
    wrong += !zero;
  }
  return wrong;
}

// What an answer may miss the truth by: absolute + relative |truth|.
struct Bound {
  double absolute, relative = 0;
};

// The bound of each of kFlashAnswers, given what the plain program misses the truth by.
using Rule = std::function<Bound(std::size_t answer, double plain)>;

// Holds every plan to the rule.
void expect_within(const Problem& p, const Sight& sight, const Rule& rule, const std::string& what) {
  const Problem part = compared_part(p, sight);
  const FlashAnswer exact = solve(kReferencePlan, widened(part)), plain = solve(kPlainPlan, part);
  const Index keys = p.k.dim(2);
  const auto dead = [&](Index i) {
    for (Index j = 0; j < keys; ++j) {
      if (sight.sees(i, j)) return false;
    }
    return true;
  };
  const AttentionProblem c = make_attention_problem("test", p.q, p.k, p.v, p.spec);
  for (const AttentionPlan& plan : attention_plans()) {
    if (!plan.refusal(c).empty() || (plan.name == "reference" && p.work() > kMostReferenceWork)) continue;
    if (plan.name == "decode" && c.queries > 16) continue;  // not meant for, and the bits of "fused"
    const FlashAnswer got = solve(plan, p), again = solve(plan, p);
    for (std::size_t n = 0; n < std::size(kFlashAnswers); ++n) {
      const Tensor &answer = got.*kFlashAnswers[n], &truth = exact.*kFlashAnswers[n];
      if (truth.is_empty()) continue;
      const Tensor* rows = n < 2 ? &p.compared : nullptr;
      const Bound bound = rule(n, error(plain.*kFlashAnswers[n], truth, rows));
      EXPECT_LE(error(answer, truth, rows, bound.relative), bound.absolute)
          << plan.name << " " << kAnswerNames[n] << ": " << what;
      EXPECT_TRUE(same_bits(answer, again.*kFlashAnswers[n])) << plan.name << " " << kAnswerNames[n] << ": " << what;
    }
    EXPECT_EQ(wrong_zeros(got.out, [&](Index, Index i) { return dead(i); }), 0) << plan.name << ": " << what;
    EXPECT_EQ(wrong_zeros(got.dq, [&](Index row, Index) { return p.compared.data<std::uint8_t>()[row] == 0; }), 0)
        << plan.name << ": " << what;
  }
}

// A case of flash-attention's grid; `queries` and `keys` are the lengths of its axis.
void check_flash_case(const Json& grid, const Point& point, bool causal, const std::vector<Index>& lengths,
                      const Rule& rule, std::uint64_t seed) {
  const Index queries = lengths.at(0), keys = lengths.at(1);
  const std::string kind = point["kind"].string();
  Sizes n{grid["batch"].integer(), grid["heads"].integer(), grid["heads_k"][kind].integer(), queries, keys,
          point["d"].integer()};
  if (queries * keys > kSmallSquare) {
    n.batch = 1, n.heads = kind == "mha" ? 1 : kind == "mqa" ? 2 : 4, n.key_heads = kind == "gqa" ? 2 : 1;
  }
  const double cap = point.number("softcap");
  // As flash-attention's test: queries of the cap's size, so that scores reach it.
  Problem p = make_problem(half_type_of(point["dtypes"].string()), n, cap > 0 ? cap : 1, seed);
  Rng rng(seed, 0xF1A5);
  if (cap > 0) p.spec.bias.soft_cap = cap;
  Sight sight{.shift = keys - queries};
  if (point.is("local_window")) sight.left = rng.below(keys), sight.right = rng.below(keys);
  if (causal) sight.right = 0;
  if (sight.left || sight.right) p.spec.mask = Mask::sliding_window(sight.left, sight.right);
  if (point.is("alibi")) {
    p.slopes = Tensor::empty(DType::f32, {n.heads});
    for (Index h = 0; h < n.heads; ++h) p.slopes.at<float>({h}) = static_cast<float>(0.3 * rng.uniform());
  }
  p.spec.dropout = {.probability = point.number("dropout"), .seed = seed, .stream = 3};
  p.bind();
  expect_within(p, sight, rule, point.text());
}

// What a case costs a plan, roughly.
double flash_cost(const Point& point, const char* lengths) {
  const std::vector<Index> extents = point[lengths].integer_list();
  return static_cast<double>(extents.at(0) * extents.at(1) * point["d"].integer());
}

// A grid's cases run side by side, in this many tests.
constexpr std::size_t kParts = 4;

class KernelGrid : public ::testing::TestWithParam<std::size_t> {
 protected:
  // The part's share of the combinations.
  std::vector<Combination> cases(const Axes& axes, const std::function<double(const Point&)>& cost) const {
    const auto all = covering(axes.extents(), 3, [&](const Combination& at) { return cost(Point{axes, at}); });
    std::vector<Combination> mine;
    for (std::size_t n = GetParam(); n < all.size(); n += kParts) mine.push_back(all[n]);
    EXPECT_FALSE(mine.empty());
    return mine;
  }
};

INSTANTIATE_TEST_SUITE_P(Part, KernelGrid, ::testing::Range(std::size_t{0}, kParts));

TEST_P(KernelGrid, FlashAttentionsCasesAreNearlyAsGoodAsPlain) {
  const std::filesystem::path grids = testing::tree_data("pytorch/grids.json");
  const Json grid = read_json(grids)["flash_attention"]["grid"];
  const Axes axes(grid, {"dtypes", "kind", "causal", "local_window", "alibi", "softcap", "dropout", "d", "seq_q_k"});
  const Rule rule = [](std::size_t answer, double plain) { return Bound{(answer == 0 ? 2 : 3) * plain}; };
  std::uint64_t seed = 100 * GetParam();
  for (const Combination& at : cases(axes, [](const Point& point) { return flash_cost(point, "seq_q_k"); })) {
    const Point point{axes, at};
    check_flash_case(grid, point, point.is("causal"), point["seq_q_k"].integer_list(), rule, ++seed);
  }
}

TEST_P(KernelGrid, FlashAttentionsCausalCasesAreAlignedAtTheBottomRight) {
  const std::filesystem::path grids = testing::tree_data("pytorch/grids.json");
  const Json grid = read_json(grids)["flash_attention"]["grid"];
  const Axes axes(grid, {"dtypes", "kind", "local_window", "d", "causal_seq_q_k"});
  const Rule rule = [](std::size_t, double plain) { return Bound{2 * plain + 1e-5}; };
  std::uint64_t seed = 100 * GetParam();
  for (const Combination& at : cases(axes, [](const Point& point) { return flash_cost(point, "causal_seq_q_k"); })) {
    const Point point{axes, at};
    check_flash_case(grid, point, true, point["causal_seq_q_k"].integer_list(), rule, ++seed);
  }
}

// The fudge factors of PyTorch's memory-efficient kernel, of out, dq, dk, dv and the mask's gradient.
std::vector<double> fudge_factors(bool masked, bool dropped, Index mask_size) {
  if (!masked) {
    const double dq = dropped ? 2 : 1.5;
    return {1, dq, 8 * dq, 1, 0};
  }
  return {1, 2, dropped ? 21.0 : 12.0, 1, mask_size <= 512 ? 22.0 : 12.0};
}

// PyTorch's relative part is the plain program's largest, and no less than the default. Next to a zero the largest is
// any number, and would let everything pass: here it is the default.
TEST_P(KernelGrid, PyTorchsGpuCasesAreNearlyAsGoodAsPlain) {
  const std::filesystem::path grids = testing::tree_data("pytorch/grids.json");
  const Json pytorch = read_json(grids)["pytorch"], grid = pytorch["sdpa_gpu_grads"];
  Axes axes(grid, {"dtypes", "batch", "seq_q", "seq_k", "head_dim", "dropout", "scale"});
  axes.add("causal", Json::array({false, true}));
  axes.add("float_mask", Json::array({false, true}));
  const auto sizes = [&](const Point& at) {
    const Index heads = grid["heads"].integer();
    return Sizes{at["batch"].integer(),   heads, heads, at["seq_q"].integer(), at["seq_k"].integer(),
                 at["head_dim"].integer()};
  };
  const auto cost = [&](const Point& at) {
    const Sizes n = sizes(at);
    const bool refused = at.is("causal") && (n.queries != n.keys || at.is("float_mask"));
    const Index work = n.batch * n.heads * n.queries * n.keys * n.width;
    return refused || work > kPyTorchWork ? kInfinity : static_cast<double>(work);
  };
  std::uint64_t seed = 1000 * (GetParam() + 1);
  for (const Combination& at : cases(axes, cost)) {
    const Point point{axes, at};
    const std::string type = point["dtypes"].string();
    const Json least = pytorch["default_tolerances"][type];
    const Sizes n = sizes(point);
    Problem p = make_problem(half_type_of(type), n, 1, ++seed);
    if (point["scale"].string() == "1/d") p.spec.score.scale = 1.0 / static_cast<double>(n.width);
    Sight sight{.shift = n.keys - n.queries};
    if (point.is("causal")) p.spec.mask = Mask::causal(Anchor::start), sight.right = 0;
    const bool masked = point.is("float_mask"), dropped = point.number("dropout") > 0;
    if (masked) p.dense = random_tensor(p.q.dtype(), {1, 1, n.queries, n.keys}, 29);
    p.spec.dropout = {.probability = point.number("dropout"), .seed = 4, .stream = 5};
    p.bind();
    const std::vector<double> fudge = fudge_factors(masked, dropped, n.queries * n.keys);
    const Rule rule = [&](std::size_t answer, double plain) {
      return Bound{fudge.at(answer) * std::max(plain, least["atol"].number()),
                   fudge.at(answer) * least["rtol"].number()};
    };
    expect_within(p, sight, rule, point.text());
  }
}

}  // namespace
}  // namespace heed
