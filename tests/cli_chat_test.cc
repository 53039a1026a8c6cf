// heed generate --chat: a model that answers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

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

// A turn's answer is a part of what the next one is asked with.
TEST_F(CliChat, WithoutAPromptEachLineIsATurnOfOneConversation) {
  HEED_DATA_OR_SKIP(bloom, "models/bloom-tiny");
  const std::string model =
      model_with(bloom, "{% for m in messages %}{{ m.role }}: {{ m.content }};{% endfor %}").string();
  const auto answer = [&](const std::string& prompt) {
    return output_of({"generate", model, "--prompt", prompt, "--temperature", "0", "--max-tokens", "6"})
        .substr(prompt.size());
  };
  const std::string first = answer("system: Be brief.;user: The dog;");
  const std::string second =
      answer("system: Be brief.;user: The dog;assistant: " + first.substr(0, first.size() - 1) + ";user: A cat;");
  const std::vector<std::string> command = {"generate",      model, "--chat",       "--system", "Be brief.",
                                            "--temperature", "0",   "--max-tokens", "6"};
  const auto talk = run_heed(command, {.input = "The dog\n\nA cat\n"});
  EXPECT_EQ(talk.exit_code, 0) << talk.error;
  EXPECT_EQ(talk.output, first + second);
  EXPECT_EQ(talk.error, "") << "nobody is asked who is no terminal";
  std::vector<std::string> as_json = command;
  as_json.emplace_back("--json");
  const auto lines = run_heed(as_json, {.input = "The dog\nA cat"});
  EXPECT_EQ(lines.exit_code, 0) << lines.error;
  EXPECT_THAT(lines.output, ::testing::StartsWith("{\"line\":1,"));
  EXPECT_THAT(lines.output, ::testing::HasSubstr("\n{\"line\":2,"));
}

TEST_F(CliChat, TheDayAndTheTemplatesNamesAreTold) {
  HEED_DATA_OR_SKIP(bloom, "models/bloom-tiny");
  const std::string model =
      model_with(bloom, "{{ strftime_now('%d %B') }} {{ mood }} {{ messages[0].content }}").string();
  const std::vector<std::string> zero = {"--temperature", "0", "--max-tokens", "6"};
  const auto with = [&](std::vector<std::string> command) {
    command.insert(command.begin(), {"generate", model});
    command.insert(command.end(), zero.begin(), zero.end());
    return command;
  };
  const std::string told = "29 November kind The dog";
  EXPECT_EQ(told + output_of(with(
                       {"--chat", "--prompt", "The dog", "--today", "2026-11-29", "--names", "{\"mood\": \"kind\"}"})),
            output_of(with({"--prompt", told})));
  expect_refusal(run_heed(with({"--chat", "--prompt", "x"})), kFailure, {"'strftime_now' is undefined"});
  expect_refusal(run_heed(with({"--chat", "--prompt", "x", "--today", "2026-02-29"})), kWrongUsage,
                 {"--today", "2026-02-29"});
  expect_refusal(run_heed(with({"--chat", "--prompt", "x", "--names", "{"})), kFailure, {"--names"});
  expect_refusal(run_heed(with({"--today", "2026-11-29"})), kWrongUsage, {"--today", "--chat"});
  expect_refusal(run_heed(with({"--chat", "--samples", "2"})), kWrongUsage, {"--samples"});
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
