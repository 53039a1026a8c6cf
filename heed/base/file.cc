#include "heed/base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "heed/base/check.h"
#include "heed/base/descriptor.h"
#include "heed/base/file_reader.h"
#include "heed/base/system_call.h"

namespace heed {

std::string read_file(const std::filesystem::path& path) { return FileReader(path).read_rest(); }

void make_folder(const std::filesystem::path& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (std::filesystem::is_directory(status)) return;
  HEED_CHECK(std::filesystem::status_known(status), "{}: cannot make this folder: {}", path.string(), error.message());
  const std::filesystem::path parent = path.parent_path();
  if (!parent.empty() && parent != path) make_folder(parent);
  if (::mkdir(path.c_str(), 0777) == 0) return sync_folder_of(path);
  const int reason = errno;  // another process may have made it just now
  if (std::filesystem::is_directory(path, error)) return;
  HEED_CHECK(reason != EEXIST, "{}: is not a folder", path.string());
  fail("{}: cannot make this folder: {}", path.string(), std::strerror(reason));
}

void sync_folder_of(const std::filesystem::path& path) {
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  const Descriptor descriptor(
      uninterrupted([&] { return ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
  if (descriptor.open()) {
    if (uninterrupted([&] { return ::fsync(descriptor.number()); }) == 0) return;
    if (errno == EINVAL || errno == EBADF) return;  // a file system that does not flush folders
  } else if (errno == EACCES) {
    return;  // a folder may be written to and not be read
  }
  fail("{}: cannot flush: {}", folder.string(), std::strerror(errno));
}

std::filesystem::path part_of(const std::filesystem::path& target) {
  constexpr std::size_t kLongest = 200;  // a name has at most 255 bytes
  return target.parent_path() / ("." + target.filename().string().substr(0, kLongest) + ".heed-part");
}

bool file_exists(const std::filesystem::path& path) {
  std::error_code error;
  const bool there = std::filesystem::exists(path, error);
  HEED_CHECK(!error, "{}: cannot look for it: {}", path.string(), error.message());
  return there;
}

void remove_file(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::remove(path, error);
  HEED_CHECK(!error, "{}: cannot remove: {}", path.string(), error.message());
}

std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  std::filesystem::directory_iterator entry;
  do entry = std::filesystem::directory_iterator(folder, error);
  while (error == std::errc::interrupted);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    files.push_back(entry->path());
  }
  HEED_CHECK(!error, "{}: cannot read this folder: {}", folder.string(), error.message());
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace heed
