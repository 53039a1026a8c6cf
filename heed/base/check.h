// Argument checks for heed's own .cc files: throws heed::Error with a formatted message.
//
//   HEED_CHECK(q.rank == 4, "attention: q must be [B, H, Lq, D], but has rank {}", q.rank);
#pragma once

#include <fmt/core.h>

#include "heed/base/error.h"

namespace heed {

// Out of line, so that a check costs its caller's code little.
[[noreturn]] void fail_formatted(fmt::string_view format, fmt::format_args args);

template <typename... Args>
[[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) {
  fail_formatted(format, fmt::make_format_args(args...));
}

}  // namespace heed

// A macro so that the message's arguments are evaluated only when the check fails.
#define HEED_CHECK(condition, ...)   \
  do {                               \
    if (!(condition)) [[unlikely]] { \
      ::heed::fail(__VA_ARGS__);     \
    }                                \
  } while (false)
