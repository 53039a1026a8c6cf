#include "heed/base/text_lines.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "heed/base/error.h"
#include "heed/base/file_writer.h"
#include "heed/testing/refusal.h"
#include "heed/testing/scratch_test.h"

namespace heed {
namespace {

using Lines = std::vector<std::string>;
using testing::refusal;

constexpr Index kAll = 1000;

class TextLinesTest : public testing::ScratchTest {
 protected:
  std::filesystem::path file_with(std::string_view text) const {
    write_file(folder_ / "text", text);
    return folder_ / "text";
  }
};

TEST(TextLines, SplitsAndNamesTheBadLine) {
  EXPECT_EQ(split_text_lines("a\r\n\nb", "f"), (Lines{"a", "", "b"}));
  EXPECT_EQ(split_text_lines("a\n", "f"), (Lines{"a"}));
  EXPECT_TRUE(split_text_lines("", "f").empty());
  EXPECT_EQ(refusal([] { split_text_lines("good\nb\xFF\n", "file.txt"); }), "file.txt:2: byte 2 is not valid UTF-8");
  EXPECT_EQ(refusal([] { split_text_lines(std::string_view("a\n\0\n", 4), "f"); }), "f:2: the line holds a NUL byte");
}

TEST(TextLines, ALineHasAtMostItsLimitOfBytes) {
  const std::string longest(kLongestLine, 'x');
  EXPECT_EQ(split_text_lines("a\n" + longest + "\r\nb", "f")[1], longest);
  EXPECT_EQ(refusal([&] { split_text_lines("a\n" + longest + "x\n", "f"); }),
            "f:2: the line has more than 65536 bytes");
}

TEST_F(TextLinesTest, AFileGivesTheLinesThatItsTextGives) {
  std::string text;
  for (int i = 0; i < 5000; ++i)
    text += std::string(static_cast<std::size_t>(i * 7919 % 300), 'a') + (i % 5 ? "\n" : "\r\n");
  for (const std::string& end : {std::string("last"), std::string(kLongestLine, 'x') + "\r\n", std::string("\n\n")}) {
    EXPECT_EQ(read_text_lines(file_with(text + end)), split_text_lines(text + end, "f"));
  }
  EXPECT_TRUE(read_text_lines(file_with("")).empty());
}

TEST_F(TextLinesTest, ALongLineIsRefusedInAFileToo) {
  for (const char* end : {"", "\n", "\r\n", "\nb\n"}) {
    const auto path = file_with("a\n" + std::string(kLongestLine + 1, 'x') + end);
    EXPECT_EQ(refusal([&] { read_text_lines(path); }), path.string() + ":2: the line has more than 65536 bytes");
  }
}

TEST_F(TextLinesTest, ALongLineIsCutBetweenCharactersWhereThatIsAsked) {
  const std::string shorter(kLongestLine - 1, 'x');
  for (const std::size_t more : {std::size_t{0}, std::size_t{1}, std::size_t{500'000}}) {
    const auto path = file_with("a\n" + shorter + "\xC3\xBC" + std::string(more, '\xFF') + "\nb\n" + shorter + "yz");
    TextLineReader reader(path, TextLineReader::LongLine::cut);
    EXPECT_EQ(reader.read(2), (Lines{"a", shorter})) << more;
    EXPECT_EQ(reader.cut_lines(), (std::vector<Index>{2})) << more;
    EXPECT_EQ(reader.read(kAll), (Lines{"b", shorter + "y"})) << more;
    EXPECT_EQ(reader.cut_lines(), (std::vector<Index>{4})) << more;
    EXPECT_TRUE(reader.read(kAll).empty()) << more;
    EXPECT_TRUE(reader.cut_lines().empty()) << more;
  }
}

TEST_F(TextLinesTest, LinesAheadAreCountedWithoutReadingThem) {
  for (const auto& [text, lines] : std::vector<std::pair<std::string, Index>>{
           {"", 0}, {"a", 1}, {"a\n", 1}, {"a\n\nb", 3}, {std::string(1 << 20, '\n'), 1 << 20}}) {
    TextLineReader reader(file_with(text));
    EXPECT_EQ(reader.count_ahead(), lines);
    EXPECT_EQ(std::ssize(reader.read(1 << 21)), lines);
  }
}

TEST_F(TextLinesTest, ReadsNoMoreThanWhatIsAskedFor) {
  const auto path = file_with("a\nbb\nccc\ndddd\n");
  TextLineReader reader(path);
  EXPECT_EQ(reader.read(1), (Lines{"a"}));
  EXPECT_EQ(reader.read(kAll, 4), (Lines{"bb", "ccc"}));
  EXPECT_EQ(reader.read(kAll, 1), (Lines{"dddd"}));
  EXPECT_TRUE(reader.read(kAll).empty());
}

TEST_F(TextLinesTest, WhatStandsBeforeABadLineComesFirst) {
  const auto path = file_with("a\nb\nb\xFF\nc\n");
  TextLineReader reader(path);
  EXPECT_EQ(reader.read(kAll), (Lines{"a", "b"}));
  for (int again = 0; again < 2; ++again) {
    EXPECT_EQ(refusal([&] { reader.read(kAll); }), path.string() + ":3: byte 2 is not valid UTF-8");
  }
}

TEST_F(TextLinesTest, APipesLinesComeWhileItIsOpen) {
  const std::filesystem::path pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const int both = ::open(pipe.c_str(), O_RDWR);  // a writer, and a reader so that opening waits for nobody
  ASSERT_GE(both, 0);
  TextLineReader reader(pipe);
  const auto write = [&](std::string_view text) {
    ASSERT_EQ(::write(both, text.data(), text.size()), static_cast<::ssize_t>(text.size()));
  };
  write("one\nhal");
  EXPECT_EQ(reader.read(kAll), (Lines{"one"}));
  write("f\nthree\n");
  EXPECT_EQ(reader.read(kAll), (Lines{"half", "three"}));
  write("no end");
  ::close(both);
  EXPECT_EQ(reader.read(kAll), (Lines{"no end"}));
  EXPECT_TRUE(reader.read(kAll).empty());
}

TEST_F(TextLinesTest, OtherFormatsAreNamed) {
  const auto named = [&](std::string_view bytes) {
    const auto path = file_with(bytes);
    const std::string from_file = refusal([&] { read_text_lines(path); });
    EXPECT_EQ(from_file, refusal([&] { split_text_lines(bytes, path.string()); }));
    EXPECT_TRUE(from_file.starts_with(path.string() + ": is ")) << from_file;
    return from_file.substr(path.string().size() + 5);
  };
  using namespace std::string_view_literals;
  EXPECT_EQ(named("\x1F\x8B\x08\0\0\0\n"sv), "compressed by gzip, not UTF-8 text: unpack it first (gzip -d)");
  EXPECT_TRUE(named("BZh91AY&SY\xFF"sv).starts_with("compressed by bzip2"));
  EXPECT_TRUE(named("\xFD\x37zXZ\0\0"sv).starts_with("compressed by xz"));
  EXPECT_TRUE(named("\x28\xB5\x2F\xFD\x24"sv).starts_with("compressed by zstd"));
  EXPECT_TRUE(named("PK\x03\x04\x14\0"sv).starts_with("a zip archive"));
  EXPECT_TRUE(named("\xFF\xFEG\0u\0t\0"sv).starts_with("UTF-16, not UTF-8 text: convert it"));
  EXPECT_TRUE(named("\xFE\xFF\0G\0u"sv).starts_with("UTF-16"));
  EXPECT_TRUE(named("\xFF\xFE\0\0G\0\0\0"sv).starts_with("UTF-32"));
}

TEST_F(TextLinesTest, WhatCannotBeReadIsNamed) {
  EXPECT_NE(refusal([&] { read_text_lines(folder_ / "absent"); }).find("absent: cannot open: No such file"),
            std::string::npos);
  EXPECT_NE(refusal([&] { read_text_lines(folder_); }).find("cannot read: Is a directory"), std::string::npos);
  const int before = ::dup(STDIN_FILENO);
  ::close(STDIN_FILENO);
  EXPECT_EQ(refusal([] { read_text_lines("-"); }), "standard input: cannot read: Bad file descriptor");
  if (before >= 0) ::dup2(before, STDIN_FILENO), ::close(before);
}

TEST(TextLines, InputThatBreaksOffIsAnErrorAndNoEnd) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  const int before = ::dup(STDIN_FILENO);
  ASSERT_EQ(::dup2(ends[1], STDIN_FILENO), STDIN_FILENO);
  ASSERT_EQ(::write(ends[0], "one\nhalf", 8), 8);
  ASSERT_EQ(::write(ends[1], "unheard", 7), 7);  // a peer that goes without having read this resets the connection
  ::close(ends[0]);
  ::close(ends[1]);
  TextLineReader reader("-");
  EXPECT_EQ(reader.read(kAll), (Lines{"one"}));
  for (int again = 0; again < 2; ++again) {
    EXPECT_EQ(refusal([&] { reader.read(kAll); }), "standard input: cannot read: Connection reset by peer");
  }
  if (before >= 0) ::dup2(before, STDIN_FILENO), ::close(before);
}

}  // namespace
}  // namespace heed
