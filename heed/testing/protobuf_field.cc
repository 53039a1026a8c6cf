#include "heed/testing/protobuf_field.h"

#include <cstring>

namespace heed::testing {

std::string field(int number, std::string_view bytes) {
  std::string out(1, static_cast<char>(number << 3 | 2));
  std::size_t size = bytes.size();
  for (; size >= 128; size >>= 7) out += static_cast<char>(size | 128);
  out += static_cast<char>(size);
  return out.append(bytes);
}

std::string number_field(int number, int value) { return {static_cast<char>(number << 3), static_cast<char>(value)}; }

std::string float_field(int number, float value) {
  std::string out(5, static_cast<char>(number << 3 | 5));
  std::memcpy(out.data() + 1, &value, sizeof value);
  return out;
}

}  // namespace heed::testing
