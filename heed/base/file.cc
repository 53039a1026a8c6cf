#include "heed/base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "heed/base/check.h"

namespace heed {
namespace {

// A rename is durable only when the folder's entry is on disk too.
void sync_folder_of(const std::filesystem::path& path) {
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;  // some file systems do not open folders; the rename itself has happened
  ::fsync(descriptor);
  ::close(descriptor);
}

// A device, a pipe, or a link to one: /dev/stdout.
bool is_special(const std::filesystem::path& path) {
  struct ::stat status {};
  return ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

}  // namespace

std::string read_file(const std::filesystem::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  HEED_CHECK(descriptor >= 0, "{}: cannot open: {}", path.string(), std::strerror(errno));
  std::string contents;
  struct ::stat status {};
  if (::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode))
    contents.reserve(static_cast<std::size_t>(status.st_size));
  char buffer[1 << 16];
  for (;;) {
    const ::ssize_t got = ::read(descriptor, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      const int reason = errno;
      ::close(descriptor);
      fail("{}: cannot read: {}", path.string(), std::strerror(reason));
    }
    if (got == 0) break;
    contents.append(buffer, static_cast<std::size_t>(got));
  }
  ::close(descriptor);
  return contents;
}

void write_file(const std::filesystem::path& path, std::string_view contents) {
  FileWriter writer(path);
  writer.write(contents);
  writer.commit();
}

void make_folder(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  HEED_CHECK(!error, "{}: cannot make this folder: {}", path.string(), error.message());
  HEED_CHECK(std::filesystem::is_directory(path), "{}: is not a folder", path.string());
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
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    files.push_back(entry->path());
  }
  HEED_CHECK(!error, "{}: cannot read this folder: {}", folder.string(), error.message());
  std::sort(files.begin(), files.end());
  return files;
}

bool valid_utf8(std::string_view text, Index* offset) {
  std::size_t i = 0;
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  while (i < text.size()) {
    const unsigned char lead = byte(i);
    int length = 0;
    std::uint32_t code = 0, least = 0;
    if (lead < 0x80) {
      ++i;
      continue;
    } else if ((lead & 0xE0) == 0xC0) {
      length = 2, code = lead & 0x1F, least = 0x80;
    } else if ((lead & 0xF0) == 0xE0) {
      length = 3, code = lead & 0x0F, least = 0x800;
    } else if ((lead & 0xF8) == 0xF0) {
      length = 4, code = lead & 0x07, least = 0x10000;
    }
    bool good = length > 0 && i + length <= text.size();
    for (int k = 1; good && k < length; ++k) {
      good = (byte(i + k) & 0xC0) == 0x80;
      code = (code << 6) | (byte(i + k) & 0x3F);
    }
    if (!good || code < least || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) {
      if (offset) *offset = static_cast<Index>(i);
      return false;
    }
    i += length;
  }
  return true;
}

FileWriter::FileWriter(std::filesystem::path path) : path_(std::move(path)) {
  if (is_special(path_)) {  // it takes the bytes as they come, and must not be replaced: part_ stays empty
    descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
  } else {
    part_ = path_;
    part_ += ".part";  // one name, so that what a kill leaves is overwritten by the next writer
    descriptor_ = ::open(part_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  }
  HEED_CHECK(descriptor_ >= 0, "{}: cannot write: {}", path_.string(), std::strerror(errno));
}

FileWriter::~FileWriter() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  if (!part_.empty()) ::unlink(part_.c_str());
}

void FileWriter::write(std::string_view bytes) { write(bytes.data(), static_cast<Index>(bytes.size())); }

void FileWriter::write(const void* data, Index bytes) {
  const char* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const ::ssize_t wrote = ::write(descriptor_, at, static_cast<std::size_t>(bytes));
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) fail_writing("write");
    at += wrote;
    bytes -= wrote;
  }
}

void FileWriter::commit() {
  if (::fsync(descriptor_) != 0 && errno != EINVAL) fail_writing("flush");
  if (!part_.empty() && ::rename(part_.c_str(), path_.c_str()) != 0) fail_writing("replace");
  ::close(descriptor_);
  descriptor_ = -1;
  if (!part_.empty()) sync_folder_of(path_);
}

void FileWriter::fail_writing(const char* action) {
  const int reason = errno;
  fail("{}: cannot {}: {}", path_.string(), action, std::strerror(reason));
}

}  // namespace heed
