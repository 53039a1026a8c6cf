#include "heed/tasks/sentence_modules.h"

#include <gtest/gtest.h>

#include <string>

#include "heed/base/file.h"
#include "heed/base/file_writer.h"
#include "heed/testing/refusal.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

class SentenceModulesTest : public ::testing::Test {
 protected:
  void SetUp() override { make_folder(folder_ / "pool"); }
  void TearDown() override { fs::remove_all(folder_); }

  void write(const std::string& modules, const std::string& pooling) {
    write_file(folder_ / "modules.json", modules);
    write_file(folder_ / "pool" / "config.json", pooling);
  }
  std::string refusal() {
    return testing::refusal([&] { read_sentence_modules(folder_); });
  }

  static inline const std::string kPooling =
      R"([{"type": "sentence_transformers.models.Transformer", "path": ""}, {"type": "x.Pooling", "path": "pool"})";
  fs::path folder_ = fs::path(::testing::TempDir()) / "heed_sentence_modules" /
                     ::testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(SentenceModulesTest, AreReadAndKept) {
  EXPECT_EQ(read_sentence_modules(folder_), SentenceModules());
  EXPECT_EQ(read_sentence_modules({}), SentenceModules());
  write(kPooling + "]",
        R"({"pooling_mode_lasttoken": true, "pooling_mode_mean_tokens": false, "include_prompt": true})");
  EXPECT_EQ(read_sentence_modules(folder_), (SentenceModules{Pool::last, false}));
  EXPECT_EQ(read_sentence_modules(folder_ / "modules.json"), SentenceModules()) << "a file has none beside it";
  write(kPooling + R"(, {"type": "x.Normalize", "path": "2_Normalize"}])", R"({"pooling_mode_cls_token": true})");
  EXPECT_EQ(read_sentence_modules(folder_), (SentenceModules{Pool::first, true}));
  make_folder(folder_ / "kept");
  copy_sentence_modules(folder_, folder_ / "kept");
  EXPECT_EQ(read_sentence_modules(folder_ / "kept"), (SentenceModules{Pool::first, true}));
  make_folder(folder_ / "nothing");
  copy_sentence_modules(folder_ / "nothing", folder_ / "kept");
}

TEST_F(SentenceModulesTest, WhatHeedHasNotIsRefused) {
  write(kPooling + R"(, {"type": "sentence_transformers.models.Dense", "path": "2_Dense"}])",
        R"({"pooling_mode_cls_token": true})");
  EXPECT_NE(refusal().find("modules.json: [2].type: must be Transformer, Pooling or Normalize"), std::string::npos)
      << refusal();
  write(kPooling + "]", R"({"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": true})");
  EXPECT_NE(refusal().find("pooling_mode_mean_tokens: is a second way to pool"), std::string::npos) << refusal();
  write(kPooling + "]", R"({"pooling_mode_weightedmean_tokens": true})");
  EXPECT_NE(refusal().find("is a way to pool that heed has not"), std::string::npos) << refusal();
  write(kPooling + "]", R"({"pooling_mode_mean_tokens": false})");
  EXPECT_NE(refusal().find("must say how to pool"), std::string::npos) << refusal();
  for (const char* path : {"..", "../pool", "/pool", "a/b"}) {
    write(R"([{"type": "x.Pooling", "path": ")" + std::string(path) + R"("}])", "{}");
    EXPECT_NE(refusal().find("[0].path: must be the name of a folder"), std::string::npos) << refusal();
    EXPECT_NE(testing::refusal([&] { copy_sentence_modules(folder_, folder_ / "pool"); }).find("must be the name"),
              std::string::npos);
  }
  write("{}", "{}");
  EXPECT_NE(refusal().find("modules.json"), std::string::npos) << refusal();
}

}  // namespace
}  // namespace heed
