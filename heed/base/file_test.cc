#include "heed/base/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "heed/base/error.h"
#include "heed/testing/refusal.h"

namespace heed {
namespace {

using testing::refusal;

class FileTest : public ::testing::Test {
 protected:
  std::filesystem::path folder_ = std::filesystem::path(::testing::TempDir()) / "heed_file_test" /
                                  ::testing::UnitTest::GetInstance()->current_test_info()->name();
  void SetUp() override { make_folder(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }
};

TEST_F(FileTest, WritesAndReadsBack) {
  write_file(folder_ / "a", std::string("x\0y", 3));
  EXPECT_EQ(read_file(folder_ / "a"), std::string("x\0y", 3));
}

TEST_F(FileTest, WithoutCommitTheOldFileStays) {
  write_file(folder_ / "a", "old");
  {
    FileWriter writer(folder_ / "a");
    writer.write("new");
  }
  EXPECT_EQ(read_file(folder_ / "a"), "old");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
}

TEST_F(FileTest, APipeIsWrittenToAndNotReplaced) {
  const std::filesystem::path pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  write_file(pipe, "through");
  char got[16] = {};
  EXPECT_EQ(::read(reader, got, sizeof got), 7);
  EXPECT_STREQ(got, "through");
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
  ::close(reader);
}

TEST_F(FileTest, AFullDiskLeavesTheOldFileAndNamesIt) {
  write_file(folder_ / "a", "old");
  const auto before = std::signal(SIGXFSZ, SIG_IGN);
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &limit), 0);
  rlimit tiny = limit;
  tiny.rlim_cur = 100;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &tiny), 0);
  const std::string message = refusal([&] { write_file(folder_ / "a", std::string(1000, 'n')); });
  setrlimit(RLIMIT_FSIZE, &limit);
  std::signal(SIGXFSZ, before);
  EXPECT_NE(message.find("cannot write"), std::string::npos) << message;
  EXPECT_NE(message.find((folder_ / "a").string()), std::string::npos) << message;
  EXPECT_EQ(read_file(folder_ / "a"), "old");
}

TEST_F(FileTest, MissingFilesAreNamed) {
  const std::string message = refusal([&] { read_file(folder_ / "absent"); });
  EXPECT_NE(message.find("absent: cannot open: No such file"), std::string::npos) << message;
  EXPECT_THROW(write_file(folder_ / "no" / "where", ""), Error);
}

TEST(Utf8, AcceptsWhatIsWellFormedOnly) {
  EXPECT_TRUE(valid_utf8("gr\xC3\xBC\xC3\x9F \xF0\x9F\x98\x80"));
  Index offset = -1;
  EXPECT_FALSE(valid_utf8("ab\xC3(", &offset));
  EXPECT_EQ(offset, 2);
  EXPECT_FALSE(valid_utf8("\xC0\x80"));          // overlong
  EXPECT_FALSE(valid_utf8("\xED\xA0\x80"));      // surrogate
  EXPECT_FALSE(valid_utf8("\xF5\x80\x80\x80"));  // past U+10FFFF
  EXPECT_FALSE(valid_utf8("\xE2\x82"));          // cut short
}

}  // namespace
}  // namespace heed
