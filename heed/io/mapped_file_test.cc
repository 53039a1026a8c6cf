#include "heed/io/mapped_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <thread>

#include "heed/base/file.h"
#include "heed/base/file_writer.h"
#include "heed/testing/refusal.h"
#include "heed/testing/scratch_test.h"

namespace heed {
namespace {

using testing::refusal;

class MappedFileTest : public testing::ScratchTest {
 protected:
  const std::filesystem::path file_ = folder_ / "f";
};

TEST_F(MappedFileTest, HasTheBytesOfTheFile) {
  write_file(file_, "abcdefg");
  const MappedFile file(file_);
  EXPECT_EQ(file.bytes(), "abcdefg");
  EXPECT_EQ(file.name(), file_.string());
  EXPECT_NO_THROW(file.check_unchanged());
}

TEST_F(MappedFileTest, WritesToMemoryAreNoneToTheFile) {
  write_file(file_, "abcdefg");
  const MappedFile one(file_), other(file_);
  one.data()[1] = 'X';
  EXPECT_EQ(one.bytes(), "aXcdefg");
  EXPECT_EQ(other.bytes(), "abcdefg");
  EXPECT_EQ(read_file(file_), "abcdefg");
}

TEST_F(MappedFileTest, AFileThatIsReplacedStaysWhatItWas) {
  write_file(file_, "abcdefg");
  const MappedFile file(file_);
  write_file(file_, "other");
  EXPECT_EQ(file.bytes(), "abcdefg");
  EXPECT_NO_THROW(file.check_unchanged());
}

TEST_F(MappedFileTest, AFileThatIsCutShortIsAnError) {
  write_file(file_, "abcdefg");
  const MappedFile file(file_);
  std::filesystem::resize_file(file_, 3);
  EXPECT_EQ(refusal([&] { file.check_unchanged(); }),
            file_.string() + ": had 7 bytes when it was opened, and has 3 now");
}

TEST_F(MappedFileTest, AFileThatIsWrittenToIsAnError) {
  write_file(file_, "abcdefg");
  std::filesystem::last_write_time(file_, std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
  const MappedFile file(file_);
  std::filesystem::last_write_time(file_, std::filesystem::file_time_type::clock::now());
  EXPECT_EQ(refusal([&] { file.check_unchanged(); }), file_.string() + ": has been written to since it was opened");
}

TEST_F(MappedFileTest, PagesThatAreReleasedAreReadAgain) {
  const std::string text(std::size_t{5} << 12, 'x');
  write_file(file_, text);
  const MappedFile file(file_);
  EXPECT_EQ(file.bytes(), text);
  file.release_pages(file.bytes().substr(10, 3 << 12));
  EXPECT_EQ(file.bytes(), text);
}

TEST_F(MappedFileTest, AnEmptyFileHasNoBytes) {
  write_file(file_, "");
  const MappedFile file(file_);
  EXPECT_TRUE(file.bytes().empty());
  EXPECT_NE(file.data(), nullptr);
  EXPECT_NO_THROW(file.check_unchanged());
}

TEST_F(MappedFileTest, APipeIsReadToItsEnd) {
  ASSERT_EQ(::mkfifo(file_.c_str(), 0600), 0);
  std::thread writer([&] {
    FileWriter out(file_);
    out.write(std::string(100000, 'x'));
    out.commit();
  });
  const MappedFile file(file_);
  writer.join();
  EXPECT_EQ(file.bytes(), std::string(100000, 'x'));
  file.release_pages(file.bytes());
  EXPECT_EQ(file.bytes(), std::string(100000, 'x'));
}

TEST_F(MappedFileTest, FilesOfTheSystemThatSayNoSizeAreRead) {
  EXPECT_FALSE(MappedFile("/proc/self/status").bytes().empty());
}

TEST_F(MappedFileTest, WhatIsNoFileIsNamed) {
  EXPECT_EQ(refusal([&] { MappedFile file(folder_); }), folder_.string() + ": cannot read: Is a directory");
  EXPECT_EQ(refusal([&] { MappedFile file(file_); }), file_.string() + ": cannot open: No such file or directory");
}

TEST(MappedFile, BytesInMemoryHaveAName) {
  const MappedFile file("abc", "m.gguf");
  EXPECT_EQ(file.bytes(), "abc");
  EXPECT_EQ(file.name(), "m.gguf");
}

}  // namespace
}  // namespace heed
