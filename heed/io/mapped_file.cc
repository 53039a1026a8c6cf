#include "heed/io/mapped_file.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "heed/base/check.h"
#include "heed/base/file_reader.h"
#include "heed/base/index.h"

namespace heed {
MappedFile::MappedFile(const std::filesystem::path& path)
    : name_(path.string()), reader_(std::make_unique<FileReader>(path)) {
  if (!reader_->size()) {
    held_ = reader_->read_rest();
    reader_.reset();
    data_ = held_.data();
    size_ = held_.size();
    return;
  }
  opened_ = state();
  const auto size = static_cast<std::size_t>(*reader_->size());
  // Pages that nobody writes to need no memory of their own: it is not to be set aside for all of them.
  void* const mapped =
      ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, reader_->descriptor(), 0);
  HEED_CHECK(mapped != MAP_FAILED, "{}: cannot map its {} bytes: {}", name_, size, std::strerror(errno));
  data_ = static_cast<char*>(mapped);
  size_ = size;
}

MappedFile::MappedFile(std::string bytes, std::string name)
    : name_(std::move(name)), held_(std::move(bytes)), data_(held_.data()), size_(held_.size()) {}

MappedFile::~MappedFile() {
  if (reader_) ::munmap(data_, size_);
}

MappedFile::State MappedFile::state() const {
  struct ::stat status {};
  HEED_CHECK(::fstat(reader_->descriptor(), &status) == 0, "{}: cannot look at it: {}", name_, std::strerror(errno));
  return {status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
}

void MappedFile::check_unchanged() const {
  if (!reader_) return;
  const State now = state();
  HEED_CHECK(now.bytes == opened_.bytes, "{}: had {} bytes when it was opened, and has {} now", name_, opened_.bytes,
             now.bytes);
  HEED_CHECK(now.seconds == opened_.seconds && now.nanoseconds == opened_.nanoseconds,
             "{}: has been written to since it was opened", name_);
}

void MappedFile::release_pages(std::string_view bytes) const {
  if (!reader_) return;
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t from = static_cast<std::size_t>(bytes.data() - data_), to = from + bytes.size();
  const std::size_t first = round_up(from, page), last = to / page * page;
  // Advice: where the system does not take it, the pages stay a little longer.
  if (first < last) ::madvise(data_ + first, last - first, MADV_DONTNEED);
}

}  // namespace heed
