// Members of tokenizer.json that may be left out or be null.
#pragma once

#include <string>
#include <string_view>

#include "heed/io/json.h"

namespace heed {

// Whether there is a member that is not null.
inline bool is_given(const Json& json, std::string_view key) { return json.has(key) && !json[key].is_null(); }

inline bool flag_or(const Json& json, std::string_view key, bool otherwise) {
  return is_given(json, key) ? json[key].boolean() : otherwise;
}

inline std::string string_or(const Json& json, std::string_view key, std::string_view otherwise) {
  return is_given(json, key) ? json[key].string() : std::string(otherwise);
}

// What an object's "type" says, which it must have.
inline std::string type_of(const Json& json) { return json["type"].string(); }

}  // namespace heed
