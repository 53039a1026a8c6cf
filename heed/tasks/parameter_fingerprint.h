// Which parameters a model has, to the bit, in a few letters: enough to notice that a file was replaced.
//
//   fingerprint_of(load_model_folder("model").parameters) == "124 parameters, 5f0c3a...";
#pragma once

#include <string>

#include "heed/layers/parameters.h"

namespace heed {

// Of names, types, shapes and every bit of the values. Cost: reads them all once.
std::string fingerprint_of(const ParameterList& parameters);

}  // namespace heed
