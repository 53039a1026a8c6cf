#include "heed/base/file_writer.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/testing/refusal.h"
#include "heed/testing/scratch_test.h"

namespace heed {
namespace {

using testing::refusal;

class FileWriterTest : public testing::ScratchTest {
 protected:
  std::vector<std::string> names() const {
    std::vector<std::string> list;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) list.push_back(entry.path().filename());
    std::ranges::sort(list);
    return list;
  }
  // The one file that is there while `path` is written, beside those that were.
  std::filesystem::path part_of(const std::filesystem::path& path) const {
    const std::vector<std::string> before = names();
    const FileWriter writer(path);
    for (const std::string& name : names()) {
      if (std::ranges::find(before, name) == before.end()) return folder_ / name;
    }
    ADD_FAILURE() << "no part";
    return {};
  }
};

::mode_t mode_of(const std::filesystem::path& path) {
  struct ::stat status {};
  EXPECT_EQ(::lstat(path.c_str(), &status), 0) << path;
  return status.st_mode & 07777;
}

// Begins to write the file in another process, which then ends as a killed one does.
void leave_a_part(const std::filesystem::path& path) {
  const ::pid_t child = ::fork();
  if (child == 0) {
    FileWriter writer(path);
    writer.write("half of the");
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
}

// --- Whole or not at all ---------------------------------------------------------------------------------------------

TEST_F(FileWriterTest, WritesWhatIsReadBack) {
  write_file(folder_ / "a", std::string("x\0y", 3));
  EXPECT_EQ(read_file(folder_ / "a"), std::string("x\0y", 3));
  write_file(folder_ / "a", "");
  EXPECT_EQ(read_file(folder_ / "a"), "");
  EXPECT_EQ(names(), std::vector<std::string>{"a"});
}

TEST_F(FileWriterTest, WithoutCommitTheOldFileStays) {
  write_file(folder_ / "a", "old");
  {
    FileWriter writer(folder_ / "a");
    writer.write("new");
  }
  EXPECT_EQ(read_file(folder_ / "a"), "old");
  EXPECT_EQ(names(), std::vector<std::string>{"a"});
}

TEST_F(FileWriterTest, AFullDiskLeavesTheOldFileAndNamesIt) {
  write_file(folder_ / "a", "old");
  const auto before = std::signal(SIGXFSZ, SIG_IGN);
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &limit), 0);
  rlimit tiny = limit;
  tiny.rlim_cur = 100;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &tiny), 0);
  const std::string message = refusal([&] { write_file(folder_ / "a", std::string(1000, 'n')); });
  FileAppender appender(folder_ / "log");
  const std::string appending = refusal([&] { appender.append(std::string(1000, 'n')); });
  setrlimit(RLIMIT_FSIZE, &limit);
  std::signal(SIGXFSZ, before);
  EXPECT_EQ(message, (folder_ / "a").string() + ": cannot write: File too large");
  EXPECT_EQ(appending, (folder_ / "log").string() + ": cannot write: File too large");
  EXPECT_EQ(read_file(folder_ / "a"), "old");
}

TEST_F(FileWriterTest, PlacesThatCannotBeWrittenAreNamed) {
  const std::string nowhere = (folder_ / "no" / "where").string();
  EXPECT_EQ(refusal([&] { write_file(nowhere, ""); }), nowhere + ": cannot write: No such file or directory");
  EXPECT_EQ(refusal([&] { write_file(folder_, ""); }), folder_.string() + ": cannot write: Is a directory");
  EXPECT_EQ(refusal([&] { FileAppender{nowhere}; }), nowhere + ": cannot write: No such file or directory");
}

TEST_F(FileWriterTest, NamesMayBeAsLongAsTheSystemAllows) {
  const std::string longest(255, 'n');
  write_file(folder_ / longest, "text");
  EXPECT_EQ(read_file(folder_ / longest), "text");
}

// --- What is replaced ------------------------------------------------------------------------------------------------

TEST_F(FileWriterTest, AReplacedFileKeepsItsPermissions) {
  const std::filesystem::path path = folder_ / "a";
  write_file(path, "old");
  for (const ::mode_t mode : {0600, 0640, 0444, 0755, 0606}) {
    ASSERT_EQ(::chmod(path.c_str(), mode), 0);
    write_file(path, "new");
    EXPECT_EQ(mode_of(path), mode);
  }
}

TEST_F(FileWriterTest, ANewFileHasThePermissionsThatTheUserWants) {
  const ::mode_t before = ::umask(027);
  write_file(folder_ / "a", "");
  ::umask(before);
  EXPECT_EQ(mode_of(folder_ / "a"), 0640u);
}

TEST_F(FileWriterTest, WhatComesIntoAPrivateFileIsPrivateFromTheBeginning) {
  write_file(folder_ / "a", "old");
  ASSERT_EQ(::chmod((folder_ / "a").c_str(), 0600), 0);
  const FileWriter writer(folder_ / "a");
  for (const std::string& name : names()) EXPECT_EQ(mode_of(folder_ / name) & 0077, 0u) << name;
}

TEST_F(FileWriterTest, ALinkStaysAndWhatItLeadsToIsReplaced) {
  make_folder(folder_ / "sub");
  write_file(folder_ / "sub" / "file", "old");
  std::filesystem::create_symlink("sub/file", folder_ / "link");
  std::filesystem::create_symlink(folder_ / "link", folder_ / "second");
  write_file(folder_ / "second", "new");
  EXPECT_EQ(read_file(folder_ / "sub" / "file"), "new");
  EXPECT_EQ(names(), (std::vector<std::string>{"link", "second", "sub"}));
  EXPECT_TRUE(std::filesystem::is_symlink(folder_ / "link"));
  EXPECT_TRUE(std::filesystem::is_symlink(folder_ / "second"));
}

TEST_F(FileWriterTest, ALinkToNothingYetMakesTheFile) {
  std::filesystem::create_symlink("file", folder_ / "link");
  write_file(folder_ / "link", "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder_ / "link"));
  EXPECT_EQ(read_file(folder_ / "file"), "new");
}

TEST_F(FileWriterTest, LinksInACircleAreRefused) {
  std::filesystem::create_symlink("b", folder_ / "a");
  std::filesystem::create_symlink("a", folder_ / "b");
  const std::string message = refusal([&] { write_file(folder_ / "a", "text"); });
  EXPECT_NE(message.find("a: cannot write: Too many levels"), std::string::npos) << message;
}

TEST_F(FileWriterTest, APipeIsWrittenToAndNotReplaced) {
  const std::filesystem::path pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  write_file(pipe, "through");
  char got[16] = {};
  EXPECT_EQ(::read(reader, got, sizeof got), 7);
  EXPECT_STREQ(got, "through");
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
  EXPECT_EQ(names(), std::vector<std::string>{"pipe"});
  ::close(reader);
}

TEST_F(FileWriterTest, ADescriptorByItsNameGoesOnWhereItIs) {
  if (!std::filesystem::exists("/proc/self/fd")) GTEST_SKIP() << "no /proc, where descriptors have names";
  const int file = ::open((folder_ / "a").c_str(), O_WRONLY | O_CREAT, 0600);
  ASSERT_GE(file, 0);
  ASSERT_EQ(::write(file, "1", 1), 1);
  std::filesystem::create_symlink("/proc/self/fd/" + std::to_string(file), folder_ / "link");
  write_file(folder_ / "link", "2");
  ASSERT_EQ(::write(file, "3", 1), 1);
  ::close(file);
  EXPECT_EQ(read_file(folder_ / "a"), "123");
}

// --- Parts -----------------------------------------------------------------------------------------------------------

TEST_F(FileWriterTest, AFileOfAPartsNameIsNotHarmed) {
  write_file(folder_ / "a", "old");
  const std::filesystem::path part = part_of(folder_ / "a");
  write_file(folder_ / "a.part", "a download");
  write_file(part, "a letter");
  const std::string message = refusal([&] { write_file(folder_ / "a", "new"); });
  EXPECT_NE(message.find((folder_ / "a").string() + ": cannot write: "), std::string::npos) << message;
  EXPECT_NE(message.find(part.string() + " is in the way"), std::string::npos) << message;
  EXPECT_EQ(read_file(part), "a letter");
  EXPECT_EQ(read_file(folder_ / "a.part"), "a download");
  EXPECT_EQ(read_file(folder_ / "a"), "old");
}

TEST_F(FileWriterTest, ALinkInThePartsPlaceIsNotFollowed) {
  write_file(folder_ / "victim", "precious");
  const std::filesystem::path part = part_of(folder_ / "a");
  std::filesystem::create_symlink("victim", part);
  EXPECT_THROW(write_file(folder_ / "a", "new"), Error);
  std::filesystem::remove(part);
  std::filesystem::create_hard_link(folder_ / "victim", part);
  EXPECT_THROW(write_file(folder_ / "a", "new"), Error);
  EXPECT_EQ(read_file(folder_ / "victim"), "precious");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "a"));
}

TEST_F(FileWriterTest, WhatAKillLeavesIsReplacedAndDoesNotPileUp) {
  write_file(folder_ / "a", "old");
  for (const ::mode_t mode : {0644, 0600, 0444}) {
    ASSERT_EQ(::chmod((folder_ / "a").c_str(), mode), 0);
    leave_a_part(folder_ / "a");
    leave_a_part(folder_ / "a");
    EXPECT_EQ(names().size(), 2u);
    EXPECT_EQ(read_file(folder_ / "a"), "old");
  }
  write_file(folder_ / "a", "new");
  EXPECT_EQ(read_file(folder_ / "a"), "new");
  EXPECT_EQ(names(), std::vector<std::string>{"a"});
}

TEST_F(FileWriterTest, TheSecondOfTwoWritersIsRefused) {
  std::optional<FileWriter> first(folder_ / "a");
  first->write("first");
  EXPECT_EQ(refusal([&] { write_file(folder_ / "a", "second"); }),
            (folder_ / "a").string() + ": cannot write: another writer is at work on it");
  first->commit();
  first.reset();
  EXPECT_EQ(read_file(folder_ / "a"), "first");
  write_file(folder_ / "a", "second");
  EXPECT_EQ(read_file(folder_ / "a"), "second");
}

TEST_F(FileWriterTest, ManyWritersAtOnceLeaveOneWholeFile) {
  constexpr std::size_t kBytes = 50'000;
  std::atomic<int> written{0};
  std::atomic<bool> done{false};
  write_file(folder_ / "a", std::string(kBytes, '0'));
  const auto write = [&](char letter) {
    for (int i = 0; i < 60; ++i) {
      try {
        FileWriter writer(folder_ / "a");
        for (int part = 0; part < 5; ++part) writer.write(std::string(kBytes / 5, letter));
        writer.commit();
        ++written;
      } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("another writer"), std::string::npos) << error.what();
      }
    }
  };
  std::thread reader([&] {
    while (!done) {
      const std::string text = read_file(folder_ / "a");
      ASSERT_EQ(text, std::string(kBytes, text.empty() ? '0' : text[0]));
    }
  });
  std::vector<std::thread> writers;
  for (char letter = 'a'; letter < 'e'; ++letter) writers.emplace_back(write, letter);
  for (std::thread& writer : writers) writer.join();
  done = true;
  reader.join();
  EXPECT_GT(written, 0);
  EXPECT_EQ(names(), std::vector<std::string>{"a"});
}

// --- Logs ------------------------------------------------------------------------------------------------------------

TEST_F(FileWriterTest, AnAppenderAddsToTheEnd) {
  write_file(folder_ / "log", "1\n");
  FileAppender log(folder_ / "log");
  log.append("2\n");
  EXPECT_EQ(read_file(folder_ / "log"), "1\n2\n");
  log.append("3\n");
  EXPECT_EQ(read_file(folder_ / "log"), "1\n2\n3\n");
}

}  // namespace
}  // namespace heed
