#include "heed/tasks/bench/machine.h"

#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "heed/base/error.h"
#include "heed/base/file.h"

namespace heed {

std::string processor_name() {
  constexpr std::string_view kInfo = "/proc/cpuinfo", kKey = "\nmodel name";
  try {
    const std::string text = "\n" + read_file(kInfo);
    const std::size_t line = text.find(kKey);
    const std::size_t colon = line == std::string::npos ? line : text.find(": ", line);
    if (colon != std::string::npos) return text.substr(colon + 2, text.find('\n', colon) - colon - 2);
  } catch (const Error&) {  // a system without it
  }
  return "unknown";
}

Index beyond_cache_bytes() {
  constexpr Index kLeast = Index{256} << 20;
  Index cache = 0;
#ifdef _SC_LEVEL3_CACHE_SIZE
  cache = std::max<Index>(::sysconf(_SC_LEVEL3_CACHE_SIZE), 0);
#endif
  const Index memory = static_cast<Index>(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGESIZE);
  return std::min(std::max(4 * cache, kLeast), std::max(memory / 4, Index{1} << 20));
}

}  // namespace heed
