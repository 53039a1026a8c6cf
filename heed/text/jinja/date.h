// The day, for templates that ask for it.
#pragma once

#include <chrono>

#include "heed/text/jinja/value.h"

namespace heed::jinja {

// Hugging Face's strftime_now(format), at the first moment of that day: what Python's datetime.strftime writes with the
// C locale's names. Throws heed::Error for what is not of strftime, and for %s, which depends on where one is.
Value strftime_now(Run& run, std::chrono::year_month_day today);

}  // namespace heed::jinja
