// What may stand behind "|".
#pragma once

#include <string_view>

#include "heed/text/jinja/value.h"

namespace heed::jinja {

// What a filter makes of a value: Jinja2's own, as far as templates of chats use them, with Hugging Face's tojson.
// Throws heed::Error that names one that there is not.
Value filtered(Run& run, std::string_view name, const Value& value, const Arguments& arguments);

}  // namespace heed::jinja
