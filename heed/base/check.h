// Argument checks for heed's own .cc files: throws heed::Error with a formatted message.
//
//   HEED_CHECK(q.rank == 4, "attention: q must be [B, H, Lq, D], but has rank {}", q.rank);
#pragma once

#include <fmt/format.h>

#include <utility>

#include "heed/base/error.h"

namespace heed {

template <typename... Args>
[[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) {
  throw Error(fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace heed

// A macro so that the message's arguments are evaluated only when the check fails.
#define HEED_CHECK(condition, ...)   \
  do {                               \
    if (!(condition)) [[unlikely]] { \
      ::heed::fail(__VA_ARGS__);     \
    }                                \
  } while (false)
