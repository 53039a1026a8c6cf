#include "heed/io/gguf_parts.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "heed/base/file.h"
#include "heed/base/file_writer.h"
#include "heed/io/open_checkpoint.h"
#include "heed/testing/file_bytes.h"
#include "heed/testing/refusal.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

using testing::bytes_of;
using testing::GgufBytes;

class GgufParts : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(folder_);
    make_folder(folder_);
    write(1,
          part(0).text("general.architecture", "llama").integer("split.tensors.count", 3).tensor("a", 0, {1}, one(1)));
    write(2, part(1).tensor("b", 0, {1}, one(2)));
    write(3, part(2).tensor("c", 0, {1}, one(3)));
  }
  void TearDown() override { fs::remove_all(folder_); }

  static std::string one(float value) { return bytes_of(value); }
  static GgufBytes part(std::uint32_t number) {
    return GgufBytes().integer("split.no", number).integer("split.count", 3);
  }
  fs::path file(int number) const { return folder_ / ("m-0000" + std::to_string(number) + "-of-00003.gguf"); }
  void write(int number, const GgufBytes& bytes) const { write_file(file(number), bytes.bytes()); }
  std::string refused(const fs::path& path) const {
    const std::string error = testing::refusal([&] { open_checkpoint(path); });
    return error.starts_with(folder_.string()) ? error.substr(folder_.string().size() + 1) : error;
  }

  const fs::path folder_ = fs::path(::testing::TempDir()) / "heed_gguf_parts_test";
};

TEST_F(GgufParts, AreOneModel) {
  for (const fs::path& path : {file(1), folder_}) {
    const Checkpoint model = open_checkpoint(path);
    EXPECT_EQ(model.name(), file(1).string());
    EXPECT_EQ(model.metadata()["general.architecture"].string(), "llama");
    ASSERT_EQ(model.tensors().size(), 3u);
    for (const auto& [name, value] : {std::pair("a", 1.0f), {"b", 2.0f}, {"c", 3.0f}})
      EXPECT_EQ(model.tensor(name).at<float>({0}), value);
  }
}

// llama-gguf-split --no-tensor-first-split.
TEST_F(GgufParts, TheFirstMayHaveTheMetadataAlone) {
  write(1, part(0).text("general.architecture", "llama").integer("split.tensors.count", 2));
  const Checkpoint model = open_checkpoint(file(1));
  EXPECT_EQ(model.metadata()["general.architecture"].string(), "llama");
  EXPECT_EQ(model.tensors().size(), 2u);
  EXPECT_EQ(model.tensor("c").at<float>({0}), 3);
}

TEST_F(GgufParts, BesideAnotherModelOneMustBeNamed) {
  write_file(folder_ / "n.gguf", GgufBytes().tensor("a", 0, {1}, one(1)).bytes());
  EXPECT_EQ(
      testing::refusal([&] { open_checkpoint(folder_); }),
      folder_.string() + ": holds several files of weights, of which one must be named: m-00001-of-00003.gguf, n.gguf");
  EXPECT_EQ(open_checkpoint(file(1)).tensors().size(), 3u);
}

TEST_F(GgufParts, TheFirstIsTheOneToName) {
  EXPECT_EQ(refused(file(2)),
            "m-00002-of-00003.gguf: split.no: must be 0, of the first of 3 files, which is the one to name, but is 1");
  EXPECT_EQ(first_gguf_part(file(3)), file(1));
  EXPECT_EQ(first_gguf_part("m-00012-of-00345.gguf"), "m-00001-of-00345.gguf");
  for (const char* other : {"m.gguf", "m-0001-of-0003.gguf", "00002-of-00003.gguf", "m-0000x-of-00003.gguf", "m"})
    EXPECT_EQ(first_gguf_part(other), other);
}

TEST_F(GgufParts, OneThatIsNotThereOrNotWhatItIsCalled) {
  fs::remove(file(3));
  EXPECT_EQ(refused(file(1)), "m-00003-of-00003.gguf: cannot open: No such file or directory");
  write(3, part(1).tensor("c", 0, {1}, one(3)));
  EXPECT_EQ(refused(file(1)), "m-00003-of-00003.gguf: split.no: must be 2 here, but is 1");
  write(3, GgufBytes().tensor("c", 0, {1}, one(3)));
  EXPECT_NE(refused(file(1)).find("split.no"), std::string::npos);
  write(3, GgufBytes().integer("split.no", 2).integer("split.count", 4).tensor("c", 0, {1}, one(3)));
  EXPECT_EQ(refused(file(1)), "m-00003-of-00003.gguf: split.count: must be 3 here, but is 4");
  write(3, part(2).tensor("a", 0, {1}, one(3)));
  EXPECT_EQ(refused(file(1)), "m-00003-of-00003.gguf: a: the tensor is in a file before this one, too");
  write(3, part(2));
  EXPECT_EQ(refused(file(1)), "m-00001-of-00003.gguf: split.tensors.count: must be the 2 tensors of 3 files, but is 3");
  fs::rename(file(1), folder_ / "whole.gguf");
  EXPECT_EQ(refused(folder_ / "whole.gguf"),
            "whole.gguf: is the first of 3 files, which are found by its name: it must end in -00001-of-00003.gguf");
}

}  // namespace
}  // namespace heed
