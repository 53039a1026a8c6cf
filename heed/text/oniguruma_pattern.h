// Regular expressions in Oniguruma's notation, in which tokenizer.json has them, as PCRE2 reads them.
#pragma once

#include <string>
#include <string_view>

#include "heed/base/error.h"

namespace heed {

// Translates what the two read differently: classes within classes and their intersections (&&), \s, \w and \h, which
// PCRE2 gives other characters; properties, of which a script's name means the script alone; (?m), which is PCRE2's
// (?s); intervals, which take no possessive +; \uHHHH. To be compiled with PCRE2_UTF, PCRE2_UCP and PCRE2_MULTILINE.
// Throws heed::Error that begins with `name` for what is no expression, nested too deep, or not known here (absence
// operators, callouts, calls of groups, \X).
std::string pcre_pattern(std::string_view oniguruma, std::string_view name);

}  // namespace heed
