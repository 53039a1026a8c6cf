// The functions that every template may call.
#pragma once

#include "heed/text/jinja/scope.h"

namespace heed::jinja {

// Sets range, dict, namespace and Hugging Face's raise_exception, which throws heed::Error with its message.
void set_globals(Run& run, Scope& scope);

}  // namespace heed::jinja
