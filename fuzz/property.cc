#include "property.h"

#include <cstdlib>
#include <cstring>
#include <iostream>

#include "heed/base/control_characters.h"

namespace heed::fuzz {

void require(bool holds, std::string_view property) {
  if (holds) return;
  std::cerr << "This does not hold: " << property << '\n';
  std::abort();
}

void require_message(std::string_view message) {
  if (!message.empty() && !has_control_character(message)) return;
  std::cerr << message << '\n';
  require(false, "an error is one line of printable text");
}

bool same(const ConstView& a, const ConstView& b) {
  if (a.dtype != b.dtype || !same_shape(a, b)) return false;
  const std::size_t bytes = static_cast<std::size_t>(a.size() * size_of(a.dtype));
  return bytes == 0 || std::memcmp(a.data, b.data, bytes) == 0;
}

}  // namespace heed::fuzz
