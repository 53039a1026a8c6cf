#include "heed/tasks/explain/array_problem.h"

#include "heed/base/check.h"
#include "heed/io/npy.h"

namespace heed {
namespace {

// An array and where it came from, for messages.
struct Array {
  std::filesystem::path file;
  Tensor tensor;
  std::string seen;  // "f32 [2, 3]", as it lies in the file

  std::string text() const { return fmt::format("{} is {}", file.string(), seen); }
};

template <typename T>
Tensor integers_to_f64(const Tensor& from) {
  const Tensor to = Tensor::empty(DType::f64, {from.size()});
  for (Index i = 0; i < from.size(); ++i) to.data<double>()[i] = static_cast<double>(from.data<T>()[i]);
  const Shape& shape = from.view().shape;
  switch (from.rank()) {
    case 2:
      return to.reshape({shape[0], shape[1]});
    case 3:
      return to.reshape({shape[0], shape[1], shape[2]});
    default:
      return to.reshape({shape[0], shape[1], shape[2], shape[3]});
  }
}

// As [B, H, L, D]: leading axes of 1 where the rank is lower.
Tensor with_four_axes(const Tensor& x) {
  const Shape& s = x.view().shape;
  if (x.rank() == 2) return x.reshape({1, 1, s[0], s[1]});
  if (x.rank() == 3) return x.reshape({1, s[0], s[1], s[2]});
  return x;
}

Array read_array(const std::filesystem::path& file) {
  Array array{file, read_npy(file), {}};
  Tensor& x = array.tensor;
  array.seen = describe(x.view());
  HEED_CHECK(x.rank() >= 2, "{}: must be [L, D], [H, L, D] or [B, H, L, D], but is {}", file.string(), array.seen);
  HEED_CHECK(x.size() > 0, "{}: has no numbers: it is {}", file.string(), array.seen);
  switch (x.dtype()) {
    case DType::boolean:
      fail("{}: must hold numbers, but is {}", file.string(), array.seen);
    case DType::i32:
      x = integers_to_f64<std::int32_t>(x);
      break;
    case DType::i64:
      x = integers_to_f64<std::int64_t>(x);
      break;
    default:
      x = x.to(DType::f64);
  }
  return array;
}

// [L, N * D] as [1, N, L, D], copied so that it is contiguous.
void split_into_heads(Array& array, Index heads) {
  Tensor& x = array.tensor;
  HEED_CHECK(x.rank() == 2, "{}: only a matrix [L, {} * D] can be split into heads, but it is {}", array.file.string(),
             heads, array.seen);
  HEED_CHECK(x.dim(1) % heads == 0, "{}: its width must be a multiple of {} heads, but it is {}", array.file.string(),
             heads, array.seen);
  x = Tensor::copy_of(split_heads(x.reshape({1, x.dim(0), x.dim(1)}).view(), heads));
}

void check_agreement(const Array& q, const Array& k, const Array& v) {
  const Tensor &a = q.tensor, &b = k.tensor, &c = v.tensor;
  HEED_CHECK(a.dim(3) == b.dim(3), "queries and keys must have the same width (the last axis), but {} and {}", q.text(),
             k.text());
  HEED_CHECK(b.dim(2) == c.dim(2), "there must be a value for each key (the axis before the last), but {} and {}",
             k.text(), v.text());
  HEED_CHECK(b.dim(1) == c.dim(1), "keys and values must have the same heads, but {} and {}", k.text(), v.text());
  HEED_CHECK(a.dim(1) % b.dim(1) == 0,
             "the heads of the queries must be a multiple of those of the keys, but {} and {}", q.text(), k.text());
  HEED_CHECK(a.dim(0) == b.dim(0) && a.dim(0) == c.dim(0), "the batches must be equally large, but {}, {} and {}",
             q.text(), k.text(), v.text());
}

}  // namespace

AttentionInputs read_attention_inputs(const AttentionFiles& files) {
  HEED_CHECK(files.heads >= 1, "explain: there must be at least one head, but there are {}", files.heads);
  Array q = read_array(files.q), k = read_array(files.k), v = read_array(files.v);
  HEED_CHECK(q.tensor.rank() == k.tensor.rank() && q.tensor.rank() == v.tensor.rank(),
             "q, k and v must have the same number of axes, but {}, {} and {}", q.text(), k.text(), v.text());
  for (Array* array : {&q, &k, &v}) {
    if (files.heads > 1) {
      split_into_heads(*array, files.heads);
    } else {
      array->tensor = with_four_axes(array->tensor);
    }
  }
  check_agreement(q, k, v);
  AttentionInputs problem{.q = q.tensor, .k = k.tensor, .v = v.tensor};
  problem.heads_of_one_matrix = files.heads > 1;
  return problem;
}

void read_mask(const std::filesystem::path& file, AttentionInputs& problem) {
  const Tensor mask = read_npy(file);
  const Index queries = problem.q.dim(2), keys = problem.k.dim(2);
  const std::string seen = describe(mask.view());
  HEED_CHECK(mask.dtype() == DType::boolean && mask.rank() >= 2,
             "{}: a mask must be boolean [Lq, Lk], true where a query may attend to a key, but is {}", file.string(),
             seen);
  const Tensor allowed = with_four_axes(mask);
  const auto fits = [&](int axis) { return allowed.dim(axis) == 1 || allowed.dim(axis) == problem.q.dim(axis); };
  HEED_CHECK(allowed.dim(2) == queries && allowed.dim(3) == keys && fits(0) && fits(1),
             "{}: a mask of {} queries and {} keys must be [{}, {}], but is {}", file.string(), queries, keys, queries,
             keys, seen);
  problem.allowed = allowed;
}

}  // namespace heed
