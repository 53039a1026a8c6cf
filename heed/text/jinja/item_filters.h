// Filters over items: of lists, dicts, and the characters of a text.
#pragma once

#include <string_view>

#include "heed/text/jinja/text_filters.h"

namespace heed::jinja {

const std::vector<Filter>& item_filters();

// map, select, reject, selectattr and rejectattr, which apply another filter or a test to each item; nothing for any
// other name.
std::optional<Value> filtered_by_another(Run& run, std::string_view name, const Value& value,
                                         const Arguments& arguments);

}  // namespace heed::jinja
