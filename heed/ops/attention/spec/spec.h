// What one attention call computes: four independent values (score, bias, mask, normaliser), how the sequences lie in
// memory, and dropout. The values share ownership of the tensors in them, as every copy of a Tensor does: a spec may be
// kept, returned, or made of temporaries. Tensor::borrow() is for memory that somebody else owns.
//
//   attention(q, k, v, {.mask = Mask::causal()}, {.out = o}, workspace);
//   AttentionSpec spec{.score = Score::additive(v_a), .mask = Mask::key_lengths(lengths)};
//   AttentionSpec linear{.score = Score::features({}), .normaliser = Normaliser::sum()};
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "heed/ops/attention/spec/mask.h"
#include "heed/tensor/tensor.h"
#include "heed/tensor/view.h"

namespace heed {

// phi, applied to queries and keys, so that phi(q) . phi(k) stands in for exp(q . k).
struct FeatureMap {
  enum class Kind {
    elu_plus_one,     // x + 1 where x > 0, else exp(x)          (Katharopoulos et al. 2020, eq. 7)
    relu,             // max(x, 0)
    positive_random,  // exp(w_m . x' - |x'|^2 / 2) / sqrt(M), x' = sqrt(scale) x: FAVOR+, whose dot product has the
                      // expectation exp(scale q . k)             (Choromanski et al. 2021, lemma 1)
  };
  Kind kind = Kind::elu_plus_one;
  Tensor projection{};  // positive_random: w, [M, D]; see orthogonal_random_features
};

// s(q_i, k_j). Parameters are f32 (f64 where q is f64).
struct Score {
  enum class Kind {
    dot,       // scale * q_i . k_j              (Vaswani et al. 2017, eq. 1; Luong et al. 2015, section 3.1, dot)
    additive,  // v_a . tanh(q_i + k_j)          (Bahdanau et al. 2015, app. A.1.2; q and k are projected by the
               // caller; Luong's concat is the same with one projection cut in two). A tanh is right to 5e-7,
               // absolute, in f32.
    cosine,    // scale * q_i . k_j / (|q_i| |k_j|), norms of at least 1e-8      (Graves et al. 2014, eq. 6)
    squared_distance,  // -scale * |q_i - k_j|^2                                         (Kim et al. 2021: L2 attention)
    feature_map,       // scale * phi(q_i) . phi(k_j)                                    (Katharopoulos et al. 2020)
  };
  Kind kind = Kind::dot;
  // Where it is not given: 1 / sqrt(D) for dot, squared_distance and random features (inside phi), else 1.
  std::optional<double> scale{};
  Tensor additive_vector{};  // additive: v_a, [D]
  FeatureMap feature_map{};

  // q . k / sqrt(D), or q . k * scale.
  static Score scaled_dot(std::optional<double> scale = {}) { return {Kind::dot, scale, {}, {}}; }
  // q . k: Luong's dot, and his general with k (or q) projected first.
  static Score dot() { return {Kind::dot, 1.0, {}, {}}; }
  static Score additive(Tensor v_a) { return {Kind::additive, {}, std::move(v_a), {}}; }
  static Score cosine(double scale = 1) { return {Kind::cosine, scale, {}, {}}; }
  static Score squared_distance(std::optional<double> scale = {}) { return {Kind::squared_distance, scale, {}, {}}; }
  static Score features(FeatureMap map, std::optional<double> scale = {}) {
    return {Kind::feature_map, scale, {}, std::move(map)};
  }
};

// T5's relative positions (Raffel et al. 2020, section 2.1): a learned number for each bucket of distances and head.
struct RelativeBias {
  Tensor table{};             // f32 (f64 where q is f64) [buckets, H]
  bool bidirectional = true;  // half of the buckets for keys after the query; else those share bucket 0
  Index max_distance = 128;   // from here on, one bucket
};

// -(j - centre)^2 / (2 sigma^2): Luong et al. 2015, eq. 10, as a bias, so that the weights still sum to one (the paper
// multiplies the normalised weights by the Gaussian).
struct GaussianBias {
  Tensor centre{};  // f32 (f64 where q is f64) [B|1, H|1, Lq]: key positions
  double sigma = 1;
};

// b_ij, added after the cap: the sum of the parts that are given.
struct Bias {
  // f32, bf16 or f16 (f64 where q is f64) [B|1, H|1, Lq|1, Lk|1]. -inf refuses a key.
  Tensor dense{};
  std::optional<double> soft_cap{};  // c: a score x becomes c * tanh(x / c), before the bias (Gemma 2)
  // Slopes m, f32 (f64 where q is f64) [H]: -m * |j - position of i| (Press et al. 2022); see alibi_slopes.
  Tensor alibi{};
  RelativeBias relative{};
  GaussianBias gaussian{};

  // Whether scores are left as they are.
  bool is_empty() const { return !dense && !soft_cap && !alibi && !relative.table && !gaussian.centre; }
};

// N over the keys that the mask allows.
struct Normaliser {
  enum class Kind {
    softmax,    // exp(s) over the sum; none (0) below 2^-80 of the row's largest (0043)
    sigmoid,    // each weight by itself: 1 / (1 + exp(-s))                               (Ramapuram et al. 2024)
    sparsemax,  // max(s - tau, 0), summing to one                                        (Martins & Astudillo 2016)
    entmax15,   // max(s / 2 - tau, 0)^2, summing to one                                  (Peters et al. 2019)
    sum,        // s / sum s: linear attention. A row whose scores sum to zero has weights zero.
  };
  Kind kind = Kind::softmax;
  // softmax: a further logit for each head, f32 (f64 where q is f64) [H], that takes weight and gives no value
  // (attention sinks; Xiao et al. 2024; gpt-oss). Empty: none.
  Tensor sinks{};

  static Normaliser softmax(Tensor sinks = {}) { return {Kind::softmax, std::move(sinks)}; }
  static Normaliser sigmoid() { return {Kind::sigmoid, {}}; }
  static Normaliser sparsemax() { return {Kind::sparsemax, {}}; }
  static Normaliser entmax15() { return {Kind::entmax15, {}}; }
  static Normaliser sum() { return {Kind::sum, {}}; }
};

// Where sequences lie, if not one to a batch element. Strides are the views' own affair: [B, L, H, D] is a transposed
// view, packed QKV three slices.
struct Sequences {
  // Packed, of variable length: i32 or i64 [N + 1], ascending. q is [1, H, total, D], and sequence n its rows
  // offsets[n] to offsets[n + 1] (exclusive); so for k and v. Each sequence is a problem of its own: key lengths and
  // prefixes are [N], centres [1, H|1, total], dropout and a predicate take n as the batch element, and a dense mask or
  // bias must have extents of 1 but for the heads.
  Tensor query_offsets{}, key_offsets{};
  // A paged cache: i32 or i64 [B, P]: k and v are pools [pages, Hk, page, D], and key j of batch element b is row
  // j % page of page pages[b, j / page]. Lk is P * page; key lengths say how many are there. Forward only.
  Tensor pages{};
};

// What keys and values of i8 are multiplied by: f32, of the shape of k (of v) but for its last axis, [B, Hk, Lk] or
// [pages, Hk, page], with any strides. Row j of k is k[b, g, j, :] * scales.k[b, g, j], rounded to f32; quantise_rows
// makes both of floats. A softmax of dot products where both are i8 may be summed in whole numbers, which differs from
// f32 by its roundings (SumOrder::whole). They are given with i8 alone. Forward only.
struct RowScales {
  Tensor k{}, v{};
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
  Sequences sequences{};
  RowScales scales{};
  Dropout dropout{};
};

// Fills slopes, f32 or f64 [H], with those of Press et al. 2022: 2^(-8 h / H) for a power of two, and between those of
// the powers of two around it otherwise.
void alibi_slopes(View slopes);

// Fills projection, f32 or f64 [M, D], with M draws from N(0, I) that are orthogonal within each block of D rows
// (Choromanski et al. 2021: orthogonal random features). The same numbers for a seed everywhere.
void orthogonal_random_features(View projection, std::uint64_t seed);

}  // namespace heed
