#include "heed/tensor/tensor.h"

#include <utility>

#include "heed/base/check.h"
#include "heed/base/memory.h"
#include "heed/tensor/shape_bytes.h"

namespace heed {
Tensor Tensor::empty(DType dtype, std::initializer_list<Index> shape) {
  Tensor tensor;
  tensor.storage_ = allocate(checked_bytes(dtype, {shape.begin(), shape.size()}, "Tensor"));
  tensor.view_ = make_view(tensor.storage_.get(), dtype, shape);
  return tensor;
}

Tensor Tensor::zeros(DType dtype, std::initializer_list<Index> shape) {
  Tensor tensor = empty(dtype, shape);
  fill(tensor, 0);
  return tensor;
}

Tensor Tensor::empty_like(const ConstView& v) {
  switch (v.rank) {
    case 0:
      return empty(v.dtype, {});
    case 1:
      return empty(v.dtype, {v.shape[0]});
    case 2:
      return empty(v.dtype, {v.shape[0], v.shape[1]});
    case 3:
      return empty(v.dtype, {v.shape[0], v.shape[1], v.shape[2]});
    default:
      return empty(v.dtype, {v.shape[0], v.shape[1], v.shape[2], v.shape[3]});
  }
}

Tensor Tensor::zeros_like(const ConstView& view) {
  Tensor tensor = empty_like(view);
  fill(tensor, 0);
  return tensor;
}

Tensor Tensor::copy_of(const ConstView& view) {
  Tensor tensor = empty_like(view);
  copy(view, tensor);
  return tensor;
}

Tensor Tensor::copy_of_all(const ConstView& view, Index values) {
  HEED_CHECK(values == view.size(), "Tensor::from: the shape has {} elements, but there are {} values", view.size(),
             values);
  return copy_of(view);
}

Tensor Tensor::borrow(const View& view, std::shared_ptr<void> owner) {
  Tensor tensor;
  tensor.view_ = view;
  tensor.storage_ = std::move(owner);
  return tensor;
}

Tensor Tensor::through(const View& view) const { return borrow(view, storage_); }

Tensor Tensor::to(DType dtype) const {
  ConstView like = view_;
  like.dtype = dtype;
  Tensor tensor = empty_like(like);
  copy(view_, tensor);
  return tensor;
}

Tensor Tensor::reshape(std::initializer_list<Index> shape) const { return through(heed::reshape(view_, shape)); }

Tensor Tensor::rows(Index begin, Index end) const { return through(slice(view_, 0, begin, end)); }

Tensor Tensor::gather_rows(std::span<const Index> rows) const {
  ConstView like = view_;
  like.shape[0] = static_cast<Index>(rows.size());
  Tensor gathered = empty_like(like);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    copy(slice(view_, 0, rows[r], rows[r] + 1),
         slice(gathered.view_, 0, static_cast<Index>(r), static_cast<Index>(r) + 1));
  }
  return gathered;
}

Tensor join_rows(const Tensor& above, const Tensor& below) {
  if (above.is_empty()) return below;
  if (below.is_empty()) return above;
  HEED_CHECK(above.dtype() == below.dtype() && above.rank() == below.rank() && above.rank() >= 1,
             "join_rows: needs tensors of one type and rank, but they are {} and {}", describe(above.view()),
             describe(below.view()));
  ConstView like = above.view();
  like.shape[0] = above.dim(0) + below.dim(0);
  for (int axis = 1; axis < like.rank; ++axis) like.shape[axis] = std::max(above.dim(axis), below.dim(axis));
  const Tensor joined = Tensor::zeros_like(like);
  const auto place = [&](const Tensor& rows, Index first) {
    View to = slice(joined.view(), 0, first, first + rows.dim(0));
    for (int axis = 1; axis < to.rank; ++axis) to = slice(to, axis, 0, rows.dim(axis));
    copy(rows.view(), to);
  };
  place(above, 0), place(below, above.dim(0));
  return joined;
}

}  // namespace heed
