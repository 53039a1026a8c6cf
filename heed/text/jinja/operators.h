// What Jinja's signs do, and what lies within a value.
#pragma once

#include <string_view>

#include "heed/text/jinja/value.h"

namespace heed::jinja {

// a + b and so on: "+", "-", "*", "/", "//", "%", "**", as Python. Throws heed::Error for types that it is not for, a
// division by zero and whole numbers beyond 64 bits.
Value calculated(Run& run, std::string_view sign, const Value& a, const Value& b);
// +a or -a.
Value signed_value(Run& run, std::string_view sign, const Value& value);
// a < b and so on: also "in" and "not in".
bool compared(Run& run, std::string_view sign, const Value& a, const Value& b);
// Below 0 where a stands before b, 0 where neither is first. Throws heed::Error for what Python does not compare.
int order(Run& run, const Value& a, const Value& b);

// value.name and value[key]: what is not there is undefined. Throws heed::Error where the value is undefined itself.
Value attribute_of(Run& run, const Value& value, std::string_view name);
Value item_of(Run& run, const Value& value, const Value& key);
// value[begin:end:step], of which what is undefined is left out.
Value slice_of(Run& run, const Value& value, const Value& begin, const Value& end, const Value& step);

}  // namespace heed::jinja
