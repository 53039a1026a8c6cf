#include "heed/base/file_reader.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <filesystem>

#include "heed/base/file_writer.h"
#include "heed/testing/refusal.h"
#include "heed/testing/scratch_test.h"

namespace heed {
namespace {

using testing::refusal;

class FileReaderTest : public testing::ScratchTest {};

TEST_F(FileReaderTest, ReadsPieceByPieceToTheEnd) {
  write_file(folder_ / "f", "abcdefg");
  FileReader file(folder_ / "f");
  EXPECT_EQ(file.size(), 7);
  char piece[8] = {};
  EXPECT_EQ(file.read(piece, 2), 2);
  EXPECT_STREQ(piece, "ab");
  EXPECT_EQ(file.read_rest(), "cdefg");
  EXPECT_EQ(file.read(piece, 2), 0);
}

TEST_F(FileReaderTest, AnEmptyFileIsEmpty) {
  write_file(folder_ / "f", "");
  EXPECT_EQ(FileReader(folder_ / "f").read_rest(), "");
}

TEST_F(FileReaderTest, AFileThatSaysNothingOfItsSizeIsReadToItsEnd) {
  if (!std::filesystem::exists("/proc/self/stat")) GTEST_SKIP() << "no /proc, whose files say that they are empty";
  FileReader file("/proc/self/stat");
  EXPECT_FALSE(file.size());
  EXPECT_TRUE(file.read_rest().starts_with(std::to_string(::getpid()) + " ("));
}

TEST_F(FileReaderTest, WhatCannotBeReadIsNamed) {
  EXPECT_NE(refusal([&] { FileReader(folder_ / "absent"); }).find("absent: cannot open: No such file"),
            std::string::npos);
  EXPECT_EQ(refusal([&] { FileReader(folder_).read_rest(); }), folder_.string() + ": cannot read: Is a directory");
  if (!std::filesystem::exists("/proc/self/mem")) GTEST_SKIP() << "no /proc/self/mem, where nothing is at address 0";
  EXPECT_EQ(refusal([] { FileReader("/proc/self/mem").read_rest(); }),
            "/proc/self/mem: cannot read: Input/output error");
}

TEST_F(FileReaderTest, ADeviceWithoutAnEndIsRefusedBeforeMemoryEnds) {
  if (!std::filesystem::exists("/dev/zero")) GTEST_SKIP() << "no /dev/zero";
  EXPECT_EQ(refusal([] { FileReader("/dev/zero").read_rest(); }),
            "/dev/zero: is a device without an end: 268435456 bytes are read");
}

TEST_F(FileReaderTest, AnErrorInTheMiddleIsNoEnd) {
  // Of two pages the second takes nothing: the first read stops there, and the next one fails.
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* const pages = ::mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  ASSERT_EQ(::mprotect(static_cast<char*>(pages) + page, page, PROT_NONE), 0);
  write_file(folder_ / "f", std::string(2 * page, 'x'));
  FileReader file(folder_ / "f");
  EXPECT_EQ(refusal([&] { file.read(pages, static_cast<Index>(2 * page)); }),
            (folder_ / "f").string() + ": cannot read: Bad address");
  EXPECT_EQ(static_cast<char*>(pages)[page - 1], 'x');
  ::munmap(pages, 2 * page);
}

}  // namespace
}  // namespace heed
