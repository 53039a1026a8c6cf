#include "heed/base/file_reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "heed/base/check.h"
#include "heed/base/system_call.h"

namespace heed {
namespace {

// What a terminal gives ends somewhere, and what /dev/zero gives does not: memory would.
constexpr std::size_t kMostOfDevice = std::size_t{1} << 28;

struct ::stat status_of(int descriptor, const std::string& name) {
  struct ::stat status {};
  HEED_CHECK(::fstat(descriptor, &status) == 0, "{}: cannot look at it: {}", name, std::strerror(errno));
  return status;
}

}  // namespace

FileReader::FileReader(const std::filesystem::path& path)
    : name_(path.string()), descriptor_(uninterrupted([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC); })) {
  HEED_CHECK(descriptor_.open(), "{}: cannot open: {}", name_, std::strerror(errno));
  const struct ::stat status = status_of(descriptor_.number(), name_);
  // The files of /proc say 0, whatever they hold.
  if (S_ISREG(status.st_mode) && status.st_size > 0) size_ = status.st_size;
}

Index FileReader::read(void* to, Index bytes) {
  Index total = 0;
  while (total < bytes) {
    const ::ssize_t got = uninterrupted([&] {
      return ::read(descriptor_.number(), static_cast<char*>(to) + total, static_cast<std::size_t>(bytes - total));
    });
    HEED_CHECK(got >= 0, "{}: cannot read: {}", name_, std::strerror(errno));
    if (got == 0) break;
    total += got;
  }
  return total;
}

std::string FileReader::read_rest() {
  std::string contents;
  if (size_) contents.reserve(static_cast<std::size_t>(*size_));
  const bool is_device = !size_ && S_ISCHR(status_of(descriptor_.number(), name_).st_mode);
  char buffer[1 << 16];
  while (const Index got = read(buffer, sizeof buffer)) {
    contents.append(buffer, static_cast<std::size_t>(got));
    HEED_CHECK(!is_device || contents.size() < kMostOfDevice, "{}: is a device without an end: {} bytes are read",
               name_, contents.size());
  }
  return contents;
}

}  // namespace heed
