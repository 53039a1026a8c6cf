// Memory that heed holds but nobody may use now: the address sanitizer is told, since it knows only of what goes back
// to the system. In a build without it these do nothing.
//
//   poison(block, size);                   // any use is reported...
//   unpoison(block, taken);                // ...but that of the first `taken` bytes
#pragma once

#include "heed/base/index.h"

#if defined(__SANITIZE_ADDRESS__)
#define HEED_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HEED_ADDRESS_SANITIZER 1
#endif
#endif
#ifdef HEED_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#endif

namespace heed {

#ifdef HEED_ADDRESS_SANITIZER
inline constexpr bool kAddressSanitizer = true;
inline void poison(const void* at, Index bytes) { __asan_poison_memory_region(at, static_cast<std::size_t>(bytes)); }
inline void unpoison(const void* at, Index bytes) {
  __asan_unpoison_memory_region(at, static_cast<std::size_t>(bytes));
}
inline bool is_poisoned(const void* at) { return __asan_address_is_poisoned(at) != 0; }
#else
inline constexpr bool kAddressSanitizer = false;
inline void poison(const void*, Index) {}
inline void unpoison(const void*, Index) {}
inline bool is_poisoned(const void*) { return false; }
#endif

}  // namespace heed
