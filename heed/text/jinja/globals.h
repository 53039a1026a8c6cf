// The functions that every template may call.
#pragma once

#include "heed/text/jinja/scope.h"

namespace heed::jinja {

// Sets range, dict, namespace and Hugging Face's raise_exception, which throws heed::Error with its message.
// strftime_now, which tells the time, is left out: the same conversation is the same text on every day, and templates
// that want a date have one of their own for where there is no such function.
void set_globals(Run& run, Scope& scope);

}  // namespace heed::jinja
