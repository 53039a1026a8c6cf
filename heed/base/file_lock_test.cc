#include "heed/base/file_lock.h"

#include <gtest/gtest.h>

#include <optional>

#include "heed/base/error.h"

namespace heed {
namespace {

TEST(FileLock, IsHeldByOneAtATime) {
  const std::filesystem::path path = std::filesystem::path(::testing::TempDir()) / "heed_file_lock_test";
  std::optional<FileLock> first(path);
  EXPECT_THROW(FileLock{path}, Error);  // another open file is another holder, in this process too
  first.reset();
  EXPECT_NO_THROW(FileLock{path});
  std::filesystem::remove(path);
}

TEST(FileLock, NamesAFolderThatIsNotThere) { EXPECT_THROW(FileLock{"/nowhere/at/all/lock"}, Error); }

TEST(FileLock, FollowsNoLink) {
  const std::filesystem::path link = std::filesystem::path(::testing::TempDir()) / "heed_file_lock_link",
                              target = std::filesystem::path(::testing::TempDir()) / "heed_file_lock_target";
  std::filesystem::create_symlink(target, link);
  EXPECT_THROW(FileLock{link}, Error);
  EXPECT_FALSE(std::filesystem::exists(target));
  std::filesystem::remove(link);
}

}  // namespace
}  // namespace heed
