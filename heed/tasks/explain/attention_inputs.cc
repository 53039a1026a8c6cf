#include "heed/tasks/explain/attention_inputs.h"

#include "heed/base/check.h"

namespace heed {
namespace {

// As [B, H, L, D]: leading axes of 1 where the rank is lower.
Tensor with_four_axes(const Tensor& x) {
  const Shape& s = x.view().shape;
  if (x.rank() == 2) return x.reshape({1, 1, s[0], s[1]});
  if (x.rank() == 3) return x.reshape({1, s[0], s[1], s[2]});
  return x;
}

// [B, H, L, D], of a matrix [L, heads * D] where there are several heads.
Tensor in_heads(const NamedArray& array, Index heads) {
  const Tensor& x = array.tensor;
  if (heads == 1) return with_four_axes(x);
  HEED_CHECK(x.rank() == 2, "{}: only a matrix [L, {} * D] can be cut into heads, but it is {}", array.name, heads,
             describe(x.view()));
  HEED_CHECK(x.dim(1) % heads == 0, "{}: its width must be a multiple of {} heads, but it is {}", array.name, heads,
             describe(x.view()));
  return Tensor::copy_of(split_heads(x.reshape({1, x.dim(0), x.dim(1)}).view(), heads));
}

// Of queries, keys and values [B, H, L, D]; messages show what was given.
void check_agreement(const AttentionArrays& given, const Tensor& q, const Tensor& k, const Tensor& v) {
  HEED_CHECK(q.dim(3) == k.dim(3), "queries and keys must have the same width (the last axis), but {} and {}",
             given.q.text(), given.k.text());
  HEED_CHECK(k.dim(2) == v.dim(2), "there must be a value for each key (the axis before the last), but {} and {}",
             given.k.text(), given.v.text());
  HEED_CHECK(k.dim(1) == v.dim(1), "keys and values must have the same heads, but {} and {}", given.k.text(),
             given.v.text());
  HEED_CHECK(q.dim(1) % k.dim(1) == 0,
             "the heads of the queries must be a multiple of those of the keys, but {} and {}", given.q.text(),
             given.k.text());
  HEED_CHECK(q.dim(0) == k.dim(0) && q.dim(0) == v.dim(0), "the batches must be equally large, but {}, {} and {}",
             given.q.text(), given.k.text(), given.v.text());
}

// Queries, keys and values as they are given.
AttentionInputs given_heads(const AttentionArrays& arrays, Index key_heads) {
  const NamedArray q = as_numbers(arrays.q), k = as_numbers(arrays.k), v = as_numbers(arrays.v);
  HEED_CHECK(q.tensor.rank() == k.tensor.rank() && q.tensor.rank() == v.tensor.rank(),
             "queries, keys and values must have the same number of axes, but {}, {} and {}", q.text(), k.text(),
             v.text());
  AttentionInputs problem{.q = in_heads(q, arrays.heads), .k = in_heads(k, key_heads), .v = in_heads(v, key_heads)};
  check_agreement(arrays, problem.q, problem.k, problem.v);
  problem.heads_of_one_matrix = arrays.heads > 1;
  return problem;
}

Tensor matrix(const NamedArray& array) {
  if (array.is_empty()) return {};
  const NamedArray numbers = as_numbers(array);
  HEED_CHECK(numbers.tensor.rank() == 2, "{}: must be a matrix, but is {}", array.name,
             describe(numbers.tensor.view()));
  return numbers.tensor;
}

AttentionInputs projected_heads(const AttentionArrays& arrays, Index key_heads) {
  const ProjectedRows rows{.x = matrix(arrays.x),
                           .memory = matrix(arrays.memory),
                           .w_q = matrix(arrays.w_q),
                           .w_k = matrix(arrays.w_k),
                           .w_v = matrix(arrays.w_v),
                           .w_o = matrix(arrays.w_o),
                           .heads = arrays.heads,
                           .key_heads = key_heads};
  const ProjectedRows::Heads heads = rows.project();
  AttentionInputs problem{.q = heads.q, .k = heads.k, .v = heads.v};
  problem.rows = rows;
  return problem;
}

// The mask over [B, H, Lq, Lk].
Tensor allowed_of(const NamedArray& array, const AttentionInputs& problem) {
  const Index queries = problem.q.dim(2), keys = problem.k.dim(2);
  const NamedArray mask = as_allowed(array);
  HEED_CHECK(mask.tensor.rank() >= 2, "{}: a mask of {} queries and {} keys must be [{}, {}], but is {}", mask.name,
             queries, keys, queries, keys, describe(mask.tensor.view()));
  const Tensor allowed = with_four_axes(mask.tensor);
  const auto fits = [&](int axis) { return allowed.dim(axis) == 1 || allowed.dim(axis) == problem.q.dim(axis); };
  HEED_CHECK(fits(0) && fits(1) && fits(2) && allowed.dim(3) == keys,
             "{}: a mask of {} queries and {} keys must be [{}, {}], but is {}", mask.name, queries, keys, queries,
             keys, describe(mask.tensor.view()));
  return allowed;
}

}  // namespace

AttentionInputs attention_inputs(const AttentionArrays& arrays) {
  HEED_CHECK(arrays.heads >= 1 && arrays.key_heads >= 0,
             "explain: there must be at least one head, but there are {} and {}", arrays.heads, arrays.key_heads);
  const Index key_heads = arrays.key_heads == 0 ? arrays.heads : arrays.key_heads;
  HEED_CHECK(arrays.heads % key_heads == 0,
             "explain: the heads of queries must be a multiple of those of keys and values, but are {} and {}",
             arrays.heads, key_heads);
  HEED_CHECK(arrays.heads == 1 || !arrays.q.is_empty() || !arrays.x.is_empty(),
             "explain: {} heads are for arrays of your own: the two-by-two example has one", arrays.heads);
  AttentionInputs problem = !arrays.q.is_empty()   ? given_heads(arrays, key_heads)
                            : !arrays.x.is_empty() ? projected_heads(arrays, key_heads)
                                                   : two_by_two_inputs();
  if (!arrays.mask.is_empty()) problem.allowed = allowed_of(arrays.mask, problem);
  if (!arrays.additive_vector.is_empty()) {
    const NamedArray vector = as_numbers(arrays.additive_vector);
    HEED_CHECK(vector.tensor.size() == problem.q.dim(3), "{}: must have {} numbers, as a query has, but is {}",
               vector.name, problem.q.dim(3), describe(vector.tensor.view()));
    problem.additive_vector = vector.tensor.reshape({vector.tensor.size()});
  }
  return problem;
}

}  // namespace heed
