// A matrix of weights in the type that it is kept in: f32, or a narrow one, which inference reads as f32.
//
//   const Tensor values = Tensor::empty(DType::i8, {512, 256}), scales = Tensor::empty(DType::f32, {512});
//   quantise_rows(weight, values, scales);
//   linear(x, {values, scales}, bias, y);            // as with weight, but for what quantise_rows rounded
#pragma once

#include <string>
#include <string_view>

#include "heed/base/error.h"
#include "heed/tensor/blocks.h"
#include "heed/tensor/tensor.h"
#include "heed/tensor/view.h"

namespace heed {

// [Out, In], a row for each output. Row i is values[i, :], or values[i, :] * scales[i] (rounded to f32) where values
// are i8, or what widen_blocks makes of its bytes where it is of blocks.
struct Weight {
  ConstView values;  // f32, f64, bf16, f16 or i8 [Out, In]; of blocks i8 [Out, bytes of a row]
  ConstView scales;  // f32 [Out] with i8 that is not of blocks, else empty
  BlockType blocks = BlockType::none;

  // NOLINTNEXTLINE: what has no scales is used as its view or its tensor
  Weight(const ConstView& numbers, const ConstView& factors = {}, BlockType type = BlockType::none)
      : values(numbers), scales(factors), blocks(type) {}
  Weight(const Tensor& numbers) : values(numbers.view()) {}  // NOLINT

  Index outputs() const { return values.shape[0]; }
  Index inputs() const {
    return blocks == BlockType::none ? values.shape[1]
                                     : values.shape[1] / layout_of(blocks).bytes * layout_of(blocks).numbers;
  }
  // The type of what is computed with it.
  DType wide() const { return is_narrow(values.dtype) ? DType::f32 : values.dtype; }
  // The outputs [begin, end).
  Weight rows(Index begin, Index end) const;
};

// "i8 [512, 256] with scales f32 [512]", "Q4_K [512, 256]": for error messages.
std::string describe_weight(const Weight& weight);

// Throws heed::Error naming `function` unless a narrow weight, whose views check_operands has let pass, is a contiguous
// matrix, with contiguous scales f32 [Out] where it is i8, and without where it is not; others have no scales. Blocks
// are i8 without scales, whole ones in each row.
void check_weight(std::string_view function, const Weight& weight);

// Rows [begin, end) of a narrow weight that has been checked, as f32 [end - begin, In].
void widen_rows(const Weight& weight, Index begin, Index end, float* to);

}  // namespace heed
