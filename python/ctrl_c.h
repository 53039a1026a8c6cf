// Ctrl-C in the middle of a long call, which lets other threads of Python run.
//
//   embed(folder, texts, pool, name, kBatchTokens, CtrlC());       // KeyboardInterrupt comes out of it
#pragma once

#include <pybind11/pybind11.h>

#include <chrono>

#include "heed/base/index.h"

namespace heed::python {

// Told how far a call is, looks whether Python has a signal to answer, and raises what that raises. Only Python's main
// thread answers any, so the thread that makes it looks, and those that help it go on. A few times a second: it takes
// Python's lock, which another thread may hold for a while.
class CtrlC {
 public:
  void operator()(Index) {
    if (PyThread_get_thread_ident() != caller_) return;
    constexpr std::chrono::milliseconds kBetween{100};
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < kBetween) return;
    last_ = now;
    const pybind11::gil_scoped_acquire lock;
    if (PyErr_CheckSignals() != 0) throw pybind11::error_already_set();
  }

 private:
  unsigned long caller_ = PyThread_get_thread_ident();
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace heed::python
