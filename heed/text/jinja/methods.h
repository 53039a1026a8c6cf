// The methods of Python's types that a template may call: those that change nothing.
#pragma once

#include <optional>
#include <string_view>

#include "heed/text/jinja/value.h"

namespace heed::jinja {

// The method of that name, bound to the value; undefined for one that would change it, which no template may; nothing
// where its type has none that heed knows.
std::optional<Value> method_of(Run& run, const Value& value, std::string_view name);

}  // namespace heed::jinja
