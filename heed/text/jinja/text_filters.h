// Filters that make a text or a number of one value.
#pragma once

#include <string_view>
#include <vector>

#include "heed/text/jinja/given.h"

namespace heed::jinja {

// A filter with its parameters, of which those that are not given are none.
struct Filter {
  std::string_view name;
  std::vector<std::string_view> parameters;
  Value (*apply)(Run&, const Value& value, const Given& given);
};

const std::vector<Filter>& text_filters();

}  // namespace heed::jinja
