// What the command-line program prints of names, tokens and arguments that come from outside: they can neither steer a
// terminal nor fill it.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "command.h"
#include "heed/base/control_characters.h"
#include "heed/base/file_writer.h"
#include "heed/io/json.h"
#include "heed/io/safetensors.h"
#include "trained_model.h"

namespace heed {
namespace {

using testing::CommandResult;
using testing::expect_refusal;
using testing::kFailure;
using testing::kWrongUsage;
using testing::run_heed;
using testing::scratch_folder;
using testing::tiny_model;

// ESC [, its one-character form, a bell and a line end.
const std::string kHostile =
    "n\x1B[31m\xC2\x9B"
    "2J\a\nx";
const std::string kShown = "n\\x1b[31m\\xc2\\x9b2J\\x07\\x0ax";
constexpr std::size_t kLong = 100'000, kMessage = 2100;

void expect_plain(const std::string& printed) {
  std::string lines = printed;
  std::erase(lines, '\n');
  EXPECT_FALSE(has_control_character(lines)) << Json(printed).dump();
}

void expect_plain_refusal(const std::vector<std::string>& arguments, int exit_code, const std::string& part) {
  const CommandResult result = run_heed(arguments);
  expect_refusal(result, exit_code, {part});
  expect_plain(result.error);
  EXPECT_LT(result.error.size(), kMessage);
}

TEST(CliMessages, ArgumentsAreShownAndCut) {
  const std::string model = tiny_model().string();
  for (const auto& [argument, part] :
       {std::pair(kHostile, kShown), std::pair(std::string(kLong, 'x'), std::string("xxx"))}) {
    expect_plain_refusal({argument}, kWrongUsage, part);
    expect_plain_refusal({"translate", argument}, kFailure, part);
    expect_plain_refusal({"translate", model, "--" + argument}, kWrongUsage, part);
    expect_plain_refusal({"translate", model, "--input", argument}, kFailure, part);
    expect_plain_refusal({"translate", model, "--beam", argument}, kWrongUsage, part);
    expect_plain_refusal({"evaluate", "--hypothesis", argument, "--reference", argument}, kFailure, part);
    expect_plain_refusal({"view", model, "--text", "a", "--out", argument}, kWrongUsage, part);
    expect_plain_refusal({"view", model, "--text", "a", "--out", "x.svg", "--head", argument}, kWrongUsage, part);
    expect_plain_refusal({"explain", "--mask", argument}, kFailure, part);
    expect_plain_refusal({"explain", "--out", argument}, kWrongUsage, part);
    expect_plain_refusal({"info", argument}, kFailure, part);
    expect_plain_refusal({"bench", argument}, kFailure, part);
    expect_plain_refusal({"bench", "--filter", "(" + argument.substr(0, 10'000)}, kWrongUsage, part);
  }
}

TEST(CliMessages, AFoldersNameIsShown) {
  const CommandResult result =
      run_heed({"corpus", "--out", (scratch_folder() / kHostile).string(), "--pairs", "10", "--validation", "1"});
  EXPECT_EQ(result.exit_code, 0) << result.error;
  expect_plain(result.output);
  EXPECT_NE(result.output.find(kShown), std::string::npos) << result.output;
}

TEST(CliMessages, NamesOfTensorsAreShown) {
  const auto folder = scratch_folder();
  std::filesystem::copy(tiny_model(), folder / "model");
  const std::filesystem::path file = folder / "model" / "model.safetensors";
  const auto sound = read_safetensors(file);
  for (const std::string& name : {kHostile, kHostile + std::string(kLong, 'x')}) {
    std::map<std::string, ConstView> tensors;
    for (const auto& [known, tensor] : sound) tensors[known] = tensor.view();
    tensors[name] = sound.begin()->second.view();
    write_safetensors(file, tensors);
    const CommandResult text = run_heed({"info", file.string()});
    EXPECT_EQ(text.exit_code, 0) << text.error;
    expect_plain(text.output);
    EXPECT_LT(text.output.size(), kLong);
    const CommandResult json = run_heed({"info", file.string(), "--json"});
    expect_plain(json.output);
    const std::vector<Json> listed = Json::parse(json.output)["tensors"].items();
    EXPECT_TRUE(std::ranges::any_of(listed, [&](const Json& one) { return one["name"].string() == name; }));
    expect_plain_refusal({"translate", (folder / "model").string()}, kFailure, "no parameter n\\x1b[31m");
  }
}

TEST(CliMessages, AVocabularyWithControlCharactersIsRefused) {
  const auto folder = scratch_folder();
  std::filesystem::copy(tiny_model(), folder / "model");
  std::filesystem::remove(folder / "model" / "vocabulary.spm");
  const std::string words = (folder / "model" / "vocabulary.vocab.txt").string();
  write_file(words, "<pad>\n<unk>\n<s>\n</s>\nn\x1B[31mx\n");
  expect_plain_refusal({"translate", (folder / "model").string()}, kFailure, words + ":5: the token holds a control");
  write_file(words, "<pad>\n<unk>\n<s>\n</s>\n" + std::string(60'000, 'x') + "\n" + std::string(60'000, 'x') + "\n");
  expect_plain_refusal({"translate", (folder / "model").string()}, kFailure, "is on line 5 already");
}

}  // namespace
}  // namespace heed
