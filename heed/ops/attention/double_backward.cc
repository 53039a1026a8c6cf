#include "heed/ops/attention/double_backward.h"

#include <cmath>
#include <limits>
#include <vector>

#include "heed/base/check.h"
#include "heed/base/parallel.h"
#include "heed/ops/attention/memory_check.h"
#include "heed/ops/attention/problem/attention_problem.h"

namespace heed {
namespace {

// The heads that read one key/value head. For a row, with s = scale q . k, x = cap(s) + b, w = softmax(x), m the
// dropout's factors, and u the incoming second gradients:
//
//   dP_j = m_j dout . v_j         delta = sum w dP            dx = w (dP - delta)           ds = cap'(s) dx
//   L = sum_j a_j ds_j + e_j w_j,   a_j = scale (u_q . k_j + u_k_j . q),   e_j = m_j dout . u_v_j
//
// With A = cap' a and A_ = sum w A:
//   dL/d(dP) = w (A - A_)         dL/dw = A (dP - delta) - A_ dP + e
//   dL/dx = w (dL/dw - sum w dL/dw)         dL/ds = cap' dL/dx + cap'' a dx         dL/da = ds
class SecondOrderHead {
  using Rows = std::vector<double>;

 public:
  SecondOrderHead(const AttentionProblem& problem, const AttentionSaved& given, const AttentionSecond& incoming,
                  const AttentionSecondGrad& wanted, Index batch, Index key_head)
      : c(problem), saved(given), second(incoming), grad(wanted), b(batch), g(key_head) {
    k_ = rows_of(c.k.view(), c.width), v_ = rows_of(c.v.view(), c.value_width);
    ddk_ = rows_of(second.ddk, c.width), ddv_ = rows_of(second.ddv, c.value_width);
    dk_.assign(k_.size(), 0), dv_.assign(v_.size(), 0);
    for (Rows* row : {&bias_, &weight_, &slope_, &curve_, &flow_, &factor_, &pull_, &extra_}) {
      row->assign(size(c.keys), 0);
    }
    allowed_.resize(size(c.keys));
    for (Rows* row : {&q_, &ddq_, &dq_}) row->assign(size(c.width), 0);
    for (Rows* row : {&dout_, &ddout_}) row->assign(size(c.value_width), 0);
  }

  void compute() {
    for (Index h = g * c.group; h < (g + 1) * c.group; ++h)
      for (Index i = 0; i < c.queries; ++i) add_row(h, i);
    for (Index j = 0; j < c.keys; ++j) {
      if (grad.dk) store_row(&dk_[size(j * c.width)], c.width, grad.dk, grad.dk.offset({b, g, j}));
      if (grad.dv) store_row(&dv_[size(j * c.value_width)], c.value_width, grad.dv, grad.dv.offset({b, g, j}));
    }
  }

 private:
  static std::size_t size(Index n) { return static_cast<std::size_t>(n); }

  Rows rows_of(const ConstView& view, Index width) const {
    Rows rows(size(c.keys * width), 0);
    for (Index j = 0; view && j < c.keys; ++j) load_row(view, view.offset({b, g, j}), width, &rows[size(j * width)]);
    return rows;
  }

  static double dot(const double* x, const double* y, Index n) {
    double sum = 0;
    for (Index d = 0; d < n; ++d) sum += x[d] * y[d];
    return sum;
  }

  void add_row(Index h, Index i) {
    const double stat = number_at<double>(saved.row_stat, {b, h, i});
    load_row(c.q, c.q.offset({b, h, i}), c.width, q_.data());
    load_row(saved.dout, saved.dout.offset({b, h, i}), c.value_width, dout_.data());
    if (second.ddq) load_row(second.ddq, second.ddq.offset({b, h, i}), c.width, ddq_.data());
    std::fill(dq_.begin(), dq_.end(), 0), std::fill(ddout_.begin(), ddout_.end(), 0);
    if (stat != -std::numeric_limits<double>::infinity()) {
      first_order(h, i, stat);
      second_order();
    }
    if (grad.dq) store_row(dq_.data(), c.width, grad.dq, grad.dq.offset({b, h, i}));
    if (grad.ddout) store_row(ddout_.data(), c.value_width, grad.ddout, grad.ddout.offset({b, h, i}));
  }

  // What backward computed: weights, cap' and cap'', m and dP - delta, for the keys that are there.
  void first_order(Index h, Index i, double stat) {
    const DropoutRow drop = c.dropout.row(b, h, i);
    c.mask.fill(b, h, i, {0, c.keys}, allowed_.data());
    std::fill(bias_.begin(), bias_.end(), 0);
    if (c.bias.active()) c.bias.add(b, h, i, {0, c.keys}, bias_.data());
    delta_ = 0;
    for (std::size_t j = 0; j < allowed_.size(); ++j) {
      if (allowed_[j] == 0) continue;
      const double s = c.scale * dot(q_.data(), &k_[j * size(c.width)], c.width);
      const double bent = c.cap > 0 ? std::tanh(s / c.cap) : 0;
      const double x = (c.cap > 0 ? c.cap * bent : s) + bias_[j];
      if (x == -std::numeric_limits<double>::infinity()) {
        allowed_[j] = 0;
        continue;
      }
      slope_[j] = 1 - bent * bent;
      curve_[j] = c.cap > 0 ? -2 * bent * slope_[j] / c.cap : 0;
      weight_[j] = std::exp(x - stat);
      const bool kept = !c.dropout.active() || drop.keeps(static_cast<Index>(j));
      factor_[j] = kept ? c.dropout.scale() : 0;
      flow_[j] = kept ? factor_[j] * dot(dout_.data(), &v_[j * size(c.value_width)], c.value_width) : 0;
      delta_ += weight_[j] * flow_[j];
    }
  }

  void second_order() {
    double mean_pull = 0, mean_weight = 0;
    for (std::size_t j = 0; j < allowed_.size(); ++j) {
      if (allowed_[j] == 0) continue;
      const double* k = &k_[j * size(c.width)];
      pull_[j] = c.scale * (dot(ddq_.data(), k, c.width) + dot(q_.data(), &ddk_[j * size(c.width)], c.width));
      extra_[j] = factor_[j] * dot(dout_.data(), &ddv_[j * size(c.value_width)], c.value_width);
      mean_pull += weight_[j] * slope_[j] * pull_[j];
    }
    const auto by_weight = [&](std::size_t j) {
      return slope_[j] * pull_[j] * (flow_[j] - delta_) - mean_pull * flow_[j] + extra_[j];
    };
    for (std::size_t j = 0; j < allowed_.size(); ++j) {
      if (allowed_[j] != 0) mean_weight += weight_[j] * by_weight(j);
    }
    for (std::size_t j = 0; j < allowed_.size(); ++j) {
      if (allowed_[j] == 0) continue;
      const double dx = weight_[j] * (flow_[j] - delta_), ds = slope_[j] * dx;
      const double by_x = weight_[j] * (by_weight(j) - mean_weight);
      const double by_s = slope_[j] * by_x + curve_[j] * pull_[j] * dx;
      const double by_flow = weight_[j] * (slope_[j] * pull_[j] - mean_pull) * factor_[j];
      for (std::size_t d = 0; d < size(c.width); ++d) {
        const std::size_t at = j * size(c.width) + d;
        dq_[d] += c.scale * (by_s * k_[at] + ds * ddk_[at]);
        dk_[at] += c.scale * (by_s * q_[d] + ds * ddq_[d]);
      }
      for (std::size_t d = 0; d < size(c.value_width) && factor_[j] != 0; ++d) {
        const std::size_t at = j * size(c.value_width) + d;
        dv_[at] += by_flow * dout_[d];
        ddout_[d] += by_flow * v_[at] + factor_[j] * weight_[j] * ddv_[at];
      }
    }
  }

  const AttentionProblem& c;
  const AttentionSaved& saved;
  const AttentionSecond& second;
  const AttentionSecondGrad& grad;
  const Index b, g;
  Rows k_, v_, ddk_, ddv_, dk_, dv_;  // of the key/value head
  // Of the row at work; those of keys hold rubbish where a key is not allowed.
  std::vector<std::uint8_t> allowed_;
  Rows bias_, weight_, slope_, curve_, flow_, factor_, pull_, extra_;
  Rows q_, ddq_, dq_, dout_, ddout_;
  double delta_ = 0;
};

void check_like(const char* name, const ConstView& view, const ConstView& like) {
  HEED_CHECK(!view || (same_shape(view, like) && view.dtype == like.dtype && has_unit_rows(view)),
             "attention_double_backward: {} must be as {}, with stride 1 along its last axis, but is {}", name,
             describe(like), describe(view));
}

}  // namespace

void attention_double_backward(ConstView q, ConstView k, ConstView v, const AttentionSpec& spec,
                               const AttentionSaved& saved, const AttentionSecond& second,
                               const AttentionSecondGrad& grad) {
  const char* caller = "attention_double_backward";
  HEED_CHECK(spec.score.kind == Score::Kind::dot && spec.normaliser.kind == Normaliser::Kind::softmax,
             "{}: the score must be a dot product and the normaliser softmax", caller);
  HEED_CHECK(!spec.sequences.pages && !spec.sequences.query_offsets && !spec.sequences.key_offsets,
             "{}: packed and paged sequences have no second derivatives", caller);
  HEED_CHECK(k.dtype != DType::i8 && v.dtype != DType::i8, "{}: i8 has no derivatives, but k is {} and v {}", caller,
             describe(k), describe(v));
  HEED_CHECK(!saved.drow_stat, "{}: a gradient of row_stat is not taken further", caller);
  check_call(caller, spec,
             {{"q", q},
              {"k", k},
              {"v", v, kOptional},
              {"row_stat", saved.row_stat, kOptional},
              {"dout", saved.dout, kOptional},
              {"ddq", second.ddq, kOptional},
              {"ddk", second.ddk, kOptional},
              {"ddv", second.ddv, kOptional}},
             {{"dq", grad.dq, kOptional},
              {"dk", grad.dk, kOptional},
              {"dv", grad.dv, kOptional},
              {"ddout", grad.ddout, kOptional}});
  const AttentionProblem c = make_attention_problem(caller, q, k, v, spec);
  HEED_CHECK(v && saved.dout && saved.row_stat, "{}: v, row_stat and dout must be given, but are {}, {} and {}", caller,
             describe(v), describe(saved.row_stat), describe(saved.dout));
  HEED_CHECK(has_shape(saved.row_stat, {c.batch, c.heads, c.queries}) && saved.row_stat.dtype == c.number,
             "{}: row_stat must be {} [{}, {}, {}], but is {}", caller, name_of(c.number), c.batch, c.heads, c.queries,
             describe(saved.row_stat));
  HEED_CHECK(has_shape(saved.dout, {c.batch, c.heads, c.queries, c.value_width}) && saved.dout.dtype == c.dtype &&
                 has_unit_rows(saved.dout),
             "{}: dout must be {} [{}, {}, {}, {}], with stride 1 along its last axis, but is {}", caller,
             name_of(c.dtype), c.batch, c.heads, c.queries, c.value_width, describe(saved.dout));
  check_like("ddq", second.ddq, q), check_like("ddk", second.ddk, k), check_like("ddv", second.ddv, v);
  check_like("dq", grad.dq, q), check_like("dk", grad.dk, k), check_like("dv", grad.dv, v);
  check_like("ddout", grad.ddout, saved.dout);
  parallel_for(c.batch * c.key_heads, 1, [&](Index begin, Index end) {
    for (Index unit = begin; unit < end; ++unit) {
      SecondOrderHead(c, saved, second, grad, unit / c.key_heads, unit % c.key_heads).compute();
    }
  });
}

}  // namespace heed
