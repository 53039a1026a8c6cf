#include "heed/base/file.h"

#include <gtest/gtest.h>

#include "heed/base/error.h"
#include "heed/base/file_writer.h"
#include "heed/testing/refusal.h"
#include "heed/testing/scratch_test.h"

namespace heed {
namespace {

using testing::refusal;

class FileTest : public testing::ScratchTest {};

TEST_F(FileTest, MissingFilesAreNamed) {
  const std::string message = refusal([&] { read_file(folder_ / "absent"); });
  EXPECT_NE(message.find("absent: cannot open: No such file"), std::string::npos) << message;
}

TEST_F(FileTest, AFolderIsNotReadAsAnEmptyFile) {
  const std::string message = refusal([&] { read_file(folder_); });
  EXPECT_NE(message.find("cannot read: Is a directory"), std::string::npos) << message;
}

TEST_F(FileTest, FoldersAreMadeWithTheirParents) {
  make_folder(folder_ / "a" / "b" / "c" / "");
  EXPECT_TRUE(std::filesystem::is_directory(folder_ / "a" / "b" / "c"));
  make_folder(folder_ / "a" / "b");
  write_file(folder_ / "file", "");
  EXPECT_EQ(refusal([&] { make_folder(folder_ / "file"); }), (folder_ / "file").string() + ": is not a folder");
  EXPECT_THROW(make_folder(folder_ / "file" / "a"), Error);
}

}  // namespace
}  // namespace heed
