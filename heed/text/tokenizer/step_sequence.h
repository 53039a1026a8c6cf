// A "Sequence" of normalizers, pre-tokenizers or decoders in tokenizer.json.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heed/text/tokenizer/json_fields.h"

namespace heed {

inline constexpr std::size_t kMostSteps = 64;

// Adds the steps of json[key], and of the sequences within it, that `read(json)` makes; none where it makes a null.
// Throws heed::Error for more than kMostSteps, which `what` names.
template <typename Step, typename Read>
void add_steps(const Json& json, std::string_view key, const char* what, const Read& read,
               std::vector<std::unique_ptr<const Step>>& steps) {
  for (const Json& item : json[key].items()) {
    if (item.kind() == Json::Kind::object && type_of(item) == "Sequence") {
      add_steps(item, key, what, read, steps);
    } else if (auto step = read(item)) {
      steps.push_back(std::move(step));
    }
    if (steps.size() > kMostSteps) json.refuse("must hold " + std::to_string(kMostSteps) + " " + what + " at most");
  }
}

}  // namespace heed
