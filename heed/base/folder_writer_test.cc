#include "heed/base/folder_writer.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "heed/base/file.h"
#include "heed/base/file_writer.h"
#include "heed/testing/refusal.h"
#include "heed/testing/scratch_test.h"

namespace heed {
namespace {

using testing::refusal;

class FolderWriterTest : public testing::ScratchTest {
 protected:
  const std::filesystem::path place_ = folder_ / "made" / "model";

  // How many files and folders lie beside the place, and it itself.
  std::size_t entries() const { return files_in(place_.parent_path()).size(); }
};

TEST_F(FolderWriterTest, IsThereOnlyOnceItIsWhole) {
  FolderWriter writer(place_ / "");
  write_file(writer.path() / "a", "1");
  EXPECT_FALSE(file_exists(place_));
  writer.commit();
  EXPECT_EQ(read_file(place_ / "a"), "1");
  EXPECT_EQ(entries(), 1u);
  struct ::stat status {};
  ASSERT_EQ(::stat(place_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & S_ISVTX, 0u);
}

TEST_F(FolderWriterTest, WithoutCommitNothingIsLeft) {
  {
    const FolderWriter writer(place_);
    write_file(writer.path() / "a", "1");
    make_folder(writer.path() / "b");
  }
  EXPECT_EQ(entries(), 0u);
}

TEST_F(FolderWriterTest, WhatIsThereAlreadyStays) {
  make_folder(place_);
  EXPECT_EQ(refusal([&] { const FolderWriter writer(place_); }), place_.string() + ": is there already");
  std::filesystem::remove(place_);
  write_file(place_, "mine");
  EXPECT_EQ(refusal([&] { const FolderWriter writer(place_); }), place_.string() + ": is there already");
  EXPECT_EQ(read_file(place_), "mine");
}

TEST_F(FolderWriterTest, WhatAppearedMeanwhileStays) {
  FolderWriter writer(place_);
  make_folder(place_ / "mine");
  EXPECT_EQ(refusal([&] { writer.commit(); }), place_.string() + ": cannot make this folder: Directory not empty");
  EXPECT_TRUE(file_exists(place_ / "mine"));
}

TEST_F(FolderWriterTest, WhatAKillLeftIsRemovedByTheNextWriter) {
  const ::pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const FolderWriter writer(place_);
    write_file(writer.path() / "left", "1");
    ::_exit(0);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  EXPECT_EQ(entries(), 1u);
  FolderWriter writer(place_);
  EXPECT_FALSE(file_exists(writer.path() / "left"));
  writer.commit();
  EXPECT_EQ(entries(), 1u);
}

TEST_F(FolderWriterTest, ASecondWriterIsRefused) {
  FolderWriter writer(place_);
  EXPECT_EQ(refusal([&] { const FolderWriter second(place_); }),
            place_.string() + ": cannot make this folder: another writer is at work on it");
  writer.commit();
  EXPECT_TRUE(file_exists(place_));
}

TEST_F(FolderWriterTest, SomebodysOwnFolderOfThePartsNameStays) {
  const std::filesystem::path own = folder_ / "made" / ".model.heed-part";
  make_folder(own);
  write_file(own / "mine", "1");
  EXPECT_EQ(refusal([&] { const FolderWriter writer(place_); }),
            place_.string() + ": cannot make this folder: " + own.string() +
                " is in the way, and not left by heed: move it or remove it");
  EXPECT_EQ(read_file(own / "mine"), "1");
}

}  // namespace
}  // namespace heed
