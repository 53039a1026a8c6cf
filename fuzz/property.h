// What the fuzz targets of readers hold a reader to: whatever the bytes are, it takes them, or throws a heed::Error of
// one line. Anything else that is thrown, a property that does not hold, and a sanitizer's report are findings.
//
//   const auto array = taken([&] { return parse_npy_array(bytes, "input"); });
//   if (array) require(again(*array) == *array, "what is written again reads the same");
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "heed/base/error.h"
#include "heed/tensor/view.h"

namespace heed::fuzz {

// Says on standard error what does not hold, and aborts.
void require(bool holds, std::string_view property);

// Requires a message that names something, on one line, without what could steer a terminal.
void require_message(std::string_view message);

// What `read` returns; nothing where it throws heed::Error.
template <typename Read>
auto taken(const Read& read) -> std::optional<decltype(read())> {
  try {
    return read();
  } catch (const Error& error) {
    require_message(error.what());
    return std::nullopt;
  }
}

// The same type, shape and bits, of contiguous views.
bool same(const ConstView& a, const ConstView& b);

inline std::string_view bytes_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

}  // namespace heed::fuzz
