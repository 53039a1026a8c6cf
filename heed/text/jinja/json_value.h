// JSON as a template sees it.
#pragma once

#include "heed/io/json.h"
#include "heed/text/jinja/value.h"

namespace heed::jinja {

// Throws heed::Error for what is too deep, and counts a step for each item.
Value value_of(Run& run, const Json& json);

}  // namespace heed::jinja
