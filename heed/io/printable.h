// Text from a file, made fit for an error message.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace heed {

// The text on one line of at most `limit` bytes (and "..." where it was longer): control characters and bytes that are
// not UTF-8 are shown as \xNN. A hostile name can neither fill the terminal nor steer it.
std::string printable(std::string_view text, std::size_t limit = 80);

}  // namespace heed
