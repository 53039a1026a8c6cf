// One tensor in numpy's file format (NEP 1): for exchange with Python.
//
//   Tensor x = read_npy("x.npy");
//   write_npy("y.npy", y);
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "heed/tensor/tensor.h"

namespace heed {

// An array of any rank: a view has room for kMaxRank axes only.
struct NpyArray {
  std::vector<Index> shape;
  Tensor elements;  // [the product of shape], in row-major order
};

// Reads versions 1, 2 and 3; little-endian f4, f8, f2, i4, i8 and bool (b1), rank 0 to 4; column-major arrays become
// row-major. Throws heed::Error that names the file for anything else (big-endian and other dtypes, objects, rank above
// 4), for a header that is no such description, and where the bytes are fewer or more than the shape takes.
Tensor read_npy(const std::filesystem::path& path);

// The same of bytes in memory; `name` stands for the file in errors.
Tensor parse_npy(std::string_view bytes, std::string_view name);

// read_npy and parse_npy without the limit on the rank (numpy's own is 32; more is refused).
NpyArray read_npy_array(const std::filesystem::path& path);
NpyArray parse_npy_array(std::string_view bytes, std::string_view name);

// Replaces the file, whole or not at all, with version 1 of the format, row-major. The view may have any strides.
// Throws heed::Error that names the file for an empty view and for bf16, which the format does not have: convert it
// first.
void write_npy(const std::filesystem::path& path, const ConstView& view);
// The same bytes; `name` stands for the file in errors.
std::string npy_bytes(const ConstView& view, std::string_view name);

}  // namespace heed
