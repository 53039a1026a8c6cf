// Carries a template's tree out.
#pragma once

#include <memory>
#include <string>

#include "heed/text/jinja/scope.h"
#include "heed/text/jinja/syntax.h"

namespace heed::jinja {

// Prints what the statements print, with the names of a scope. Throws heed::Error as Jinja2 does, and where the run's
// limits are met.
std::string carried_out(Run& run, const Block& block, const std::shared_ptr<Scope>& scope);

}  // namespace heed::jinja
