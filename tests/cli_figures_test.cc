// heed view as it draws figures: the commands of docs/figures.md, and what their files hold.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "heed/base/file.h"
#include "heed/base/file_writer.h"
#include "heed/base/text_lines.h"
#include "heed/io/json.h"
#include "heed/io/npz.h"
#include "trained_model.h"

namespace heed::testing {
namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// A trace of two heads over three words, the second of which is "Mann".
std::string sample_trace(const std::string& second = "Mann") {
  return R"({"format": "heed attention traces", "version": 2, "traces": [{"model": "m", "source": {"tokens": ["der", ")" +
         second +
         R"(", "ruft"]}, "decoder": {"tokens": []}, "target": {"tokens": []}, "maps": [{"path": "encoder.0", )" +
         R"("layer": 0, "kind": "encoder", "heads": 2, "queries": 3, "keys": 3, "weights": )" +
         R"([[[1, 0, 0], [0.25, 0.5, 0.25], [0, 0, 1]], [[0, 1, 0], [0, 0, 1], [0.5, 0.5, 0]]]}]}]})";
}

// The arguments of a line as a shell splits them: at spaces outside single quotes.
std::vector<std::string> split_arguments(const std::string& line) {
  std::vector<std::string> arguments;
  bool quoted = false, begun = false;
  for (char c : line + " ") {
    if (c == '\'') {
      quoted = !quoted;
    } else if (c == ' ' && !quoted) {
      begun = false;
    } else {
      if (!begun) arguments.emplace_back();
      begun = true;
      arguments.back() += c;
    }
  }
  return arguments;
}

TEST(CliFigures, TheCommandsOfThePageDrawWhatItSays) {
  const auto folder = scratch_folder();
  write_file(folder / "sentences.txt", "Ja.\nDer Hund schläft.\n");
  int commands = 0;
  for (const std::string& line : read_text_lines(std::string(HEED_SOURCE_DIR) + "/docs/figures.md")) {
    if (!line.starts_with("    heed ")) continue;
    std::vector<std::string> arguments = split_arguments(line);
    arguments.erase(arguments.begin());
    std::string out;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      std::string& argument = arguments[i];
      if (argument == "model") argument = tiny_model().string();
      const bool names_a_file = i > 0 && (arguments[i - 1] == "--out" || arguments[i - 1] == "--trace" ||
                                          arguments[i - 1] == "--input" || argument.starts_with("trace"));
      if (!names_a_file || argument == "-") continue;
      argument = (folder / argument).string();
      if (arguments[i - 1] == "--out") out = argument;
    }
    const std::string printed = output_of(arguments);
    ++commands;
    if (out.empty()) {
      EXPECT_TRUE(contains(printed, "attention · layer 0")) << line;
    } else if (contains(out, "figure.svg")) {
      EXPECT_TRUE(std::filesystem::exists(folder / "figure-1.svg") && std::filesystem::exists(folder / "figure-2.svg"));
      EXPECT_FALSE(std::filesystem::exists(out));
    } else {
      EXPECT_GT(read_file(out).size(), 300u) << line;
    }
  }
  EXPECT_GE(commands, 14);
}

TEST(CliFigures, NumbersAreThoseOfTheTrace) {
  const auto folder = scratch_folder();
  const auto path = [&](const char* name) { return (folder / name).string(); };
  write_file(path("trace.json"), sample_trace());
  output_of({"view", path("trace.json"), "--head", "1", "--out", path("x.csv")});
  EXPECT_TRUE(contains(read_file(path("x.csv")), "head 1,2,ruft,1,Mann,0.5\r\n"));
  output_of({"view", path("trace.json"), "--word", "Mann", "--out", path("x.json")});
  output_of({"view", path("trace.json"), "--word", "Mann", "--out", path("x.npz")});
  const NpzReader reader(path("x.npz"));
  EXPECT_EQ(reader.array("values").shape, (std::vector<Index>{2, 1, 3}));
  EXPECT_EQ(reader.array("values").elements.at<float>({1}), 0.5F);
  EXPECT_EQ(Json::parse(reader.text("labels.json"))["columns"].string_list(),
            (std::vector<std::string>{"der", "Mann", "ruft"}));
  const Json json = read_json(path("x.json"));
  EXPECT_EQ(json["rows"].string_list(), std::vector<std::string>{"Mann"});
  EXPECT_EQ(json["panels"][0]["values"][0].number_list(), (std::vector<double>{0.25, 0.5, 0.25}));
  EXPECT_EQ(json["panels"][1]["values"][0].number_list(), (std::vector<double>{0, 0, 1}));
  output_of({"view", path("trace.json"), "--out", path("mean.json")});
  EXPECT_EQ(read_json(path("mean.json"))["panels"][0]["values"][2].number_list(),
            (std::vector<double>{0.25, 0.25, 0.5}));
}

TEST(CliFigures, APictureIsAsWideAsItWasAskedToBe) {
  const auto folder = scratch_folder();
  const auto path = [&](const char* name) { return (folder / name).string(); };
  write_file(path("trace.json"), sample_trace());
  for (const char* more : {"--head=mean", "--lines", "--word=Mann"}) {
    output_of({"view", path("trace.json"), "--width", "8cm", more, "--out", path("x.svg")});
    EXPECT_TRUE(contains(read_file(path("x.svg")), R"(width="226.772pt")")) << more;
  }
  output_of({"view", path("trace.json"), "--width", "8cm", "--out", path("x.png")});
  EXPECT_TRUE(contains(read_file(path("x.png")), std::string("IHDR\0\0\x03\xB1", 8)));  // 945 pixels of 300 to the inch
}

TEST(CliFigures, ATerminalThatIsNoneHasNoColours) {
  const auto folder = scratch_folder();
  const auto path = (folder / "trace.json").string();
  write_file(path, sample_trace());
  const CommandOptions utf8{.environment = {"LC_ALL=C.UTF-8", "COLORTERM=truecolor", "COLUMNS=60"}};
  EXPECT_EQ(output_of({"view", path, "--head", "0", "--out", "-"}, utf8),
            "Encoder self-attention · layer 0 · head 0 of 2\nencoder.0 · m\n\n"
            "     der  Mann ruft\n"
            " der █████\n"
            "Mann ░░░░░▒▒▒▒▒░░░░░\n"
            "ruft           █████\n\n"
            "0      ░░░░░▒▒▒▒▒▓▓▓▓▓█████ 1\n");
  EXPECT_TRUE(
      contains(output_of({"view", path, "--head", "0", "--out", "-"}, {.environment = {"LC_ALL=C"}}), " der @@@@@\n"));
}

TEST(CliFigures, ACharacterThatNoFontHasIsNamed) {
  const auto folder = scratch_folder();
  const auto path = [&](const char* name) { return (folder / name).string(); };
  write_file(path("trace.json"), sample_trace("\U0003FFF0"));
  const CommandResult result = run_heed({"view", path("trace.json"), "--out", path("x.png")});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_TRUE(contains(result.error, "(U+3FFF0)")) << result.error;
  EXPECT_TRUE(contains(result.error, "a box is drawn instead")) << result.error;
  EXPECT_EQ(output_of({"view", path("trace.json"), "--out", path("x.svg")}), "");
}

TEST(CliFigures, WithoutAnyFontThereIsNoPicture) {
  const auto folder = scratch_folder();
  const auto path = [&](const char* name) { return (folder / name).string(); };
  write_file(path("trace.json"), sample_trace());
  write_file(path("fonts.conf"), "<?xml version=\"1.0\"?><fontconfig></fontconfig>");
  expect_refusal(run_heed({"view", path("trace.json"), "--out", path("x.png")},
                          {.environment = {"FONTCONFIG_FILE=" + path("fonts.conf")}}),
                 kFailure, {"no font"});
  EXPECT_FALSE(std::filesystem::exists(path("x.png")));
}

TEST(CliFigures, WhatMeansNothingIsRefused) {
  const auto folder = scratch_folder();
  const auto path = [&](const char* name) { return (folder / name).string(); };
  write_file(path("trace.json"), sample_trace());
  const auto refused = [&](std::vector<std::string> arguments, int exit_code, const char* part) {
    arguments.insert(arguments.begin(), "view");
    expect_refusal(run_heed(arguments), exit_code, {part});
  };
  const std::string trace = path("trace.json"), svg = path("x.svg"), csv = path("x.csv"), page = path("x.html");
  refused({trace, "--out", svg, "--width", "8"}, kWrongUsage, "--width");
  refused({trace, "--out", svg, "--width", "1cm"}, kWrongUsage, "--width");
  refused({trace, "--out", svg, "--font", "No Such Family 12345"}, kWrongUsage, "--font");
  refused({trace, "--out", svg, "--head", "0,"}, kWrongUsage, "--head");
  refused({trace, "--out", svg, "--head", "0,2"}, kFailure, "no head 2");
  refused({trace, "--out", svg, "--word", "Frau"}, kFailure, "no word 'Frau' among: der Mann ruft");
  refused({trace, "--out", svg, "--word", "Mann", "--lines"}, kWrongUsage, "--lines");
  refused({trace, "--out", csv, "--width", "8cm"}, kWrongUsage, "--width");
  refused({trace, "--out", csv, "--lines"}, kWrongUsage, "--lines");
  refused({trace, "--out", page, "--lines"}, kWrongUsage, "--lines");
  refused({trace, "--out", page, "--title", "x"}, kWrongUsage, "--title");
  refused({trace, "--out", svg, "--length", "5"}, kWrongUsage, "--length");
  refused({"--mask", "causal", "--out", page}, kWrongUsage, "--out");
  refused({"--mask", "causal", "--out", svg, "--layer", "1"}, kWrongUsage, "--layer");
  refused({"--mask", "causal", "--out", svg, "--dimensions", "4"}, kWrongUsage, "--dimensions");
  refused({"--mask", "cosine", "--out", svg}, kFailure, "'cosine' is no mask");
  EXPECT_FALSE(std::filesystem::exists(svg));
}

TEST(CliFigures, SeveralSentencesNeverReplaceTheirInput) {
  const auto folder = scratch_folder();
  const auto path = [&](const char* name) { return (folder / name).string(); };
  write_file(path("x-1.json"), "Ja.\nDer Hund schläft.\n");
  expect_refusal(run_heed({"view", tiny_model().string(), "--input", path("x-1.json"), "--out", path("x.json")}),
                 kWrongUsage, {"--out", "--input"});
  EXPECT_EQ(read_file(path("x-1.json")), "Ja.\nDer Hund schläft.\n");
}

}  // namespace
}  // namespace heed::testing
