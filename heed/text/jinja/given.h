// What a filter or method is given: one for each of its parameters, nothing for one that is left out.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heed/text/jinja/value.h"

namespace heed::jinja {

using Given = std::vector<std::optional<Value>>;

// Whether it is there and true.
bool is_set(const std::optional<Value>& given);
// These throw heed::Error for a value of another type; what is left out, or none, is `otherwise` or nothing.
Index whole_given(Run& run, const std::optional<Value>& given, Index otherwise);
std::optional<std::string_view> text_or_none(Run& run, const std::optional<Value>& given);
// Throws heed::Error where it is left out, or no text.
const std::string& text_given(Run& run, const std::optional<Value>& given);

}  // namespace heed::jinja
