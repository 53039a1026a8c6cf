// Text, line by line: a whole file, or what a pipe holds already.
//
//   std::vector<std::string> lines = read_text_lines("train.de");
//   TextLineReader reader("-");
//   while (!(lines = reader.read(1024)).empty()) answer(lines);     // a writer who waits for an answer gets it
//
// A line ends at '\n', the last one also at the end of the text; '\r' before '\n' is dropped. A line is UTF-8 without a
// NUL byte, and of at most kLongestLine bytes: SentencePiece's time grows with the square of what a line holds in
// characters that its vocabulary lacks. What breaks a rule is a heed::Error that names the file and the line. Text that
// begins as a compressed file or as UTF-16 does is named as that.
#pragma once

#include <cstddef>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/index.h"

namespace heed {

inline constexpr std::size_t kLongestLine = std::size_t{1} << 16;

// The lines of a text; errors call it `name`.
std::vector<std::string> split_text_lines(std::string_view text, std::string_view name);

// The lines of a file, or of standard input where path is "-". Throws heed::Error, also where it cannot be read.
std::vector<std::string> read_text_lines(const std::filesystem::path& path);

// What messages call the text at this path: "standard input", or the path itself.
std::string text_name(const std::filesystem::path& path);

// Reads lines as they come. Not copyable; one thread.
class TextLineReader {
 public:
  enum class LongLine {
    refuse,  // throws heed::Error
    cut      // returns its first kLongestLine bytes, whole characters, and passes over the rest
  };

  // Opens the file, or takes standard input where path is "-". Throws heed::Error where it cannot.
  explicit TextLineReader(const std::filesystem::path& path, LongLine long_line = LongLine::refuse);
  ~TextLineReader();
  TextLineReader(const TextLineReader&) = delete;
  TextLineReader& operator=(const TextLineReader&) = delete;

  // How many lines there are from where the text begins to be read, where it is a regular file; else 0. Throws
  // heed::Error where it cannot be read.
  Index count_ahead() const;

  // Waits until there is a line, and returns it with those behind it that need no more waiting, at most `most_lines`,
  // and no more once they hold `most_bytes`. Returns none only at the end of the text. Lines before one that breaks a
  // rule are returned first; the next call throws.
  std::vector<std::string> read(Index most_lines, std::size_t most_bytes = std::numeric_limits<std::size_t>::max());

  // Those of the lines that the last call of read returned which were cut, as numbers of lines of the text, from 1.
  const std::vector<Index>& cut_lines() const { return cut_lines_; }

 private:
  bool take(std::string& line);
  void pass_over_rest();
  bool can_read_now() const;
  void fill();

  std::string name_;
  LongLine long_line_;
  int descriptor_;
  std::string buffer_;
  std::size_t at_ = 0;    // of buffer_: where the next line begins
  bool ended_ = false;    // nothing is left to read
  int failure_ = 0;       // why nothing more can be read; the system says it only once
  bool passing_ = false;  // over the rest of a line that was cut
  Index number_ = 0;      // of the last line that was taken
  std::vector<Index> cut_lines_;
};

}  // namespace heed
