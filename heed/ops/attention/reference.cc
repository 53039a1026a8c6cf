#include "heed/ops/attention/reference.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "heed/base/parallel.h"

namespace heed {
namespace {

constexpr Index kChunkWork = 1 << 16;  // multiply-adds that are worth handing to a thread

// The loops, for numbers stored as T and summed as Sum.
template <typename T, typename Sum>
class Loops {
 public:
  explicit Loops(const AttentionCase& problem)
      : c(problem),
        scale(static_cast<Sum>(c.scale)),
        cap(static_cast<Sum>(c.cap)),
        keep_scale(static_cast<Sum>(c.dropout.scale())) {}

  void forward_row(const AttentionResult& result, Index b, Index h, Index i) {
    score_row(b, h, i, bool{result.scores});
    if (result.scores) store_row(result.scores, b, h, i, capped_);
    const Sum stat = softmax_row();
    if (result.row_stat) result.row_stat.at<T>({b, h, i}) = static_cast<T>(stat);
    if (result.weights) store_row(result.weights, b, h, i, weights_);
    if (!result.out) return;
    std::vector<Sum> out(static_cast<std::size_t>(c.value_width), 0);
    const DropoutRow drop = c.dropout.row(b, h, i);
    for (Index j = 0; j < c.keys; ++j) {
      if (refused(j) || !keeps(drop, j)) continue;
      const Sum weight = weights_[j] * keep_scale;
      const T* v = &c.v.at<T>({b, h / c.group, j});
      for (Index d = 0; d < c.value_width; ++d) out[d] += weight * Sum{v[d]};
    }
    store_row(result.out, b, h, i, out);
  }

  void weights_row(const ConstView& row_stat, const View& weights, Index b, Index h, Index i) {
    score_row(b, h, i, false);
    weights_from_stat(row_stat.at<T>({b, h, i}));
    store_row(weights, b, h, i, weights_);
  }

  void backward_group(const AttentionSaved& saved, const AttentionGrad& grad, Index b, Index g) {
    dk_.assign(static_cast<std::size_t>(c.keys * c.width), 0);
    dv_.assign(static_cast<std::size_t>(c.keys * c.value_width), 0);
    dvector_.assign(static_cast<std::size_t>(c.width), 0);
    for (Index h = g * c.group; h < (g + 1) * c.group; ++h)
      for (Index i = 0; i < c.queries; ++i) backward_row(saved, grad, b, h, i);
    store_matrix(grad.dk, b, g, dk_);
    store_matrix(grad.dv, b, g, dv_);
    if (!grad.dadditive_vector) return;
    for (Index d = 0; d < c.width; ++d) grad.dadditive_vector.at<T>({d}) += static_cast<T>(dvector_[d]);
  }

 private:
  static constexpr Sum kInfinity = std::numeric_limits<Sum>::infinity();

  bool additive() const { return c.spec.score.kind == Score::Kind::additive; }
  bool keeps(const DropoutRow& drop, Index j) const { return !c.dropout.active() || drop.keeps(j); }
  // A score of -inf is a key that is not there.
  bool refused(Index j) const { return score_[j] == -kInfinity; }

  // s(q_i, k_j) before the cap.
  Sum raw_score(const T* q, const T* k) const {
    Sum sum = 0;
    if (additive()) {
      const T* vector = c.spec.score.additive_vector.as<T>();
      for (Index d = 0; d < c.width; ++d) sum += Sum{vector[d]} * std::tanh(Sum{q[d]} + Sum{k[d]});
      return sum;
    }
    for (Index d = 0; d < c.width; ++d) sum += Sum{q[d]} * Sum{k[d]};
    return sum * scale;
  }

  // Fills capped_ (the score after the cap; of refused keys only where all are asked for) and score_ (with the bias;
  // -inf where the mask refuses the key).
  void score_row(Index b, Index h, Index i, bool all) {
    const T* q = &c.q.at<T>({b, h, i});
    capped_.assign(static_cast<std::size_t>(c.keys), 0);
    score_.assign(static_cast<std::size_t>(c.keys), -kInfinity);
    for (Index j = 0; j < c.keys; ++j) {
      const bool allowed = c.mask.allows(b, h, i, j);
      if (!allowed && !all) continue;
      const Sum raw = raw_score(q, &c.k.at<T>({b, h / c.group, j}));
      capped_[j] = cap > 0 ? cap * std::tanh(raw / cap) : raw;
      if (allowed) score_[j] = capped_[j] + (c.bias ? Sum{c.bias.at<T>({b, h, i, j})} : Sum{0});
    }
  }

  // Fills weights_ and returns log sum_j exp(score_j). With no key at all the weights are zero and the result is -inf.
  // A NaN makes the weight of every key that is there NaN.
  Sum softmax_row() {
    Sum largest = -kInfinity, sum = 0;
    for (Sum s : score_) largest = s > largest || std::isnan(s) ? s : largest;
    weights_.assign(score_.size(), 0);
    if (largest == -kInfinity) return -kInfinity;
    for (Index j = 0; j < c.keys; ++j) {
      if (!refused(j)) sum += weights_[j] = std::exp(score_[j] - largest);
    }
    for (Index j = 0; j < c.keys; ++j) {
      if (!refused(j)) weights_[j] /= sum;
    }
    return largest + std::log(sum);
  }

  void weights_from_stat(Sum stat) {
    weights_.assign(score_.size(), 0);
    for (Index j = 0; j < c.keys; ++j) {
      if (!refused(j)) weights_[j] = std::exp(score_[j] - stat);
    }
  }

  // Fills dscore_: the gradient of the scores after the scale and before the cap.
  //   dP_j = keep_j / (1 - p) * dout . v_j      dS_j = w_j (dP_j - sum_k w_k dP_k)      the cap: dS_j (1 - (s_j / c)^2)
  // dbias takes dS before the cap's factor.
  void score_gradient(const AttentionSaved& saved, View dbias, Index b, Index h, Index i) {
    for (int axis = 0; axis < 3; ++axis) {
      if (dbias.shape[axis] == 1) dbias.stride[axis] = 0;
    }
    const T* dout = &saved.dout.at<T>({b, h, i});
    const DropoutRow drop = c.dropout.row(b, h, i);
    dscore_.assign(static_cast<std::size_t>(c.keys), 0);
    Sum mean = 0;
    for (Index j = 0; j < c.keys; ++j) {
      if (refused(j) || !keeps(drop, j)) continue;
      const T* v = &c.v.at<T>({b, h / c.group, j});
      for (Index d = 0; d < c.value_width; ++d) dscore_[j] += Sum{dout[d]} * Sum{v[d]};
      dscore_[j] *= keep_scale;
      mean += weights_[j] * dscore_[j];
    }
    for (Index j = 0; j < c.keys; ++j) {
      if (refused(j)) continue;
      dscore_[j] = weights_[j] * (dscore_[j] - mean);
      if (dbias) dbias.at<T>({b, h, i, j}) += static_cast<T>(dscore_[j]);
      const Sum bent = cap > 0 ? capped_[j] / cap : Sum{0};
      dscore_[j] *= 1 - bent * bent;
    }
  }

  void backward_row(const AttentionSaved& saved, const AttentionGrad& grad, Index b, Index h, Index i) {
    score_row(b, h, i, false);
    weights_from_stat(saved.row_stat.at<T>({b, h, i}));
    score_gradient(saved, grad.dbias, b, h, i);
    const DropoutRow drop = c.dropout.row(b, h, i);
    const T *q = &c.q.at<T>({b, h, i}), *dout = &saved.dout.at<T>({b, h, i});
    dq_.assign(static_cast<std::size_t>(c.width), 0);
    for (Index j = 0; j < c.keys; ++j) {
      if (refused(j)) continue;
      const T* k = &c.k.at<T>({b, h / c.group, j});
      additive() ? additive_flow(q, k, dscore_[j], &dk_[j * c.width]) : dot_flow(q, k, dscore_[j], &dk_[j * c.width]);
      if (!keeps(drop, j)) continue;
      const Sum weight = weights_[j] * keep_scale;
      for (Index d = 0; d < c.value_width; ++d) dv_[j * c.value_width + d] += weight * Sum{dout[d]};
    }
    if (grad.dq) store_row(grad.dq, b, h, i, dq_);
  }

  void dot_flow(const T* q, const T* k, Sum dscore, Sum* dk) {
    for (Index d = 0; d < c.width; ++d) {
      dq_[d] += dscore * scale * Sum{k[d]};
      dk[d] += dscore * scale * Sum{q[d]};
    }
  }

  void additive_flow(const T* q, const T* k, Sum dscore, Sum* dk) {
    const T* vector = c.spec.score.additive_vector.as<T>();
    for (Index d = 0; d < c.width; ++d) {
      const Sum bent = std::tanh(Sum{q[d]} + Sum{k[d]});
      const Sum flow = dscore * Sum{vector[d]} * (1 - bent * bent);
      dq_[d] += flow;
      dk[d] += flow;
      dvector_[d] += dscore * bent;
    }
  }

  static void store_row(const View& view, Index b, Index h, Index i, const std::vector<Sum>& values) {
    for (Index j = 0; j < view.shape[3]; ++j) view.at<T>({b, h, i, j}) = static_cast<T>(values[j]);
  }

  static void store_matrix(const View& view, Index b, Index h, const std::vector<Sum>& values) {
    if (!view) return;
    for (Index i = 0; i < view.shape[2]; ++i)
      for (Index d = 0; d < view.shape[3]; ++d)
        view.at<T>({b, h, i, d}) = static_cast<T>(values[i * view.shape[3] + d]);
  }

  const AttentionCase& c;
  const Sum scale, cap, keep_scale;
  std::vector<Sum> capped_, score_, weights_, dscore_;  // of the row at work, [Lk]
  std::vector<Sum> dq_, dk_, dv_, dvector_;             // of the row; of the key/value head
};

// Calls f with the loops for the case's type.
template <typename F>
void with_loops(const AttentionCase& c, F&& f) {
  if (c.dtype == DType::f64) {
    f(Loops<double, double>(c));
  } else {
    f(Loops<float, double>(c));
  }
}

std::string refuse(const AttentionCase&) { return {}; }

std::string refuse_all_but_f32(const AttentionCase& c) {
  return c.dtype == DType::f32 ? "" : "it computes in f32 only";
}

void forward(const AttentionCase& c, const AttentionResult& result, Workspace&) {
  const Index work = std::max<Index>(c.queries * c.keys * (c.width + c.value_width), 1);
  parallel_for(c.batch * c.heads, std::max<Index>(kChunkWork / work, 1), [&](Index begin, Index end) {
    for (Index head = begin; head < end; ++head)
      for (Index i = 0; i < c.queries; ++i) reference_forward_row(c, result, head / c.heads, head % c.heads, i);
  });
}

// One group after another: dbias and dadditive_vector are sums over them.
void backward(const AttentionCase& c, const AttentionSaved& saved, const AttentionGrad& grad, Workspace&) {
  for (Index b = 0; b < c.batch; ++b)
    for (Index g = 0; g < c.key_heads; ++g) reference_backward_group(c, saved, grad, b, g);
}

void forward_in_f32(const AttentionCase& c, const AttentionResult& result, Workspace&) {
  Loops<float, float> loops(c);
  for (Index b = 0; b < c.batch; ++b)
    for (Index h = 0; h < c.heads; ++h)
      for (Index i = 0; i < c.queries; ++i) loops.forward_row(result, b, h, i);
}

void backward_in_f32(const AttentionCase& c, const AttentionSaved& saved, const AttentionGrad& grad, Workspace&) {
  Loops<float, float> loops(c);
  for (Index b = 0; b < c.batch; ++b)
    for (Index g = 0; g < c.key_heads; ++g) loops.backward_group(saved, grad, b, g);
}

}  // namespace

void reference_forward_row(const AttentionCase& c, const AttentionResult& result, Index b, Index h, Index i) {
  with_loops(c, [&](auto loops) { loops.forward_row(result, b, h, i); });
}

void reference_backward_group(const AttentionCase& c, const AttentionSaved& saved, const AttentionGrad& grad, Index b,
                              Index g) {
  with_loops(c, [&](auto loops) { loops.backward_group(saved, grad, b, g); });
}

void reference_weights_row(const AttentionCase& c, const ConstView& row_stat, const View& weights, Index b, Index h,
                           Index i) {
  with_loops(c, [&](auto loops) { loops.weights_row(row_stat, weights, b, h, i); });
}

const AttentionPlan kReferencePlan{"reference", refuse, forward, backward};
const AttentionPlan kPlainF32Plan{"plain f32", refuse_all_but_f32, forward_in_f32, backward_in_f32};

}  // namespace heed
