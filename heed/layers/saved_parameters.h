// Parameters in a safetensors file.
//
//   save_parameters("model.safetensors", drawn.list());
//   read_parameters(open_safetensors("model.safetensors"), drawn.list());      // into the parameters that there are
#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>

#include "heed/base/error.h"
#include "heed/io/safetensors.h"
#include "heed/layers/parameters.h"

namespace heed {

// What the scales of an i8 weight are called in a file: "linear1.weight.scales" beside "linear1.weight".
std::string scales_of(const std::string& weight);

// Writes every value under its name, an i8 weight's scales beside it; throws as write_safetensors does, and for a
// weight in blocks.
void save_parameters(const std::filesystem::path& path, const ParameterList& parameters,
                     const std::map<std::string, std::string>& metadata = {});

// Throws one heed::Error that names the file and every tensor (the first five, and how many more) that is missing, has
// another shape than it is wanted in or another type than f32 (or, of a weight, a narrow one; i8 with scales f32 [Out],
// others without), or is not wanted at all. Reads no tensor.
void check_parameters(const Checkpoint& file, std::span<const ParameterShape> wanted);

// Sets every parameter to the file's value of its name, which must be f32. Throws as check_parameters does, before any
// value has changed, and for an element that is not finite. Cost: the file's pages beside the parameters.
void read_parameters(const Checkpoint& file, const ParameterList& parameters);

}  // namespace heed
