// What may stand behind "is".
#pragma once

#include <string_view>

#include "heed/text/jinja/value.h"

namespace heed::jinja {

// Whether a value is what the name says: Jinja2's own tests. Throws heed::Error that names one that there is not.
bool passes_test(Run& run, std::string_view name, const Value& value, const Arguments& arguments);

}  // namespace heed::jinja
