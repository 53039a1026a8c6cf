// A template's text as a tree.
#pragma once

#include <string_view>

#include "heed/text/jinja/syntax.h"

namespace heed::jinja {

// Reads what Jinja2 reads with its extension for loops (break, continue) and the tag `generation` of Hugging Face's,
// except for what needs other files or what templates of chats do not use: extends, include, import, block,
// autoescape, recursive loops, and others' extensions. Throws heed::Error that names the line, and the tag where it is
// one of those.
Block parse(std::string_view source, Run& run);

}  // namespace heed::jinja
