// A folder that holds what low-rank adaptation learned (heed/layers/low_rank.h), and which model it is added to.
//
//   write_json("adapter/config.json", to_json(Adapter{"gpt2", fingerprint_of(base.parameters), {.rank = 8}}));
//   save_parameters("adapter/model.safetensors", factors);
//   ModelFolder model = load_model_folder("adapter");            // the base with W + scale B A
#pragma once

#include <filesystem>
#include <string>

#include "heed/base/error.h"
#include "heed/io/json.h"
#include "heed/layers/low_rank.h"
#include "heed/tasks/model_folder.h"

namespace heed {

// config.json of such a folder; model.safetensors has the factors alone.
struct Adapter {
  std::filesystem::path base;
  std::string fingerprint;  // of the base's parameters, when the adapter was trained
  LowRankOptions low_rank;
};

// {"model": "adapter", "base": "/models/gpt2", "parameters": "148 parameters, 5f0c...", "low_rank": {...}}. The base's
// path becomes absolute: an adapter is found from anywhere, but the base must stay where it is.
Json to_json(const Adapter& adapter);

// Whether config.json is an adapter's.
bool is_adapter(const Json& config);

// Where its base lies. Throws heed::Error naming config.json where it is not there or is an adapter itself.
std::filesystem::path base_of_adapter(const std::filesystem::path& folder, const Json& config);

// The base, with the factors merged into its weights. Throws heed::Error as base_of_adapter does, and naming the file
// where the base has other parameters than it had, and where the factors are not those of the options.
ModelFolder load_adapter(const std::filesystem::path& folder, const Json& config);

}  // namespace heed
