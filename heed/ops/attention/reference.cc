#include "heed/ops/attention/reference.h"

#include <cmath>
#include <limits>
#include <vector>

#include "heed/base/parallel.h"

namespace heed {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// s(q_i, k_j) before the cap.
template <typename T>
double raw_score(const AttentionCase& c, const T* q, const T* k) {
  double sum = 0;
  if (c.spec.score.kind == Score::Kind::additive) {
    const ConstView& vector = c.spec.score.additive_vector;
    for (Index d = 0; d < c.width; ++d) sum += double{vector.at<T>({d})} * std::tanh(double{q[d]} + double{k[d]});
    return sum;
  }
  for (Index d = 0; d < c.width; ++d) sum += double{q[d]} * double{k[d]};
  return sum * c.scale;
}

double capped(const AttentionCase& c, double score) { return c.cap > 0 ? c.cap * std::tanh(score / c.cap) : score; }

// What the plain loops of one row work in.
struct Row {
  std::vector<double> capped;   // the score after the cap
  std::vector<double> score;    // and after the bias; -inf where the mask refuses the key
  std::vector<double> weights;  // after the normaliser
};

template <typename T>
void score_row(const AttentionCase& c, Index b, Index h, Index i, bool all_scores, Row& row) {
  const T* q = &c.q.at<T>({b, h, i});
  row.capped.assign(static_cast<std::size_t>(c.keys), 0);
  row.score.assign(static_cast<std::size_t>(c.keys), -kInfinity);
  for (Index j = 0; j < c.keys; ++j) {
    const bool allowed = c.mask.allows(b, h, i, j);
    if (!allowed && !all_scores) continue;
    row.capped[j] = capped(c, raw_score(c, q, &c.k.at<T>({b, h / c.group, j})));
    if (allowed) row.score[j] = row.capped[j] + (c.bias ? double{c.bias.at<T>({b, h, i, j})} : 0.0);
  }
}

// Fills weights and returns log sum_j exp(score_j). A score of -inf is a key that is not there; with no key at all the
// weights are zero and the result is -inf. A NaN makes every weight NaN.
double softmax_row(Row& row) {
  double largest = -kInfinity;
  for (double s : row.score) largest = s > largest || std::isnan(s) ? s : largest;
  row.weights.assign(row.score.size(), 0);
  if (largest == -kInfinity) return -kInfinity;
  double sum = 0;
  for (double s : row.score) sum += s == -kInfinity ? 0.0 : std::exp(s - largest);
  const double stat = largest + std::log(sum);
  for (std::size_t j = 0; j < row.score.size(); ++j) {
    if (row.score[j] != -kInfinity) row.weights[j] = std::exp(row.score[j] - largest) / sum;
  }
  return stat;
}

void weights_from_stat(double stat, Row& row) {
  row.weights.assign(row.score.size(), 0);
  for (std::size_t j = 0; j < row.score.size(); ++j) {
    if (row.score[j] != -kInfinity) row.weights[j] = std::exp(row.score[j] - stat);
  }
}

template <typename T>
void store_row(const View& view, Index b, Index h, Index i, const std::vector<double>& values) {
  for (Index j = 0; j < view.shape[3]; ++j) view.at<T>({b, h, i, j}) = static_cast<T>(values[j]);
}

template <typename T>
void forward_row(const AttentionCase& c, const AttentionResult& result, Index b, Index h, Index i) {
  Row row;
  score_row<T>(c, b, h, i, bool{result.scores}, row);
  if (result.scores) store_row<T>(result.scores, b, h, i, row.capped);
  const double stat = softmax_row(row);
  if (result.row_stat) result.row_stat.at<T>({b, h, i}) = static_cast<T>(stat);
  if (result.weights) store_row<T>(result.weights, b, h, i, row.weights);
  if (!result.out) return;
  const DropoutRow drop = c.dropout.row(b, h, i);
  std::vector<double> out(static_cast<std::size_t>(c.value_width), 0);
  for (Index j = 0; j < c.keys; ++j) {
    if (row.score[j] == -kInfinity || (c.dropout.active() && !drop.keeps(j))) continue;
    const double weight = row.weights[j] * c.dropout.scale();
    const T* v = &c.v.at<T>({b, h / c.group, j});
    for (Index d = 0; d < c.value_width; ++d) out[d] += weight * double{v[d]};
  }
  store_row<T>(result.out, b, h, i, out);
}

// The gradient of one row's scores (after the scale, before the cap), from the weights and what flows into them.
//   dP_j = keep_j / (1 - p) * dout . v_j      dS_j = w_j (dP_j - sum_k w_k dP_k)      the cap: dS_j (1 - (s_j / c)^2)
// dbias takes dS before the cap's factor.
template <typename T>
std::vector<double> score_gradient(const AttentionCase& c, const AttentionSaved& saved, const View& dbias,
                                   const Row& row, Index b, Index h, Index i) {
  const T* dout = &saved.dout.at<T>({b, h, i});
  const DropoutRow drop = c.dropout.row(b, h, i);
  std::vector<double> gradient(static_cast<std::size_t>(c.keys), 0);
  double mean = 0;
  for (Index j = 0; j < c.keys; ++j) {
    if (row.score[j] == -kInfinity || (c.dropout.active() && !drop.keeps(j))) continue;
    const T* v = &c.v.at<T>({b, h / c.group, j});
    for (Index d = 0; d < c.value_width; ++d) gradient[j] += double{dout[d]} * double{v[d]};
    gradient[j] *= c.dropout.scale();
    mean += row.weights[j] * gradient[j];
  }
  for (Index j = 0; j < c.keys; ++j) {
    if (row.score[j] == -kInfinity) continue;
    gradient[j] = row.weights[j] * (gradient[j] - mean);
    if (dbias) dbias.at<T>({b, h, i, j}) += static_cast<T>(gradient[j]);
    const double bent = c.cap > 0 ? row.capped[j] / c.cap : 0;
    gradient[j] *= 1 - bent * bent;
  }
  return gradient;
}

// A broadcast gradient's view, indexable by the full (b, h, i, j).
View broadcast(View view) {
  for (int axis = 0; axis < view.rank; ++axis) {
    if (view.shape[axis] == 1) view.stride[axis] = 0;
  }
  return view;
}

struct GroupGradients {
  std::vector<double> dk, dv, dvector;
};

template <typename T>
void backward_row(const AttentionCase& c, const AttentionSaved& saved, const AttentionGrad& grad, Index b, Index h,
                  Index i, GroupGradients& sums) {
  Row row;
  score_row<T>(c, b, h, i, false, row);
  weights_from_stat(saved.row_stat.at<T>({b, h, i}), row);
  const std::vector<double> ds = score_gradient<T>(c, saved, broadcast(grad.dbias), row, b, h, i);
  const DropoutRow drop = c.dropout.row(b, h, i);
  const T *q = &c.q.at<T>({b, h, i}), *dout = &saved.dout.at<T>({b, h, i});
  std::vector<double> dq(static_cast<std::size_t>(c.width), 0);
  for (Index j = 0; j < c.keys; ++j) {
    if (row.score[j] == -kInfinity) continue;
    const T* k = &c.k.at<T>({b, h / c.group, j});
    double* dk = &sums.dk[j * c.width];
    if (c.spec.score.kind == Score::Kind::additive) {
      for (Index d = 0; d < c.width; ++d) {
        const double t = std::tanh(double{q[d]} + double{k[d]});
        const double flow = ds[j] * double{c.spec.score.additive_vector.at<T>({d})} * (1 - t * t);
        dq[d] += flow;
        dk[d] += flow;
        sums.dvector[d] += ds[j] * t;
      }
    } else {
      for (Index d = 0; d < c.width; ++d) {
        dq[d] += ds[j] * c.scale * double{k[d]};
        dk[d] += ds[j] * c.scale * double{q[d]};
      }
    }
    if (c.dropout.active() && !drop.keeps(j)) continue;
    const double weight = row.weights[j] * c.dropout.scale();
    for (Index d = 0; d < c.value_width; ++d) sums.dv[j * c.value_width + d] += weight * double{dout[d]};
  }
  if (grad.dq) store_row<T>(grad.dq, b, h, i, dq);
}

template <typename T>
void backward_group(const AttentionCase& c, const AttentionSaved& saved, const AttentionGrad& grad, Index b, Index g) {
  GroupGradients sums;
  sums.dk.assign(static_cast<std::size_t>(c.keys * c.width), 0);
  sums.dv.assign(static_cast<std::size_t>(c.keys * c.value_width), 0);
  sums.dvector.assign(static_cast<std::size_t>(c.width), 0);
  for (Index h = g * c.group; h < (g + 1) * c.group; ++h)
    for (Index i = 0; i < c.queries; ++i) backward_row<T>(c, saved, grad, b, h, i, sums);
  for (Index j = 0; j < c.keys; ++j) {
    if (grad.dk)
      for (Index d = 0; d < c.width; ++d) grad.dk.at<T>({b, g, j, d}) = static_cast<T>(sums.dk[j * c.width + d]);
    if (grad.dv)
      for (Index d = 0; d < c.value_width; ++d)
        grad.dv.at<T>({b, g, j, d}) = static_cast<T>(sums.dv[j * c.value_width + d]);
  }
  if (grad.dadditive_vector)
    for (Index d = 0; d < c.width; ++d) grad.dadditive_vector.at<T>({d}) += static_cast<T>(sums.dvector[d]);
}

template <typename T>
void weights_row(const AttentionCase& c, const ConstView& row_stat, const View& weights, Index b, Index h, Index i) {
  Row row;
  score_row<T>(c, b, h, i, false, row);
  weights_from_stat(row_stat.at<T>({b, h, i}), row);
  store_row<T>(weights, b, h, i, row.weights);
}

std::string refuse(const AttentionCase&) { return {}; }

void forward(const AttentionCase& c, const AttentionResult& result, Workspace&) {
  parallel_for(c.batch * c.heads, 1, [&](Index begin, Index end) {
    for (Index head = begin; head < end; ++head)
      for (Index i = 0; i < c.queries; ++i) reference_forward_row(c, result, head / c.heads, head % c.heads, i);
  });
}

// One group after another: dbias and dadditive_vector are sums over them.
void backward(const AttentionCase& c, const AttentionSaved& saved, const AttentionGrad& grad, Workspace&) {
  for (Index b = 0; b < c.batch; ++b)
    for (Index g = 0; g < c.key_heads; ++g) reference_backward_group(c, saved, grad, b, g);
}

}  // namespace

void reference_forward_row(const AttentionCase& c, const AttentionResult& result, Index b, Index h, Index i) {
  c.dtype == DType::f64 ? forward_row<double>(c, result, b, h, i) : forward_row<float>(c, result, b, h, i);
}

void reference_backward_group(const AttentionCase& c, const AttentionSaved& saved, const AttentionGrad& grad, Index b,
                              Index g) {
  c.dtype == DType::f64 ? backward_group<double>(c, saved, grad, b, g) : backward_group<float>(c, saved, grad, b, g);
}

void reference_weights_row(const AttentionCase& c, const ConstView& row_stat, const View& weights, Index b, Index h,
                           Index i) {
  c.dtype == DType::f64 ? weights_row<double>(c, row_stat, weights, b, h, i)
                        : weights_row<float>(c, row_stat, weights, b, h, i);
}

const AttentionPlan kReferencePlan{"reference", refuse, forward, backward};

}  // namespace heed
