// What a model writes behind a case's tokens, searched for as the case says (docs/conformance.md).
//
//   const Generation made = generate(item, folder, opened, workspace);
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "heed/io/json.h"
#include "heed/pretrained/pretrained_model.h"

namespace heed::conformance {

struct Generation {
  std::vector<std::int32_t>
      prompt;  // of the decoder: what it is given, with the padding before it, and what it begins with
  std::vector<std::int32_t> generated;  // with the token that ended it
  bool ended = false;
};

// Throws heed::Error that names the place for a search that heed does not have, and where there is no room for a token.
Generation generate(const Json& item, const std::filesystem::path& folder, const PretrainedModel& opened,
                    Workspace& workspace);

}  // namespace heed::conformance
