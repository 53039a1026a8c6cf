#include "heed/base/text_lines.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "heed/base/check.h"
#include "heed/base/system_call.h"
#include "heed/base/utf8.h"

namespace heed {
namespace {

constexpr std::size_t kReadBytes = std::size_t{1} << 16;
constexpr int kPipeBytes = 1 << 20;

struct OtherFormat {
  std::string_view magic;  // the bytes that it begins with
  std::string_view name, remedy;
};

using namespace std::string_view_literals;
// UTF-32 before UTF-16, whose mark it begins with.
constexpr OtherFormat kOtherFormats[] = {
    {"\x1F\x8B"sv, "compressed by gzip", "unpack it first (gzip -d)"},
    {"BZh91AY&SY"sv, "compressed by bzip2", "unpack it first (bzip2 -d)"},
    {"\xFD"
     "7zXZ"sv,
     "compressed by xz", "unpack it first (xz -d)"},
    {"\x28\xB5\x2F\xFD"sv, "compressed by zstd", "unpack it first (zstd -d)"},
    {"\x04\x22\x4D\x18"sv, "compressed by lz4", "unpack it first (lz4 -d)"},
    {"PK\x03\x04"sv, "a zip archive", "unpack it first (unzip)"},
    {"7z\xBC\xAF\x27\x1C"sv, "a 7z archive", "unpack it first (7z x)"},
    {"%PDF-"sv, "a PDF", "take the text out first (pdftotext)"},
    {"\xFF\xFE\0\0"sv, "UTF-32", "convert it to UTF-8 first (iconv -f UTF-32 -t UTF-8)"},
    {"\xFF\xFE"sv, "UTF-16", "convert it to UTF-8 first (iconv -f UTF-16 -t UTF-8)"},
    {"\xFE\xFF"sv, "UTF-16", "convert it to UTF-8 first (iconv -f UTF-16 -t UTF-8)"},
};

void check_line(std::string_view line, std::string_view name, Index number) {
  if (number == 1) {
    for (const OtherFormat& format : kOtherFormats) {
      HEED_CHECK(!line.starts_with(format.magic), "{}: is {}, not UTF-8 text: {}", name, format.name, format.remedy);
    }
  }
  HEED_CHECK(line.size() <= kLongestLine, "{}:{}: the line has more than {} bytes", name, number, kLongestLine);
  Index offset = 0;
  HEED_CHECK(valid_utf8(line, &offset), "{}:{}: byte {} is not valid UTF-8", name, number, offset + 1);
  HEED_CHECK(line.find('\0') == std::string_view::npos, "{}:{}: the line holds a NUL byte", name, number);
}

std::string_view without_return(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

// The first kLongestLine bytes, less what is left of a character that does not end within them.
std::string_view cut_to_limit(std::string_view line) {
  std::size_t end = kLongestLine;
  while (end > kLongestLine - 4 && (line[end] & 0xC0) == 0x80) --end;
  return line.substr(0, end);
}

}  // namespace

std::vector<std::string> split_text_lines(std::string_view text, std::string_view name) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = without_return(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    check_line(line, name, static_cast<Index>(lines.size()) + 1);
    lines.emplace_back(line);
  }
  return lines;
}

std::vector<std::string> read_text_lines(const std::filesystem::path& path) {
  TextLineReader reader(path);
  std::vector<std::string> lines;
  for (;;) {
    std::vector<std::string> more = reader.read(std::numeric_limits<Index>::max());
    if (more.empty()) return lines;
    lines.insert(lines.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  }
}

std::string text_name(const std::filesystem::path& path) { return path == "-" ? "standard input" : path.string(); }

TextLineReader::TextLineReader(const std::filesystem::path& path, LongLine long_line)
    : name_(text_name(path)), long_line_(long_line) {
  descriptor_ = path == "-" ? STDIN_FILENO : uninterrupted([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC); });
  HEED_CHECK(descriptor_ >= 0, "{}: cannot open: {}", name_, std::strerror(errno));
#ifdef F_SETPIPE_SZ
  // What is written while lines are worked on waits there, so that the next lines are many. Not a pipe: it stays as is.
  ::fcntl(descriptor_, F_SETPIPE_SZ, kPipeBytes);
#endif
}

TextLineReader::~TextLineReader() {
  if (descriptor_ != STDIN_FILENO) ::close(descriptor_);
}

Index TextLineReader::count_ahead() const {
  struct ::stat status {};
  HEED_CHECK(::fstat(descriptor_, &status) == 0, "{}: cannot look at it: {}", name_, std::strerror(errno));
  if (!S_ISREG(status.st_mode)) return 0;
  ::off_t at = ::lseek(descriptor_, 0, SEEK_CUR);
  std::string block(kReadBytes, '\0');
  Index lines = 0;
  char last = '\n';
  while (true) {
    const ::ssize_t got = uninterrupted([&] { return ::pread(descriptor_, block.data(), block.size(), at); });
    HEED_CHECK(got >= 0, "{}: cannot read: {}", name_, std::strerror(errno));
    if (got == 0) break;
    at += got;
    lines += std::count(block.begin(), block.begin() + got, '\n');
    last = block[static_cast<std::size_t>(got) - 1];
  }
  return lines + (last == '\n' ? 0 : 1);
}

std::vector<std::string> TextLineReader::read(Index most_lines, std::size_t most_bytes) {
  std::vector<std::string> lines;
  std::size_t bytes = 0;
  cut_lines_.clear();
  try {
    while (static_cast<Index>(lines.size()) < most_lines && bytes < most_bytes) {
      std::string line;
      if (take(line)) {
        bytes += line.size();
        lines.push_back(std::move(line));
        continue;
      }
      if (ended_ || (!lines.empty() && !can_read_now())) break;
      fill();
    }
  } catch (const Error&) {
    if (lines.empty()) throw;  // otherwise the next call finds it again
  }
  return lines;
}

// Takes the next whole line out of the buffer, or, at the end of the text, what is left; false where there is none.
bool TextLineReader::take(std::string& line) {
  if (passing_) pass_over_rest();
  const std::string_view rest = std::string_view(buffer_).substr(at_);
  const std::size_t end = rest.find('\n');
  const bool whole = end != std::string_view::npos || ended_;
  if (rest.empty() || (!whole && rest.size() <= kLongestLine + 1)) return false;  // 1: '\r'
  std::string_view text = whole ? without_return(rest.substr(0, end)) : rest;
  const bool cut = text.size() > kLongestLine && long_line_ == LongLine::cut;
  if (cut) text = cut_to_limit(text);
  check_line(text, name_, number_ + 1);
  line = text;
  ++number_;
  if (cut) cut_lines_.push_back(number_);
  passing_ = !whole;
  at_ = end == std::string_view::npos ? buffer_.size() : at_ + end + 1;
  return true;
}

void TextLineReader::pass_over_rest() {
  const std::size_t end = buffer_.find('\n', at_);
  passing_ = end == std::string::npos && !ended_;
  at_ = end == std::string::npos ? buffer_.size() : end + 1;
}

bool TextLineReader::can_read_now() const {
  ::pollfd waiting{descriptor_, POLLIN, 0};
  return ::poll(&waiting, 1, 0) > 0;
}

// Waits for more, or for the end.
void TextLineReader::fill() {
  buffer_.erase(0, at_);
  at_ = 0;
  const std::size_t before = buffer_.size();
  buffer_.resize(before + kReadBytes);
  ::ssize_t got = -1;
  while (got < 0 && failure_ == 0) {
    ::pollfd waiting{descriptor_, POLLIN, 0};  // a descriptor may be set not to block
    ::poll(&waiting, 1, -1);
    got = ::read(descriptor_, buffer_.data() + before, kReadBytes);
    if (got < 0 && errno != EINTR && errno != EAGAIN) failure_ = errno;
  }
  buffer_.resize(before + static_cast<std::size_t>(std::max<::ssize_t>(got, 0)));
  HEED_CHECK(failure_ == 0, "{}: cannot read: {}", name_, std::strerror(failure_));
  ended_ = got == 0;
}

}  // namespace heed
