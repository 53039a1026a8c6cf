#include "heed/ops/attention/problem/attention_problem.h"

#include <cmath>

#include "heed/base/check.h"

namespace heed {
namespace {

void check_q(const char* caller, const ConstView& q) {
  HEED_CHECK(q.dtype == DType::f32 || q.dtype == DType::f64 || is_16_bit(q.dtype),
             "{}: q must be f32, bf16, f16 or f64, but is {}", caller, describe(q));
  HEED_CHECK(q.rank == 4, "{}: q must be [B, H, Lq, D], but is {}", caller, describe(q));
  HEED_CHECK(has_unit_rows(q), "{}: q must have stride 1 along its last axis, but is {}", caller, describe(q));
}

void check_rows(const char* caller, const char* name, const char* axes, const ConstView& view, DType dtype) {
  HEED_CHECK(view.rank == 4, "{}: {} must be {}, but is {}", caller, name, axes, describe(view));
  const bool wide = dtype == DType::f64;
  HEED_CHECK(
      view.dtype == dtype || (dtype == DType::f32 && is_16_bit(view.dtype)) || (view.dtype == DType::i8 && !wide),
      "{}: {} must be {} as q is{}, but is {}", caller, name, name_of(dtype),
      dtype == DType::f32 ? ", or bf16, f16 or i8"
      : wide              ? ""
                          : ", or i8",
      describe(view));
  HEED_CHECK(has_unit_rows(view), "{}: {} must have stride 1 along its last axis, but is {}", caller, name,
             describe(view));
}

void check_scales(const char* caller, const char* name, const ConstView& view, const ConstView& scales) {
  if (view.dtype != DType::i8) {
    HEED_CHECK(!scales, "{}: {} has scales, {}, which only i8 has, but is {}", caller, name, describe(scales),
               describe(view));
    return;
  }
  HEED_CHECK(scales && scales.dtype == DType::f32 && has_shape(scales, {view.shape[0], view.shape[1], view.shape[2]}),
             "{}: {} is {}, whose scales must be f32 [{}, {}, {}], but are {}", caller, name, describe(view),
             view.shape[0], view.shape[1], view.shape[2], describe(scales));
}

// Every key that the lengths count must lie in a page that is there.
void check_pages(const char* caller, const AttentionProblem& c, const ConstView& pool) {
  const ConstView& pages = c.spec.sequences.pages.view();
  HEED_CHECK(pages.rank == 2 && pages.shape[0] == c.batch && is_integer(pages.dtype) && pool.shape[2] >= 1,
             "{}: pages must be i32 or i64 [B = {}, P] over pools [pages, Hk, page >= 1, D], but are {} over {}",
             caller, c.batch, describe(pages), describe(pool));
  HEED_CHECK(c.spec.mask.lengths, "{}: a paged cache needs key lengths", caller);
}

void check_page_numbers(const char* caller, const AttentionProblem& c, const ConstView& pool) {
  const ConstView& pages = c.spec.sequences.pages.view();
  for (Index b = 0; b < c.batch; ++b) {
    for (Index at = 0; at * pool.shape[2] < c.mask.length(b); ++at) {
      const Index page = integer_at(pages, {b, at});
      HEED_CHECK(page >= 0 && page < pool.shape[0],
                 "{}: batch element {} has {} keys, but its page {} is {}, a null page: the pool has {} pages", caller,
                 b, c.mask.length(b), at, page, pool.shape[0]);
    }
  }
}

void check_parameter(const char* caller, const char* name, const ConstView& view, Index extent, DType number) {
  HEED_CHECK(view && view.rank == 1 && view.shape[0] == extent && view.dtype == number && has_unit_rows(view),
             "{}: {} must be a contiguous vector {} [{}], but is {}", caller, name, name_of(number), extent,
             describe(view));
}

void check_random_features(const char* caller, AttentionProblem& c) {
  const ConstView& projection = c.spec.score.feature_map.projection.view();
  HEED_CHECK(projection && projection.rank == 2 && projection.shape[0] >= 1 && projection.shape[0] <= kMostPositions &&
                 projection.shape[1] == c.width && projection.dtype == c.number && has_unit_rows(projection),
             "{}: random features need a projection {} [M >= 1, D = {}] with stride 1 along D, but got {}", caller,
             name_of(c.number), c.width, describe(projection));
  HEED_CHECK(c.scale > 0, "{}: the scale of random features must be positive, but is {}", caller, c.scale);
  c.features = projection.shape[0];
  c.feature_scale = c.scale;
  c.scale = 1;
}

void check_score(const char* caller, AttentionProblem& c) {
  const Score& score = c.spec.score;
  const bool random =
      score.kind == Score::Kind::feature_map && score.feature_map.kind == FeatureMap::Kind::positive_random;
  const bool by_root = score.kind == Score::Kind::dot || score.kind == Score::Kind::squared_distance || random;
  c.features = c.width;
  if (score.kind == Score::Kind::additive) {
    check_parameter(caller, "the additive score's vector", score.additive_vector.view(), c.width, c.number);
    HEED_CHECK(!score.scale, "{}: the additive score has no scale, but {} was given", caller, *score.scale);
  } else {
    c.scale = score.scale.value_or(by_root ? 1.0 / std::sqrt(static_cast<double>(c.width)) : 1.0);
    HEED_CHECK(std::isfinite(c.scale), "{}: the scale must be finite, but is {}", caller, c.scale);
  }
  if (random) check_random_features(caller, c);
  if (c.spec.bias.soft_cap) {
    c.cap = *c.spec.bias.soft_cap;
    HEED_CHECK(std::isfinite(c.cap) && c.cap > 0, "{}: the soft-cap must be positive and finite, but is {}", caller,
               c.cap);
  }
}

}  // namespace

AttentionProblem make_attention_problem(const char* caller, const ConstView& q, const ConstView& k, const ConstView& v,
                                        const AttentionSpec& spec, Index first_batch) {
  const ConstView& pages = spec.sequences.pages.view();
  const ConstView &k_scales = spec.scales.k.view(), &v_scales = spec.scales.v.view();
  AttentionProblem c{
      .q = q, .k = RowSource(k, pages, k_scales), .v = v ? RowSource(v, pages, v_scales) : RowSource(), .spec = spec};
  check_q(caller, q);
  c.dtype = q.dtype;
  c.number = q.dtype == DType::f64 ? DType::f64 : DType::f32;
  check_rows(caller, "k", "[B, Hk, Lk, D]", k, c.dtype);
  check_scales(caller, "k", k, k_scales);
  c.batch = q.shape[0], c.heads = q.shape[1], c.queries = q.shape[2], c.width = q.shape[3];
  if (pages) check_pages(caller, c, k);
  c.key_heads = k.shape[1], c.keys = k.shape[2];
  if (pages && __builtin_mul_overflow(pages.shape[1], k.shape[2], &c.keys)) c.keys = -1;
  HEED_CHECK(c.queries <= kMostPositions && c.keys >= 0 && c.keys <= kMostPositions && c.width <= kMostPositions,
             "{}: sequences may have up to {} queries and keys of up to as many numbers, but q is {} and k {}", caller,
             kMostPositions, describe(q), describe(k));
  HEED_CHECK((pages || k.shape[0] == c.batch) && k.shape[3] == c.width && c.width >= 1,
             "{}: q [B, H, Lq, D] and k [B, Hk, Lk, D] must agree in B and D >= 1, but are {} and {}", caller,
             describe(q), describe(k));
  HEED_CHECK(c.heads >= 1, "{}: q must have at least one head, but is {}", caller, describe(q));
  HEED_CHECK(c.key_heads >= 1 && c.heads % c.key_heads == 0,
             "{}: the heads of q must be a multiple of the heads of k, but q is {} and k {}", caller, describe(q),
             describe(k));
  c.group = c.heads / c.key_heads;
  if (v) {
    check_rows(caller, "v", "[B, Hk, Lk, Dv]", v, c.dtype);
    check_scales(caller, "v", v, v_scales);
    c.value_width = v.shape[3];
    HEED_CHECK(v.shape[0] == k.shape[0] && v.shape[1] == c.key_heads && v.shape[2] == k.shape[2],
               "{}: k and v must agree in [B, Hk, Lk], but are {} and {}", caller, describe(k), describe(v));
    HEED_CHECK(c.value_width >= 1 && c.value_width <= kMostPositions,
               "{}: the values must have a width Dv from 1 to {}, but v is {}", caller, kMostPositions, describe(v));
  }
  check_score(caller, c);
  const Normaliser& normaliser = spec.normaliser;
  if (normaliser.sinks) {
    HEED_CHECK(normaliser.kind == Normaliser::Kind::softmax, "{}: only softmax has sinks", caller);
    check_parameter(caller, "the sinks", normaliser.sinks.view(), c.heads, c.number);
  }
  const MaskShape shape{c.batch, c.heads, c.queries, c.keys, first_batch};
  c.mask = MaskRows(spec.mask, shape, caller);
  if (!spec.bias.is_empty()) c.bias = BiasRows(spec.bias, c.mask, shape, c.number, caller);
  if (pages) check_page_numbers(caller, c, k);
  const double p = spec.dropout.probability;
  HEED_CHECK(p >= 0 && p < 1, "{}: the dropout probability must be in [0, 1), but is {}", caller, p);
  c.dropout = DropoutMask(spec.dropout, first_batch);
  HEED_CHECK(c.dropout.threshold() < 65536, "{}: the dropout probability {} leaves no weight", caller, p);
  return c;
}

}  // namespace heed
