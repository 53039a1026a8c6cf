// Text from outside, made fit for a message.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace heed {

// The text on one line of at most `limit` bytes (and "..." where it was longer): control characters, those that reorder
// what stands around them or end a line (U+2028 to U+202E, U+2066 to U+2069), and bytes that are not UTF-8 are shown as
// \xNN. A hostile name can neither fill the terminal nor steer it.
std::string printable(std::string_view text, std::size_t limit = 80);

}  // namespace heed
