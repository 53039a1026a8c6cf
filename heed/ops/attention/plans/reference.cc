#include "heed/ops/attention/plans/reference.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "heed/base/parallel.h"
#include "heed/ops/attention/plans/row_normaliser.h"
#include "heed/ops/attention/problem/score_features.h"

namespace heed {
namespace {

constexpr Index kReferenceChunkWork = 1 << 16;  // multiply-adds that are worth handing to a thread

// The loops over the query heads that read one key/value head, with sums in Sum. What is kept between two steps is
// rounded to `kept`.
template <typename Sum>
class HeadLoops {
 public:
  HeadLoops(const AttentionProblem& problem, Index batch, Index key_head, DType kept)
      : c(problem),
        b(batch),
        g(key_head),
        kept_(kept),
        features_(c),
        normaliser_(c.spec.normaliser.kind),
        scale_(static_cast<Sum>(c.scale)),
        cap_(static_cast<Sum>(c.cap)),
        keep_scale_(static_cast<Sum>(c.dropout.scale())),
        k_(rows_of(c.k, c.width)),
        v_(c.v ? rows_of(c.v, c.value_width) : std::vector<Sum>()),
        phi_k_(features_of(k_, c.keys)) {
    if (additive())
      vector_.resize(size(c.width)), load_row(c.spec.score.additive_vector.view(), 0, c.width, vector_.data());
  }

  void forward_row(const AttentionResult& result, Index h, Index i) {
    const bool all = result.scores && result.score_stage != ScoreStage::masked;
    score_row(h, i, all);
    if (result.scores) {
      const std::vector<Sum>& stage = result.score_stage == ScoreStage::raw      ? raw_
                                      : result.score_stage == ScoreStage::capped ? capped_
                                                                                 : score_;
      store_row(stage.data(), c.keys, result.scores, result.scores.offset({b, h, i}));
    }
    weights_.assign(score_.size(), 0);
    const Sum stat = normaliser_.normalise(score_, c.sink<Sum>(h), weights_);
    if (result.row_stat) store_number(result.row_stat, {b, h, i}, stat);
    if (result.weights) store_row(weights_.data(), c.keys, result.weights, result.weights.offset({b, h, i}));
    if (!result.out) return;
    out_.assign(size(c.value_width), 0);
    const DropoutRow drop = c.dropout.row(b, h, i);
    for (Index j = 0; j < c.keys; ++j) {
      if (refused(j) || !keeps(drop, j)) continue;
      const Sum weight = rounded(weights_[j] * keep_scale_);
      const Sum* v = &v_[size(j * c.value_width)];
      for (Index d = 0; d < c.value_width; ++d) out_[d] += weight * v[d];
    }
    store_row(out_.data(), c.value_width, result.out, result.out.offset({b, h, i}));
  }

  void weights_row(const ConstView& row_stat, Index h, Index i, const View& weights, Index to_head, Index to_row) {
    score_row(h, i, false);
    weights_.assign(score_.size(), 0);
    normaliser_.weights_from(score_, number_at<Sum>(row_stat, {b, h, i}), weights_);
    store_row(weights_.data(), c.keys, weights, weights.offset({b, to_head, to_row}));
  }

  void backward(const AttentionSaved& saved, const AttentionGrad& grad) {
    dphi_k_.assign(phi_k_.size(), 0);
    dv_.assign(v_.size(), 0);
    dvector_.assign(size(c.width), 0);
    for (Index h = g * c.group; h < (g + 1) * c.group; ++h)
      for (Index i = 0; i < c.queries; ++i) backward_row(saved, grad, h, i);
    std::vector<Sum> dk(size(c.width));
    for (Index j = 0; j < c.keys; ++j) {
      if (grad.dv) store_row(&dv_[size(j * c.value_width)], c.value_width, grad.dv, grad.dv.offset({b, g, j}));
      if (!grad.dk) continue;
      features_backward(&k_[size(j * c.width)], &phi_k_[size(j * c.features)], &dphi_k_[size(j * c.features)],
                        dk.data());
      store_row(dk.data(), c.width, grad.dk, grad.dk.offset({b, g, j}));
    }
    for (Index d = 0; grad.dadditive_vector && d < c.width; ++d) {
      add_number(grad.dadditive_vector, {d}, dvector_[size(d)]);
    }
  }

 private:
  static constexpr Sum kNone = RowNormaliser<Sum>::kNone;
  static std::size_t size(Index n) { return static_cast<std::size_t>(n); }

  bool additive() const { return c.spec.score.kind == Score::Kind::additive; }
  bool keeps(const DropoutRow& drop, Index j) const { return !c.dropout.active() || drop.keeps(j); }
  bool refused(Index j) const { return score_[size(j)] == kNone; }

  Sum rounded(Sum x) const {
    if (kept_ == DType::bf16) return to_float(to_bfloat16(static_cast<float>(x)));
    return kept_ == DType::f16 ? static_cast<Sum>(to_float(to_float16(static_cast<float>(x)))) : x;
  }

  std::vector<Sum> rows_of(const RowSource& source, Index width) const {
    std::vector<Sum> rows(size(c.keys * width));
    for (Index j = 0; j < c.keys; ++j) source.load(b, g, j, &rows[size(j * width)]);
    return rows;
  }
  std::vector<Sum> features_of(const std::vector<Sum>& rows, Index count) const {
    if (features_.identity()) return rows;
    std::vector<Sum> features(size(count * c.features));
    for (Index j = 0; j < count; ++j) features_.map(&rows[size(j * c.width)], &features[size(j * c.features)]);
    return features;
  }
  // A row that nothing flows to has no gradient, be it NaN behind the mask.
  void features_backward(const Sum* x, const Sum* phi, const Sum* dphi, Sum* dx) const {
    if (features_.identity()) {
      std::copy_n(dphi, c.width, dx);
    } else if (std::all_of(dphi, dphi + c.features, [](Sum flow) { return flow == 0; })) {
      std::fill_n(dx, c.width, Sum{0});
    } else {
      features_.backward(x, phi, dphi, dx);
    }
  }

  // s(q_i, k_j) before the cap.
  Sum raw_score(const Sum* q, const Sum* k) const {
    Sum sum = 0;
    if (additive()) {
      for (Index d = 0; d < c.width; ++d) sum += vector_[size(d)] * std::tanh(q[d] + k[d]);
      return sum;
    }
    if (c.spec.score.kind == Score::Kind::squared_distance) {
      for (Index d = 0; d < c.width; ++d) sum -= (q[d] - k[d]) * (q[d] - k[d]);
    } else {
      for (Index d = 0; d < c.features; ++d) sum += q[d] * k[d];
    }
    return sum * scale_;
  }

  // Fills q_ and phi_q_, raw_ and capped_ (of refused keys only where all are asked for), and score_: with the bias,
  // and -inf where the mask refuses the key.
  void score_row(Index h, Index i, bool all) {
    q_.resize(size(c.width));
    load_row(c.q, c.q.offset({b, h, i}), c.width, q_.data());
    phi_q_ = features_of(q_, 1);
    allowed_.resize(size(c.keys));
    c.mask.fill(b, h, i, {0, c.keys}, allowed_.data());
    for (std::vector<Sum>* row : {&raw_, &capped_, &bias_}) row->assign(size(c.keys), 0);
    score_.assign(size(c.keys), kNone);
    if (c.bias.active()) c.bias.add(b, h, i, {0, c.keys}, bias_.data());
    for (std::size_t j = 0; j < score_.size(); ++j) {
      const bool allowed = allowed_[j] != 0;
      if (!allowed && !all) continue;
      raw_[j] = rounded(raw_score(phi_q_.data(), &phi_k_[j * size(c.features)]));
      capped_[j] = cap_ > 0 ? rounded(cap_ * std::tanh(raw_[j] / cap_)) : raw_[j];
      if (allowed) score_[j] = c.bias.active() ? rounded(capped_[j] + bias_[j]) : capped_[j];
    }
  }

  // Fills dscore_: the gradient of the scores after the scale and before the cap.
  //   dP_j = keep_j / (1 - p) * dout . v_j      dS = N'(dP)      the cap: dS_j (1 - (s_j / c)^2)
  // The bias takes dS before the cap's factor, the sink what is left of the softmax.
  void score_gradient(const AttentionSaved& saved, const AttentionGrad& grad, Index h, Index i, Sum stat) {
    const DropoutRow drop = c.dropout.row(b, h, i);
    dweights_.assign(score_.size(), 0);
    dscore_.assign(score_.size(), 0);
    Sum flow = 0;
    for (Index j = 0; j < c.keys; ++j) {
      if (refused(j) || !keeps(drop, j)) continue;
      const Sum* v = &v_[size(j * c.value_width)];
      Sum sum = 0;
      for (Index d = 0; d < c.value_width; ++d) sum += dout_[size(d)] * v[d];
      dweights_[size(j)] = rounded(sum * keep_scale_);
      flow += weights_[size(j)] * dweights_[size(j)];
    }
    const Sum dstat = saved.drow_stat && stat != kNone ? number_at<Sum>(saved.drow_stat, {b, h, i}) : Sum{0};
    normaliser_.gradient(score_, weights_, stat, dweights_, dstat, dscore_);
    for (Sum& dscore : dscore_) dscore = rounded(dscore);
    if (grad.dsinks && stat != kNone) {
      add_number(grad.dsinks, {h}, std::exp(c.sink<Sum>(h) - stat) * (dstat - flow));
    }
    if (c.bias.active()) c.bias.add_gradient(b, h, i, {0, c.keys}, dscore_.data(), grad);
    for (std::size_t j = 0; cap_ > 0 && j < dscore_.size(); ++j) {
      if (score_[j] == kNone) continue;
      const Sum bent = capped_[j] / cap_;
      dscore_[j] = rounded(dscore_[j] * (1 - bent * bent));
    }
  }

  void backward_row(const AttentionSaved& saved, const AttentionGrad& grad, Index h, Index i) {
    score_row(h, i, false);
    const Sum stat = number_at<Sum>(saved.row_stat, {b, h, i});
    weights_.assign(score_.size(), 0);
    normaliser_.weights_from(score_, stat, weights_);
    dout_.resize(size(c.value_width));
    load_row(saved.dout, saved.dout.offset({b, h, i}), c.value_width, dout_.data());
    score_gradient(saved, grad, h, i, stat);
    const DropoutRow drop = c.dropout.row(b, h, i);
    dphi_q_.assign(size(c.features), 0);
    for (Index j = 0; j < c.keys; ++j) {
      if (refused(j)) continue;
      flow_through_score(j, dscore_[size(j)]);
      if (!keeps(drop, j)) continue;
      const Sum weight = rounded(weights_[size(j)] * keep_scale_);
      Sum* dv = &dv_[size(j * c.value_width)];
      for (Index d = 0; d < c.value_width; ++d) dv[d] += weight * dout_[size(d)];
    }
    if (!grad.dq) return;
    std::vector<Sum> dq(size(c.width));
    features_backward(q_.data(), phi_q_.data(), dphi_q_.data(), dq.data());
    store_row(dq.data(), c.width, grad.dq, grad.dq.offset({b, h, i}));
  }

  // From the gradient of s(q_i, k_j) to both sides of it.
  void flow_through_score(Index j, Sum dscore) {
    const Sum* k = &phi_k_[size(j * c.features)];
    Sum* dk = &dphi_k_[size(j * c.features)];
    for (Index d = 0; d < c.features; ++d) {
      Sum &to_q = dphi_q_[size(d)], &to_k = dk[d];
      const Sum q = phi_q_[size(d)];
      if (additive()) {
        const Sum bent = std::tanh(q + k[d]), flow = dscore * vector_[size(d)] * (1 - bent * bent);
        to_q += flow, to_k += flow;
        dvector_[size(d)] += dscore * bent;
      } else if (c.spec.score.kind == Score::Kind::squared_distance) {
        const Sum flow = 2 * dscore * scale_ * (q - k[d]);
        to_q -= flow, to_k += flow;
      } else {
        to_q += dscore * scale_ * k[d];
        to_k += dscore * scale_ * q;
      }
    }
  }

  const AttentionProblem& c;
  const Index b, g;
  const DType kept_;
  const ScoreFeatures<Sum> features_;
  RowNormaliser<Sum> normaliser_;
  const Sum scale_, cap_, keep_scale_;
  const std::vector<Sum> k_, v_, phi_k_;  // [Lk, D], [Lk, Dv], [Lk, features]
  std::vector<Sum> vector_;               // of the additive score
  std::vector<std::uint8_t> allowed_;     // of the row at work, [Lk], as the next two lines
  std::vector<Sum> raw_, capped_, bias_, score_, weights_;
  std::vector<Sum> dweights_, dscore_;
  std::vector<Sum> q_, phi_q_, dphi_q_, out_, dout_;
  std::vector<Sum> dphi_k_, dv_, dvector_;  // of the key/value head
};

// Of the `head`-th of those of each batch element that are chosen.
template <typename Sum>
void weights_of_head(const AttentionProblem& c, const ConstView& row_stat, const AttentionSelection& chosen,
                     const View& to, Index head, DType kept) {
  const Index b = head / to.shape[1], at = head % to.shape[1], h = chosen.head(at);
  HeadLoops<Sum> loops(c, b, h / c.group, kept);
  for (Index r = 0; r < to.shape[2]; ++r) loops.weights_row(row_stat, h, chosen.row(r), to, at, r);
}

std::string_view can_all(const AttentionProblem&, const AttentionTask&) { return {}; }

void reference_forward(const AttentionProblem& c, const AttentionResult& result, Workspace&) {
  const double work = static_cast<double>(c.queries * c.keys) * static_cast<double>(c.width + c.value_width);
  parallel_for(c.batch * c.heads, grain_of(work, kReferenceChunkWork), [&](Index begin, Index end) {
    for (Index head = begin; head < end; ++head) {
      const Index h = head % c.heads;
      HeadLoops<double> loops(c, head / c.heads, h / c.group, DType::f64);
      for (Index i = 0; i < c.queries; ++i) loops.forward_row(result, h, i);
    }
  });
}

// One group after another: the parameters' gradients are sums over them.
void reference_backward(const AttentionProblem& c, const AttentionSaved& saved, const AttentionGrad& grad, Workspace&) {
  for (Index b = 0; b < c.batch; ++b)
    for (Index g = 0; g < c.key_heads; ++g) reference_backward_group(c, saved, grad, b, g);
}

std::string_view f32_alone(const AttentionProblem& c, const AttentionTask&) {
  return c.dtype == DType::f64 ? "it computes in f32" : "";
}

void plain_forward(const AttentionProblem& c, const AttentionResult& result, Workspace&) {
  for (Index b = 0; b < c.batch; ++b)
    for (Index h = 0; h < c.heads; ++h) {
      HeadLoops<float> loops(c, b, h / c.group, c.dtype);
      for (Index i = 0; i < c.queries; ++i) loops.forward_row(result, h, i);
    }
}

void plain_backward(const AttentionProblem& c, const AttentionSaved& saved, const AttentionGrad& grad, Workspace&) {
  for (Index b = 0; b < c.batch; ++b)
    for (Index g = 0; g < c.key_heads; ++g) HeadLoops<float>(c, b, g, c.dtype).backward(saved, grad);
}

void plain_weights(const AttentionProblem& c, const ConstView& row_stat, const AttentionSelection& chosen,
                   const View& to, Workspace&) {
  for (Index head = 0; head < c.batch * to.shape[1]; ++head) {
    weights_of_head<float>(c, row_stat, chosen, to, head, c.dtype);
  }
}

}  // namespace

void reference_forward_rows(const AttentionProblem& c, const AttentionResult& result, Index b, Index h,
                            std::span<const Index> rows) {
  HeadLoops<double> loops(c, b, h / c.group, DType::f64);
  for (Index i : rows) loops.forward_row(result, h, i);
}

void reference_backward_group(const AttentionProblem& c, const AttentionSaved& saved, const AttentionGrad& grad,
                              Index b, Index g) {
  HeadLoops<double>(c, b, g, DType::f64).backward(saved, grad);
}

void reference_weights(const AttentionProblem& c, const ConstView& row_stat, const AttentionSelection& chosen,
                       const View& to, Workspace&) {
  parallel_for(c.batch * to.shape[1], 1, [&](Index begin, Index end) {
    for (Index head = begin; head < end; ++head) weights_of_head<double>(c, row_stat, chosen, to, head, DType::f64);
  });
}

const AttentionPlan kReferencePlan{"reference",       SumOrder::rows,     can_all,          pair_cost,
                                   reference_forward, reference_backward, reference_weights};
const AttentionPlan kPlainPlan{"plain",       SumOrder::plain, f32_alone,    pair_cost,
                               plain_forward, plain_backward,  plain_weights};

}  // namespace heed
