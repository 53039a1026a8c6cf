#include "heed/io/stored_tensor.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "heed/base/check.h"
#include "heed/base/parallel.h"
#include "heed/io/file_tensor.h"
#include "heed/tensor/rows.h"

namespace heed {
namespace {

Tensor tensor_for(const StoredTensor& stored) {
  return tensor_of_shape(stored.dtype(), std::span(stored.shape).first(static_cast<std::size_t>(stored.rank)));
}

bool lies_aligned(const StoredTensor& stored) {
  return reinterpret_cast<std::uintptr_t>(stored.bytes.data()) % static_cast<std::uintptr_t>(size_of(stored.dtype())) ==
         0;
}

// The bytes as they are, in a view of the tensor's shape; empty tensors have no bytes to borrow.
Tensor borrowed(const StoredTensor& stored) {
  View view;
  view.data = stored.bytes.data();
  view.dtype = stored.dtype();
  view.rank = stored.rank;
  view.shape = stored.shape;
  Index stride = 1;
  for (int axis = stored.rank; axis-- > 0;) {
    view.stride[static_cast<std::size_t>(axis)] = stride;
    stride *= view.shape[static_cast<std::size_t>(axis)];
  }
  return Tensor::borrow(view, stored.file);
}

Tensor copied(const StoredTensor& stored) {
  Tensor tensor = tensor_for(stored);
  const Index bytes = static_cast<Index>(stored.bytes.size());
  parallel_for(bytes, Index{1} << 20, [&](Index begin, Index end) {
    std::memcpy(tensor.data<char>() + begin, stored.bytes.data() + begin, static_cast<std::size_t>(end - begin));
  });
  return tensor;
}

// The element `i` of an array that may lie at any address.
template <typename T>
T element(std::string_view bytes, Index i) {
  T value;
  std::memcpy(&value, bytes.data() + i * static_cast<Index>(sizeof value), sizeof value);
  return value;
}

template <typename From, typename To>
Tensor widened(const StoredTensor& stored) {
  Tensor tensor = tensor_for(stored);
  To* const to = tensor.data<To>();
  parallel_for(stored.size(), kElementsPerTask, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) to[i] = static_cast<To>(element<From>(stored.bytes, i));
  });
  return tensor;
}

// Every scale, as a factor.
std::vector<float> factors_of(const StoredTensor& stored, std::string_view where) {
  std::vector<float> factors(stored.scales.size() / sizeof(float));
  std::memcpy(factors.data(), stored.scales.data(), stored.scales.size());
  for (std::size_t i = 0; i < factors.size(); ++i) {
    const float scale = factors[i];
    if (stored.reciprocal) factors[i] = 1 / scale;
    HEED_CHECK(std::isfinite(scale) && std::isfinite(factors[i]),
               "{}: every scale must be {}finite, but scale {} is {}", where,
               stored.reciprocal ? "other than zero and " : "", i, scale);
  }
  return factors;
}

template <typename From>
Tensor scaled(const StoredTensor& stored, std::string_view where) {
  const std::vector<float> factors = factors_of(stored, where);
  Tensor tensor = tensor_for(stored);
  float* const to = tensor.data<float>();
  parallel_for(stored.size(), kElementsPerTask, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      to[i] = static_cast<float>(element<From>(stored.bytes, i)) * factors[static_cast<std::size_t>(i / stored.group)];
    }
  });
  return tensor;
}

Tensor unpacked(const StoredTensor& stored) {
  const BlockType type = blocks_of(stored.type);
  const auto [numbers, bytes] = layout_of(type);
  Tensor tensor = tensor_for(stored);
  const auto* const from = reinterpret_cast<const unsigned char*>(stored.bytes.data());
  float* const to = tensor.data<float>();
  parallel_for(stored.size() / numbers, kElementsPerTask / numbers,
               [=, n = numbers, b = bytes](Index begin, Index end) {
                 widen_blocks(type, from + begin * b, end - begin, to + begin * n);
               });
  return tensor;
}

// What does not lie as heed has it.
Tensor converted(const StoredTensor& stored, std::string_view where) {
  switch (stored.type) {
    case StoredType::i8:
      return scaled<std::int8_t>(stored, where);
    case StoredType::i16:
      return stored.scales.empty() ? widened<std::int16_t, std::int32_t>(stored) : scaled<std::int16_t>(stored, where);
    case StoredType::u8:
      return widened<std::uint8_t, std::int32_t>(stored);
    case StoredType::u16:
      return widened<std::uint16_t, std::int32_t>(stored);
    case StoredType::u32:
      return widened<std::uint32_t, std::int64_t>(stored);
    default:
      return unpacked(stored);
  }
}

}  // namespace

bool StoredTensor::has_row_scales() const {
  return type == StoredType::i8 && !scales.empty() && rank == 2 && group == shape[1];
}

DType StoredTensor::dtype() const { return scales.empty() || has_row_scales() ? dtype_of(type) : DType::f32; }

Tensor load_values(const StoredTensor& stored, std::string_view where) {
  const bool own = is_own(stored.type) && stored.dtype() == dtype_of(stored.type);
  if (own && lies_aligned(stored)) {
    Tensor tensor = borrowed(stored);
    if (stored.type == StoredType::boolean) check_booleans(tensor, where);
    return tensor;
  }
  Tensor tensor = own ? copied(stored) : converted(stored, where);
  stored.file->release_pages(stored.bytes);
  return tensor;
}

Tensor load_blocks(const StoredTensor& stored) {
  if (blocks_of(stored.type) == BlockType::none || stored.rank != 2) return {};
  View rows = make_view(const_cast<char*>(stored.bytes.data()), DType::i8,
                        {stored.shape[0], bytes_of_row(blocks_of(stored.type), stored.shape[1])});
  return Tensor::borrow(rows, stored.file);
}

Tensor load_scales(const StoredTensor& stored, std::string_view where) {
  if (!stored.has_row_scales()) return {};
  return Tensor::from(factors_of(stored, where), {stored.shape[0]});
}

}  // namespace heed
