// The one exception that heed throws.
//
//   try { heed::attention(q, k, v, {}, {.out = o}, workspace); }
//   catch (const heed::Error& error) { std::cerr << error.what() << '\n'; }
#pragma once

#include <stdexcept>

namespace heed {

// Thrown by every public call for what its caller or a file got wrong. what() is one line that names the function or
// file, the rule that was broken, and the shapes, bytes or line that broke it.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace heed
