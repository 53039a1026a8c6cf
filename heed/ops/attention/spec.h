// What one attention call computes: four independent values (score, bias, mask, normaliser) and dropout.
//
//   attention(q, k, v, {.mask = Mask::causal()}, {.out = o}, workspace);
//   AttentionSpec spec{.score = Score::additive(v_a), .mask = Mask::key_lengths(lengths)};
#pragma once

#include <cstdint>
#include <optional>

#include "heed/ops/attention/mask.h"
#include "heed/tensor/view.h"

namespace heed {

// s(q_i, k_j).
struct Score {
  enum class Kind {
    dot,       // scale * q_i . k_j              (Vaswani et al. 2017, eq. 1; Luong et al. 2015, eq. 8, dot)
    additive,  // v_a . tanh(q_i + k_j)          (Bahdanau et al. 2015, app. A.1.2; q and k are projected by the caller)
  };
  Kind kind = Kind::dot;
  std::optional<double> scale{};  // dot: 1 / sqrt(D) where it is not given
  ConstView additive_vector{};    // additive: v_a, [D], the type of q

  // q . k / sqrt(D), or q . k * scale.
  static Score scaled_dot(std::optional<double> scale = {}) { return {Kind::dot, scale, {}}; }
  // q . k: Luong's dot, and his general with k (or q) projected first.
  static Score dot() { return {Kind::dot, 1.0, {}}; }
  static Score additive(ConstView v_a) { return {Kind::additive, {}, v_a}; }
};

// b_ij, added after the cap.
struct Bias {
  ConstView dense{};                 // [B|1, H|1, Lq|1, Lk], the type of q; empty: none
  std::optional<double> soft_cap{};  // c: a score x becomes c * tanh(x / c), before the bias (Gemma 2)
};

// N over the keys that the mask allows.
struct Normaliser {
  enum class Kind { softmax };
  Kind kind = Kind::softmax;
};

// Weights are zeroed with this probability and the rest divided by 1 - probability. Whether weight (b, h, i, j) is kept
// is a pure function of (seed, stream, b, h, i, j), so backward draws it again and threads cannot change it.
struct Dropout {
  double probability = 0;
  std::uint64_t seed = 0;
  std::uint64_t stream = 0;
};

struct AttentionSpec {
  Score score{};
  Bias bias{};
  Mask mask{};
  Normaliser normaliser{};
  Dropout dropout{};
};

}  // namespace heed
