// What a call refuses, as text that a test compares.
#pragma once

#include <string>
#include <utility>

#include "heed/base/error.h"

namespace heed::testing {

// Calls `call` and returns the message of the heed::Error it throws; "no error" where it throws nothing. Any other
// exception passes through and fails the test.
template <typename F>
[[nodiscard]] std::string refusal(F&& call) {
  try {
    std::forward<F>(call)();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace heed::testing
