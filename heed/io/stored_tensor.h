// A tensor as it lies in a file: where its bytes are and what they mean. Readers of formats make these; Checkpoint
// (checkpoint.h) hands them over as tensors.
//
//   StoredTensor stored{.type = StoredType::bf16, .rank = 2, .shape = {512, 256, 1, 1}, .file = file, .bytes = bytes};
//   stored.dtype() == DType::bf16;
//   Tensor values = load_values(stored, "model.safetensors: embedding.weight");      // borrows the file's pages
#pragma once

#include <memory>
#include <string_view>

#include "heed/base/error.h"
#include "heed/io/mapped_file.h"
#include "heed/io/stored_type.h"
#include "heed/tensor/tensor.h"

namespace heed {

struct StoredTensor {
  StoredType type = StoredType::f32;
  int rank = 0;
  Shape shape{1, 1, 1, 1};
  std::shared_ptr<MappedFile> file = {};
  std::string_view bytes = {};  // in the file: stored_bytes of them

  // i8 and i16 may stand for themselves times a scale, one for `group` elements that follow each other: f32 numbers
  // somewhere in the file (nothing: there is none), or, where they are `reciprocal`, what the integers are divided by.
  std::string_view scales = {};
  Index group = 0;
  bool reciprocal = false;

  Index size() const { return shape[0] * shape[1] * shape[2] * shape[3]; }
  // What load_values gives: a scaled matrix of i8 stays that where its rows have a scale each, as heed's own weights
  // (heed/ops/weight.h); everything else that is scaled is f32.
  DType dtype() const;
  bool has_row_scales() const;
};

// The tensor: the file's own pages where heed has numbers of this type and they lie aligned, else memory of its own.
// Throws heed::Error that begins with `where` for a boolean that is neither 0 nor 1 and scales as load_scales refuses.
// Cost: nothing, or one pass over the bytes on all threads.
Tensor load_values(const StoredTensor& stored, std::string_view where);

// A matrix of blocks as its bytes, i8 [rows, bytes of a row], which are the file's own: what operators read narrow
// (heed/ops/weight.h). Empty for any other tensor.
Tensor load_blocks(const StoredTensor& stored);

// The scales of rows, f32 [rows]; empty where there are none. Throws heed::Error that begins with `where` for one that
// is not finite, and for a reciprocal one that is zero.
Tensor load_scales(const StoredTensor& stored, std::string_view where);

}  // namespace heed
