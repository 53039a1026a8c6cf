// heed generate --chat: a model that answers.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "command.h"
#include "heed/testing/data_folder.h"
#include "trained_model.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

using testing::expect_refusal;
using testing::kFailure;
using testing::kWrongUsage;
using testing::output_of;
using testing::run_heed;
using testing::scratch_folder;

class CliChat : public ::testing::Test {
 protected:
  // BLOOM's small model, which nobody taught to answer, with a template beside it where one is given.
  fs::path model_with(const fs::path& model, const std::string& chat_template) const {
    const fs::path copy = scratch_folder() / "model";
    fs::copy(model, copy, fs::copy_options::recursive | fs::copy_options::overwrite_existing);
    if (!chat_template.empty()) std::ofstream(copy / "chat_template.jinja") << chat_template;
    return copy;
  }
};

TEST_F(CliChat, TheAnswerIsWhatThePromptOfTheTemplateIsContinuedWith) {
  HEED_DATA_OR_SKIP(bloom, "models/bloom-tiny");
  const std::string model =
      model_with(bloom,
                 "{% for message in messages %}<{{ message.role }}>\n{{ message.content }}\n{% endfor %}\n"
                 "{{- '<assistant>\n' }}")
          .string();
  const std::string talk = "<system>\nBe brief.\n<user>\nThe dog\n<assistant>\n";
  const std::string whole =
      output_of({"generate", model, "--prompt", talk, "--temperature", "0", "--max-tokens", "12"});
  const std::string answer = output_of({"generate", model, "--chat", "--system", "Be brief.", "--prompt", "The dog",
                                        "--temperature", "0", "--max-tokens", "12"});
  EXPECT_GT(answer.size(), 1u);
  EXPECT_EQ(whole, talk + answer);
}

TEST_F(CliChat, SaysThatAModelHasNoTemplate) {
  HEED_DATA_OR_SKIP(bloom, "models/bloom-tiny");
  const std::string model = model_with(bloom, "").string();
  expect_refusal(run_heed({"generate", model, "--chat", "--prompt", "x"}), kFailure, {"template"});
  expect_refusal(run_heed({"generate", model, "--system", "x"}), kWrongUsage, {"--system", "--chat"});
  const std::string broken = model_with(bloom, "{{ messages").string();
  expect_refusal(run_heed({"generate", broken, "--chat", "--prompt", "x"}), kFailure, {"chat_template.jinja: line 1"});
  const std::string refuses = model_with(bloom, "{{ raise_exception('Not today.') }}").string();
  expect_refusal(run_heed({"generate", refuses, "--chat", "--prompt", "x"}), kFailure, {"line 1: Not today."});
}

}  // namespace
}  // namespace heed
