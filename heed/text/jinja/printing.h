// Values as text: as a template prints them, as Python writes them within lists, and as JSON.
#pragma once

#include <string>

#include "heed/text/jinja/value.h"

namespace heed::jinja {

// Python's str: nothing for what is undefined.
std::string printed(Run& run, const Value& value);
// Python's repr: texts in quotes.
std::string represented(Run& run, const Value& value);
// Python's json.dumps(value, ensure_ascii=False, indent=indent): on one line without an indent. Throws heed::Error for
// what JSON has not.
std::string as_json(Run& run, const Value& value, std::optional<Index> indent);

}  // namespace heed::jinja
