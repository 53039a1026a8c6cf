// What the fuzz targets of configurations hold one to, once it has been taken.
#pragma once

#include "heed/models/model_config.h"

namespace heed::fuzz {

// What is written of it reads the same; the parameters of a configuration that makes sense can be listed, whatever its
// extents are, and a small model has just those.
void check_config(const ModelConfig& config);

// The same of what a file of others was read as, unless no model can have it, which is refused where its model is made.
void check_transformer(const TransformerConfig& config);

}  // namespace heed::fuzz
