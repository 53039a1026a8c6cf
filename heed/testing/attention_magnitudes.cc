#include "heed/testing/attention_magnitudes.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "heed/ops/attention/problem/score_features.h"

namespace heed::testing {
namespace {

double largest_of(const Tensor& tensor) {
  double largest = 0;
  for (Index i = 0; !tensor.is_empty() && i < tensor.size(); ++i) {
    const double x = std::abs(tensor.data<double>()[i]);
    if (std::isfinite(x)) largest = std::max(largest, x);
  }
  return largest;
}

double largest_of(const double* x, Index count) {
  double largest = 0;
  for (Index d = 0; d < count; ++d) largest = std::max(largest, std::abs(x[d]));
  return largest;
}

double sum_of_products(const double* x, const double* y, Index count) {
  double sum = 0;
  for (Index d = 0; d < count; ++d) sum += std::abs(x[d] * y[d]);
  return sum;
}

double norm_of(const double* x, Index count) {
  double sum = 0;
  for (Index d = 0; d < count; ++d) sum += x[d] * x[d];
  return std::sqrt(sum);
}

class Sums {
 public:
  Sums(const AttentionSample& problem, const AttentionAnswer& exact)
      : p_(problem),
        a_(exact),
        c_(make_attention_problem("magnitudes_of", p_.q, p_.k, p_.v, p_.spec)),
        map_(c_),
        dk_(Tensor::zeros(DType::f64, {c_.batch, c_.key_heads, c_.keys})),
        dv_(Tensor::zeros_like(dk_)),
        dsinks_(Tensor::zeros(DType::f64, {c_.heads})) {
    if (!p_.dense.is_empty()) dbias_ = Tensor::zeros_like(p_.dense);
    if (!p_.centre.is_empty()) dcentre_ = Tensor::zeros_like(p_.centre);
    if (!p_.relative.is_empty()) drelative_ = Tensor::zeros_like(p_.relative);
  }

  AttentionMagnitudes take() {
    for (Index b = 0; b < c_.batch; ++b)
      for (Index h = 0; h < c_.heads; ++h)
        for (Index i = 0; i < c_.queries; ++i) take_row(b, h, i);
    const double stat = std::max(largest_of(a_.row_stat), score_);
    const double recovered = std::max(recovered_, share_of_stat_ * stat);
    return {{out_, stat, std::max(largest_of(a_.weights), moved_), score_, recovered, dq_, largest_of(dk_),
             largest_of(dv_), largest_of(dbias_), dvector_, largest_of(dsinks_), largest_of(drelative_),
             largest_of(dcentre_)}};
  }

 private:
  const double* row(const Tensor& rows, Index b, Index h, Index i) const { return &rows.at<double>({b, h, i, 0}); }

  // The score's sum of magnitudes, and how much a change of it changes the numbers of q_i and of k_j.
  struct Score {
    double size, to_q, to_k;
    bool counts = true;  // neither the mask nor the bias refuses it
    double bent = 0;     // what the cap leaves of the size
  };
  Score score_of(const double* q, const double* k) {
    const double scale = std::abs(c_.scale);
    switch (c_.spec.score.kind) {
      case heed::Score::Kind::additive: {
        const double* v = p_.vector.data<double>();
        double sum = 0;
        for (Index d = 0; d < c_.width; ++d) sum += std::abs(v[d]);
        return {sum, largest_of(v, c_.width), largest_of(v, c_.width)};
      }
      case heed::Score::Kind::squared_distance: {
        const double step = 2 * scale * (largest_of(q, c_.width) + largest_of(k, c_.width));
        double sum = 0;
        for (Index d = 0; d < c_.width; ++d) sum += scale * (q[d] - k[d]) * (q[d] - k[d]);
        return {sum, step, step};
      }
      case heed::Score::Kind::cosine:
        return {scale, 2 * scale / norm_of(q, c_.width), 2 * scale / norm_of(k, c_.width)};
      case heed::Score::Kind::dot:
        return {scale * sum_of_products(q, k, c_.width), scale * largest_of(k, c_.width),
                scale * largest_of(q, c_.width)};
      case heed::Score::Kind::feature_map:
        break;
    }
    phi_q_.resize(static_cast<std::size_t>(c_.features)), phi_k_.resize(phi_q_.size());
    map_.map(q, phi_q_.data()), map_.map(k, phi_k_.data());
    const double size = scale * sum_of_products(phi_q_.data(), phi_k_.data(), c_.features);
    if (p_.projection.is_empty()) {
      return {size, scale * largest_of(phi_k_.data(), c_.features), scale * largest_of(phi_q_.data(), c_.features)};
    }
    const double root = std::sqrt(c_.feature_scale), w = largest_of(p_.projection);
    return {size, size * root * (w + root * largest_of(q, c_.width)),
            size * root * (w + root * largest_of(k, c_.width))};
  }

  // How much a score of the row takes of the gradient of its weight.
  double share(double weight, double stat) const {
    switch (c_.spec.normaliser.kind) {
      case Normaliser::Kind::sparsemax:
        return weight > 0 ? 1 : 0;
      case Normaliser::Kind::entmax15:
        return std::sqrt(weight);
      case Normaliser::Kind::sum:
        return stat != 0 ? 1 / stat : 0;
      default:
        return weight;
    }
  }

  // How far a weight, or a score's share, is moved where row_stat moves by a quarter of itself. The backward pass takes
  // its weights from row_stat, and the f32 in which that is kept is half a unit off: what four units granted of a
  // quarter cover.
  double strain_of_weight(double weight, double stat) const {
    switch (c_.spec.normaliser.kind) {
      case Normaliser::Kind::softmax:
        return weight * std::abs(stat) / 4;
      case Normaliser::Kind::sparsemax:
        return weight > 0 ? std::abs(stat) / 4 : 0;
      case Normaliser::Kind::entmax15:
        return std::sqrt(weight) * std::abs(stat) / 2;
      default:
        return 0;
    }
  }
  double strain_of_share(double weight, double stat) const {
    const bool root = c_.spec.normaliser.kind == Normaliser::Kind::entmax15;
    if (root) return weight > 0 ? std::abs(stat) / 4 : 0;
    return c_.spec.normaliser.kind == Normaliser::Kind::softmax ? strain_of_weight(weight, stat) : 0;
  }

  void take_scores(Index b, Index h, Index i) {
    scores_.clear();
    for (Index j = 0; j < c_.keys; ++j) {
      Score score = score_of(row(p_.q, b, h, i), row(p_.k, b, h / c_.group, j));
      double bias = 0;
      if (c_.bias.active()) c_.bias.add(b, h, i, {j, j + 1}, &bias);
      score.counts = c_.mask.allows(b, h, i, j) && std::isfinite(bias);
      // A cap has a slope of up to 1: where tanhs nearly cancel, it leaves the rounding of their sum as it is.
      const bool additive = c_.spec.score.kind == heed::Score::Kind::additive;
      score.bent = c_.cap > 0 && !additive ? std::min(score.size, c_.cap) : score.size;
      const double size = p_.stage != ScoreStage::raw ? score.bent : score.size;
      score_ = std::max(score_, size + (score.counts ? std::abs(bias) : 0));
      scores_.push_back(score);
    }
  }

  void take_row(Index b, Index h, Index i) {
    const Index g = h / c_.group;
    const double stat = a_.row_stat.at<double>({b, h, i});
    take_scores(b, h, i);
    if (stat == -std::numeric_limits<double>::infinity()) return;
    const double *dout = row(p_.dout, b, h, i), *weights = c_.keys > 0 ? row(a_.weights, b, h, i) : nullptr;
    const double keep = c_.dropout.scale();
    std::vector<double> dweights(static_cast<std::size_t>(c_.keys));
    double out = 0, flow = 0;
    // The kernels' tanh is some units off (math-inl.h, attention_additive.h), where plain loops have the system's: a
    // weight that is a difference of scores of tanhs is moved by as much as they are, however small it is.
    const bool additive = c_.spec.score.kind == heed::Score::Kind::additive, of_tanhs = additive || c_.cap > 0;
    for (Index j = 0; j < c_.keys; ++j) {
      const double* v = row(p_.v, b, g, j);
      const Score& score = scores_[static_cast<std::size_t>(j)];
      const double moved = of_tanhs && score.counts ? std::abs(share(weights[j], stat)) * score.bent : 0;
      out += (weights[j] + (additive ? moved : 0)) * keep * largest_of(v, c_.value_width);
      dweights[static_cast<std::size_t>(j)] = keep * sum_of_products(dout, v, c_.value_width);
      flow += weights[j] * dweights[static_cast<std::size_t>(j)];
      const double weight = weights[j] + strain_of_weight(weights[j], stat);
      recovered_ = std::max(recovered_, weight);
      moved_ = std::max(moved_, std::abs(weights[j]) + moved);
      // The rounding that row_stat is granted moves a weight that is divided by it.
      if (c_.spec.normaliser.kind == Normaliser::Kind::sum && stat != 0) {
        share_of_stat_ = std::max(share_of_stat_, std::abs(weight / stat));
      }
      dv_.at<double>({b, g, j}) += weight * keep * largest_of(dout, c_.value_width);
    }
    out_ = std::max(out_, out);
    // A sum of scores gives its whole gradient to each of them, other statistics a share.
    const double given = p_.drow_stat.is_empty() ? 0 : std::abs(p_.drow_stat.at<double>({b, h, i}));
    const bool whole = c_.spec.normaliser.kind == Normaliser::Kind::sum;
    if (!whole) flow += given;
    if (!p_.sinks.is_empty()) dsinks_.at<double>({h}) += std::exp(p_.sinks.at<double>({h}) - stat) * flow;
    take_gradients(b, h, i, weights, dweights, flow, whole ? given : 0);
  }

  // `flow`: of which each score takes its share beside what its weight is given; `whole`: what it takes all of.
  void take_gradients(Index b, Index h, Index i, const double* weights, const std::vector<double>& dweights,
                      double flow, double whole) {
    const Index g = h / c_.group;
    const double stat = a_.row_stat.at<double>({b, h, i});
    double dq = 0;
    std::vector<double> dscores(static_cast<std::size_t>(c_.keys));
    const auto axis = [](const Tensor& tensor, int at, Index index) { return tensor.dim(at) == 1 ? 0 : index; };
    for (Index j = 0; j < c_.keys; ++j) {
      const Score& score = scores_[static_cast<std::size_t>(j)];
      if (!score.counts) continue;
      const double part = share(weights[j], stat) + strain_of_share(weights[j], stat);
      const double dscore = part * (dweights[static_cast<std::size_t>(j)] + flow) + whole;
      dq += dscore * score.to_q;
      dk_.at<double>({b, g, j}) += dscore * score.to_k;
      dvector_ += dscore;
      dscores[static_cast<std::size_t>(j)] = dscore;
      if (!dcentre_.is_empty()) {
        const Index batch = axis(dcentre_, 0, b), head = axis(dcentre_, 1, h);
        const double sigma = p_.spec.bias.gaussian.sigma, centre = p_.centre.at<double>({batch, head, i});
        dcentre_.at<double>({batch, head, i}) += dscore * std::abs(static_cast<double>(j) - centre) / (sigma * sigma);
      }
    }
    dq_ = std::max(dq_, dq);
    AttentionGrad learned;
    learned.dbias = dbias_, learned.drelative = drelative_;
    c_.bias.add_gradient(b, h, i, {0, c_.keys}, dscores.data(), learned);
  }

  const AttentionSample& p_;
  const AttentionAnswer& a_;
  const AttentionProblem c_;
  const ScoreFeatures<double> map_;
  std::vector<double> phi_q_, phi_k_;
  std::vector<Score> scores_;  // of the row at work
  double out_ = 0, score_ = 0, moved_ = 0, recovered_ = 0, share_of_stat_ = 0, dq_ = 0, dvector_ = 0;
  Tensor dk_, dv_, dsinks_, dbias_, drelative_, dcentre_;
};

}  // namespace

AttentionMagnitudes magnitudes_of(const AttentionSample& problem, const AttentionAnswer& exact) {
  return Sums(problem, exact).take();
}

}  // namespace heed::testing
