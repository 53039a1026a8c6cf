// A template's text cut into what is printed as it stands and the tokens of its tags.
//
//   for (const Token& token : tokens_of("Hi {{ name }}!", run)) ...    // text, print_begin, name, print_end, text, end
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "heed/text/jinja/run.h"

namespace heed::jinja {

struct Token {
  enum class Kind { text, print_begin, print_end, tag_begin, tag_end, name, string, integer, number, sign, end };
  Kind kind;
  std::string text;  // of a string what it says, of a number its digits
  int line;
};

// White space around tags is as Jinja2 leaves it with trim_blocks and lstrip_blocks, of which the first drops the end
// of a line behind a tag, and the second the blanks before one that begins a line. The last token is `end`. Throws
// heed::Error that names the line where a tag, a comment or a string does not end or holds what is no token.
std::vector<Token> tokens_of(std::string_view source, Run& run);

}  // namespace heed::jinja
