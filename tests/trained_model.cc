#include "trained_model.h"

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "heed/base/check.h"

namespace heed::testing {
namespace {

const std::filesystem::path& root() {
  static const std::filesystem::path path =
      std::filesystem::path(::testing::TempDir()) / fmt::format("heed_cli_test_{}", ::getpid());
  return path;
}

class RemoveAtEnd : public ::testing::Environment {
 public:
  void TearDown() override { std::filesystem::remove_all(root()); }
};

const auto* const kRemoveAtEnd = ::testing::AddGlobalTestEnvironment(new RemoveAtEnd);

void must_run(const std::vector<std::string>& arguments) {
  const CommandResult result = run_heed(arguments);
  HEED_CHECK(result.exit_code == 0, "heed {}: {}", arguments.front(), result.error);
}

// What trains a model of the tiny sizes in a moment, with `more`.
std::vector<std::string> tiny_training(std::initializer_list<std::string> more) {
  std::vector<std::string> arguments{"train", "--width",          "16",  "--ffn-width",       "32",  "--heads",
                                     "2",     "--decoder-layers", "1",   "--max-length",      "100", "--max-tokens",
                                     "99",    "--batch-tokens",   "600", "--vocabulary-size", "200", "--max-updates",
                                     "4",     "--validate-every", "2"};
  arguments.insert(arguments.end(), more);
  return arguments;
}

}  // namespace

const std::filesystem::path& tiny_corpus() {
  static const std::filesystem::path folder = [] {
    const std::filesystem::path made = root() / "data";
    must_run({"corpus", "--out", made.string(), "--pairs", "200", "--validation", "10", "--test", "10"});
    return made;
  }();
  return folder;
}

std::string corpus_file(const char* name) { return (tiny_corpus() / name).string(); }

const std::filesystem::path& tiny_model() {
  static const std::filesystem::path folder = [] {
    const std::filesystem::path made = root() / "model";
    must_run(tiny_training({"--source", corpus_file("train.de"), "--target", corpus_file("train.en"), "--valid-source",
                            corpus_file("valid.de"), "--valid-target", corpus_file("valid.en"), "--out", made.string(),
                            "--encoder-layers", "1", "--average", "2"}));
    return made;
  }();
  return folder;
}

std::vector<std::string> language_model_training(const std::string& folder) {
  return tiny_training({"--task", "language-model", "--train", corpus_file("train.en"), "--valid",
                        corpus_file("valid.en"), "--out", folder});
}

const std::filesystem::path& tiny_language_model() {
  static const std::filesystem::path folder = [] {
    const std::filesystem::path made = root() / "language_model";
    must_run(language_model_training(made.string()));
    return made;
  }();
  return folder;
}

std::filesystem::path scratch_folder() {
  const ::testing::TestInfo* test = ::testing::UnitTest::GetInstance()->current_test_info();
  const std::filesystem::path folder = root() / fmt::format("{}.{}", test->test_suite_name(), test->name());
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  return folder;
}

std::string output_of(const std::vector<std::string>& arguments, const CommandOptions& options) {
  const CommandResult result = run_heed(arguments, options);
  EXPECT_EQ(result.exit_code, 0) << result.error;
  EXPECT_EQ(result.error, "");
  return result.output;
}

void expect_refusal(const CommandResult& result, int exit_code, std::initializer_list<std::string> parts) {
  EXPECT_EQ(result.exit_code, exit_code) << result.error;
  EXPECT_TRUE(result.error.starts_with("heed: ")) << result.error;
  EXPECT_TRUE(result.error.ends_with("\n")) << result.error;
  EXPECT_EQ(std::ranges::count(result.error, '\n'), 1) << result.error;
  for (const std::string& part : parts) {
    EXPECT_NE(result.error.find(part), std::string::npos) << "no \"" << part << "\" in: " << result.error;
  }
}

}  // namespace heed::testing
