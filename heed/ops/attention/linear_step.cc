#include "heed/ops/attention/linear_step.h"

#include <algorithm>
#include <vector>

#include "heed/base/check.h"
#include "heed/base/parallel.h"
#include "heed/ops/attention/memory_check.h"
#include "heed/ops/attention/problem/attention_problem.h"
#include "heed/ops/attention/problem/score_features.h"

namespace heed {
namespace {

constexpr Index kChunkWork = 1 << 16;  // multiply-adds that are worth handing to a thread

// The tokens of one key/value head, with sums in Sum.
template <typename Sum>
class HeadSteps {
 public:
  HeadSteps(const AttentionProblem& problem, const ScoreFeatures<Sum>& features, const LinearState& state,
            const View& out)
      : c(problem),
        features_(features),
        state_(state),
        out_(out),
        input_(static_cast<std::size_t>(c.width)),
        phi_(static_cast<std::size_t>(c.features)),
        value_(static_cast<std::size_t>(c.value_width)) {}

  void compute(Index b, Index g) {
    Sum *values = &state_.values.at<Sum>({b, g}), *sums = &state_.sums.at<Sum>({b, g});
    for (Index t = 0; t < c.keys; ++t) {
      write(b, g, t, values, sums);
      for (Index h = g * c.group; out_ && h < (g + 1) * c.group; ++h) read(b, h, t, values, sums);
    }
  }

 private:
  void write(Index b, Index g, Index t, Sum* values, Sum* sums) {
    c.k.load(b, g, t, input_.data());
    c.v.load(b, g, t, value_.data());
    features_.map(input_.data(), phi_.data());
    for (std::size_t m = 0; m < phi_.size(); ++m) {
      Sum* row = values + m * value_.size();
      for (std::size_t d = 0; d < value_.size(); ++d) row[d] += phi_[m] * value_[d];
      sums[m] += phi_[m];
    }
  }

  void read(Index b, Index h, Index t, const Sum* values, const Sum* sums) {
    load_row(c.q, c.q.offset({b, h, t}), c.width, input_.data());
    features_.map(input_.data(), phi_.data());
    std::fill(value_.begin(), value_.end(), Sum{0});
    Sum sum = 0;
    for (std::size_t m = 0; m < phi_.size(); ++m) {
      const Sum* row = values + m * value_.size();
      for (std::size_t d = 0; d < value_.size(); ++d) value_[d] += phi_[m] * row[d];
      sum += phi_[m] * sums[m];
    }
    const bool none = static_cast<Sum>(c.scale) * sum == 0;
    for (Sum& x : value_) x = none ? x * 0 : x / sum;
    store_row(value_.data(), c.value_width, out_, out_.offset({b, h, t}));
  }

  const AttentionProblem& c;
  const ScoreFeatures<Sum>& features_;
  const LinearState& state_;
  const View& out_;
  std::vector<Sum> input_, phi_, value_;
};

template <typename Sum>
void step(const AttentionProblem& c, const LinearState& state, const View& out) {
  const ScoreFeatures<Sum> features(c);
  const double work =
      static_cast<double>(c.keys) * static_cast<double>(c.group + 1) * static_cast<double>(c.features * c.value_width);
  parallel_for(c.batch * c.key_heads, grain_of(work, kChunkWork), [&](Index begin, Index end) {
    HeadSteps<Sum> steps(c, features, state, out);
    for (Index unit = begin; unit < end; ++unit) steps.compute(unit / c.key_heads, unit % c.key_heads);
  });
}

void check_state(const AttentionProblem& c, const LinearState& state) {
  const auto fits = [&](const Tensor& tensor, std::initializer_list<Index> shape) {
    return !tensor.is_empty() && tensor.dtype() == c.number && has_shape(tensor, shape) && tensor.view().contiguous();
  };
  HEED_CHECK(fits(state.values, {c.batch, c.key_heads, c.features, c.value_width}) &&
                 fits(state.sums, {c.batch, c.key_heads, c.features}),
             "linear_step: the state must be contiguous {} of shapes [{}, {}, {}, {}] and [{}, {}, {}], but is {} and "
             "{}",
             name_of(c.number), c.batch, c.key_heads, c.features, c.value_width, c.batch, c.key_heads, c.features,
             describe(state.values), describe(state.sums));
}

void check_out(const AttentionProblem& c, const View& out) {
  HEED_CHECK(!out || (has_shape(out, {c.batch, c.heads, c.queries, c.value_width}) && out.dtype == c.dtype &&
                      has_unit_rows(out)),
             "linear_step: out must be {} of shape [{}, {}, {}, {}] with stride 1 along its last axis, but is {}",
             name_of(c.dtype), c.batch, c.heads, c.queries, c.value_width, describe(out));
}

}  // namespace

LinearState LinearState::zeros(Index batch, Index key_heads, Index features, Index value_width, DType dtype) {
  return {Tensor::zeros(dtype, {batch, key_heads, features, value_width}),
          Tensor::zeros(dtype, {batch, key_heads, features})};
}

void linear_step(ConstView q, ConstView k, ConstView v, const Score& score, const LinearState& state, View out) {
  HEED_CHECK(score.kind == Score::Kind::feature_map, "linear_step: the score must have a feature map");
  HEED_CHECK(v, "linear_step: v must be given");
  const AttentionSpec spec{.score = score, .normaliser = Normaliser::sum()};
  check_call("linear_step", spec, {{"q", q}, {"k", k}, {"v", v}},
             {{"out", out, kOptional},
              {"the state's values", state.values.view(), kOptional},
              {"the state's sums", state.sums.view(), kOptional}});
  const AttentionProblem c = make_attention_problem("linear_step", q, k, v, spec);
  HEED_CHECK(c.queries == c.keys, "linear_step: q and k must be of the same tokens, but are {} and {}", describe(q),
             describe(k));
  check_state(c, state);
  check_out(c, out);
  c.number == DType::f64 ? step<double>(c, state, out) : step<float>(c, state, out);
}

}  // namespace heed
