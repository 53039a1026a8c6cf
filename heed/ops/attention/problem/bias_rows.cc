#include "heed/ops/attention/problem/bias_rows.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "heed/base/check.h"
#include "heed/tensor/numbers.h"

namespace heed {
namespace {

// T5's bucket of a distance >= 0 among `buckets`: half of them one to a distance, the rest on a logarithmic scale.
Index distance_bucket(Index distance, Index buckets, Index max_distance) {
  const Index exact = buckets / 2;
  if (distance < exact) return distance;
  const double along = std::log(static_cast<double>(distance) / static_cast<double>(exact)) /
                       std::log(static_cast<double>(max_distance) / static_cast<double>(exact));
  return std::min(buckets - 1, exact + static_cast<Index>(along * static_cast<double>(buckets - exact)));
}

// scores[j - keys.begin] += -((j - centre) / sigma)^2 / 2, but no less than the lowest number: a centre far away is no
// mask.
template <typename Sum>
void add_gaussian(double centre, double inverse_sigma, Range keys, Sum* scores) {
  constexpr double kLowest = std::numeric_limits<Sum>::lowest();
  const int first = static_cast<int>(keys.begin), count = static_cast<int>(keys.size());  // positions are of 32 bits
  const auto log_weight = [=](int n) {
    const double distance = (static_cast<double>(first + n) - centre) * inverse_sigma;
    return -0.5 * distance * distance;
  };
  // The farthest key is the first or the last. Without the bound vectors compute it.
  if (std::min(log_weight(0), log_weight(count - 1)) < kLowest) {
    for (int n = 0; n < count; ++n) scores[n] += static_cast<Sum>(std::max(log_weight(n), kLowest));
  } else {
    for (int n = 0; n < count; ++n) scores[n] += static_cast<Sum>(log_weight(n));
  }
}

void check_dense(const char* caller, const ConstView& dense, const MaskShape& shape, DType number) {
  const auto fits = [&](int axis, Index extent) { return dense.shape[axis] == extent || dense.shape[axis] == 1; };
  const bool type = dense.dtype == number || (number == DType::f32 && is_16_bit(dense.dtype));
  HEED_CHECK(type && dense.rank == 4 && fits(0, shape.batch) && fits(1, shape.heads) && fits(2, shape.queries) &&
                 fits(3, shape.keys),
             "{}: the dense bias must be {} [B | 1, H | 1, Lq | 1, Lk | 1] of [{}, {}, {}, {}], but is {}", caller,
             number == DType::f64 ? "f64" : "f32, bf16 or f16", shape.batch, shape.heads, shape.queries, shape.keys,
             describe(dense));
}

}  // namespace

BiasRows::BiasRows(const Bias& bias, const MaskRows& mask, const MaskShape& shape, DType number, const char* caller)
    : alibi_(bias.alibi.view()), table_(bias.relative.table.view()) {
  if (alibi_ || table_) mask_ = mask;
  if (bias.dense) {
    check_dense(caller, bias.dense.view(), shape, number);
    dense_ = broadcast_axes(bias.dense.view(), 4);
  }
  HEED_CHECK(!alibi_ || (alibi_.rank == 1 && alibi_.shape[0] == shape.heads && alibi_.dtype == number),
             "{}: the ALiBi slopes must be {} [H = {}], but are {}", caller, name_of(number), shape.heads,
             describe(alibi_));
  if (const ConstView& centre = bias.gaussian.centre.view()) {
    const auto fits = [&](int axis, Index extent) { return centre.shape[axis] == extent || centre.shape[axis] == 1; };
    HEED_CHECK(centre.dtype == number && centre.rank == 3 && fits(0, shape.batch) && fits(1, shape.heads) &&
                   centre.shape[2] == shape.queries,
               "{}: the Gaussian's centre must be {} [B | 1, H | 1, Lq] of [{}, {}, {}], but is {}", caller,
               name_of(number), shape.batch, shape.heads, shape.queries, describe(centre));
    HEED_CHECK(std::isfinite(bias.gaussian.sigma) && bias.gaussian.sigma > 0,
               "{}: the Gaussian's sigma must be positive and finite, but is {}", caller, bias.gaussian.sigma);
    centre_ = broadcast_axes(centre, 2);
    inverse_sigma_ = std::min(1 / bias.gaussian.sigma, std::numeric_limits<double>::max());
  }
  const RelativeBias& relative = bias.relative;
  if (!table_) return;
  const Index buckets = table_.shape[0] / (relative.bidirectional ? 2 : 1);
  HEED_CHECK(table_.rank == 2 && table_.shape[1] == shape.heads && table_.dtype == number && buckets >= 2,
             "{}: the relative bias must be {} [buckets >= {}, H = {}], but is {}", caller, name_of(number),
             relative.bidirectional ? 4 : 2, shape.heads, describe(table_));
  HEED_CHECK(relative.max_distance > buckets / 2, "{}: the relative bias's max_distance must be above {}, but is {}",
             caller, buckets / 2, relative.max_distance);
  // No distance is longer than this problem.
  const Index reach = std::min(relative.max_distance, shape.queries + shape.keys);
  for (Index distance = 0; distance <= reach; ++distance) {
    const Index at = distance_bucket(distance, buckets, relative.max_distance);
    before_.push_back(at);
    after_.push_back(!relative.bidirectional ? 0 : distance == 0 ? at : buckets + at);
  }
}

Index BiasRows::bucket(Index distance) const {
  const std::vector<Index>& side = distance > 0 ? after_ : before_;
  return side[static_cast<std::size_t>(std::min(std::abs(distance), std::ssize(side) - 1))];
}

const float* BiasRows::floats(Index b, Index h, Index i, Index& row_stride) const {
  if (!dense_ || dense_.dtype != DType::f32 || dense_.stride[3] != 1 || alibi_ || table_ || centre_) return nullptr;
  row_stride = dense_.stride[2];
  return dense_.as<float>() + dense_.offset({b, h, i});
}

template <typename Sum>
void BiasRows::add_by_distance(Index h, Index first, Index step, Index count, Sum* numbers) const {
  if (alibi_) {
    const Sum slope = number_at<Sum>(alibi_, {h});
    // Positions are of 32 bits (kMostPositions), which vectors turn into numbers at once.
    const int from = static_cast<int>(first), by = static_cast<int>(step), all = static_cast<int>(count);
    for (int n = 0; n < all; ++n) numbers[n] -= slope * static_cast<Sum>(std::abs(from + n * by));
  }
  if (table_) {
    with_float_type(table_.dtype, [&](auto* type) {
      using T = std::remove_pointer_t<decltype(type)>;
      const T* of_head = table_.as<T>() + table_.offset({0, h});
      for (Index n = 0; n < count; ++n) {
        numbers[n] += static_cast<Sum>(widened(of_head[bucket(first + n * step) * table_.stride[0]]));
      }
    });
  }
}

void BiasRows::fill_by_distance(Index b, Index h, Range distances, float* numbers) const {
  std::fill_n(numbers, distances.size(), 0.0f);
  // Query i stands at mask_.position(b, i) = i + mask_.position(b, 0).
  add_by_distance(h, -distances.begin - mask_.position(b, 0), -1, distances.size(), numbers);
}

template <typename Sum>
void BiasRows::add(Index b, Index h, Index i, Range keys, Sum* scores) const {
  if (dense_) {
    with_float_type(dense_.dtype, [&](auto* type) {
      using T = std::remove_pointer_t<decltype(type)>;
      const T* row = dense_.as<T>() + dense_.offset({b, h, i});
      const Index step = dense_.stride[3];
      for (Index j = keys.begin; j < keys.end; ++j) scores[j - keys.begin] += static_cast<Sum>(widened(row[j * step]));
    });
  }
  if (alibi_ || table_) add_by_distance(h, keys.begin - mask_.position(b, i), 1, keys.size(), scores);
  if (centre_) {
    add_gaussian(number_at<double>(centre_, {b, h, i}), inverse_sigma_, keys, scores);
  }
}

template <typename Sum>
void BiasRows::add_gradient(Index b, Index h, Index i, Range keys, const Sum* dscores,
                            const AttentionGrad& grad) const {
  if (grad.dbias) {
    const View dbias = broadcast_axes(grad.dbias, 4);
    with_float_type(dbias.dtype, [&](auto* type) {
      using T = std::remove_pointer_t<decltype(type)>;
      T* row = dbias.as<T>() + dbias.offset({b, h, i});
      for (Index j = keys.begin; j < keys.end; ++j) {
        T& to = row[j * dbias.stride[3]];
        to = narrowed<T>(widened(to) + dscores[j - keys.begin]);
      }
    });
  }
  if (grad.drelative) {
    const Index position = mask_.position(b, i);
    for (Index j = keys.begin; j < keys.end;) {  // the keys of one bucket are neighbours: one sum, added once
      const Index at = bucket(j - position);
      double sum = 0;
      for (; j < keys.end && bucket(j - position) == at; ++j) sum += dscores[j - keys.begin];
      add_number(grad.drelative, {at, h}, static_cast<Sum>(sum));
    }
  }
  if (grad.dcentre) {
    const double centre = number_at<double>(centre_, {b, h, i});
    double sum = 0;
    for (Index j = keys.begin; j < keys.end; ++j) {
      // A key that has no gradient has none here, however far it is.
      if (dscores[j - keys.begin] != 0) sum += dscores[j - keys.begin] * (static_cast<double>(j) - centre);
    }
    add_number(broadcast_axes(grad.dcentre, 2), {b, h, i}, static_cast<Sum>(sum * inverse_sigma_ * inverse_sigma_));
  }
}

template void BiasRows::add(Index, Index, Index, Range, float*) const;
template void BiasRows::add(Index, Index, Index, Range, double*) const;
template void BiasRows::add_gradient(Index, Index, Index, Range, const float*, const AttentionGrad&) const;
template void BiasRows::add_gradient(Index, Index, Index, Range, const double*, const AttentionGrad&) const;

}  // namespace heed
