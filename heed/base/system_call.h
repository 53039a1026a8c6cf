// Calls of the system that end before they have done their work: a signal came, or only some of the bytes went.
//
//   const int descriptor = uninterrupted([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC); });
//   if (!write_whole(STDOUT_FILENO, text)) fail("standard output: cannot write: {}", std::strerror(errno));
#pragma once

#include <cerrno>
#include <string_view>

namespace heed {

// Returns what the call returns, made again as long as a signal interrupts it. Not for close: the descriptor is gone.
template <typename Call>
auto uninterrupted(const Call& call) {
  while (true) {
    const auto result = call();
    if (result >= 0 || errno != EINTR) return result;
  }
}

// Writes all bytes, waiting where the descriptor is one that does not. Returns false, with errno, where it cannot.
// Allocates nothing.
bool write_whole(int descriptor, std::string_view bytes);

}  // namespace heed
