// What is to fail in a process, and what has been counted of it.
//
//   if (fails(Call::rename, counted_path(to))) return -1;
#pragma once

#include <dlfcn.h>

#include <cstddef>

namespace faults {

enum class Call {
  open,
  read,
  write,
  close,
  sync,
  rename,
  remove,
  make_folder,
  lock,
  status,
  link,
  list,
  truncate,
  mode,
  owner,
  control,
  poll,
  map,
  allocate
};

inline constexpr int kNone = 0, kShort = -1;  // beside the values of errno

// Counts a call on a file, unless that is null, and says how it is to fail: an errno, kShort or kNone.
int fault(Call call, const char* what);
// Whether the call fails; sets errno then.
bool fails(Call call, const char* what);
// The same of an allocation. Ends the process where it asks for ever.
bool allocation_fails();

// A path within the current folder, relative to it; null for any other, of which nothing is counted.
const char* counted_path(const char* path);
// The path that the descriptor was opened by, where that is counted; else null.
const char* counted_path(int descriptor);
// Opened by that path; null: closed, or not counted.
void remember(int descriptor, const char* path);

// How many bytes a read or a write is left with.
inline std::size_t left_of(std::size_t bytes, int error) { return error == kShort && bytes > 1 ? bytes / 2 : bytes; }

// The next function of this name: the one that the program would have called.
template <typename Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}
#define HEED_NEXT(name) static auto* const real = faults::next<decltype(name)>(#name)

}  // namespace faults
