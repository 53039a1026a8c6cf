// heed explain: arrays from the command line, what is said of wrong ones, languages, and the numbers for programs.
#include <gtest/gtest.h>

#include <filesystem>

#include "command.h"
#include "heed/base/file.h"
#include "heed/base/file_writer.h"
#include "heed/io/json.h"
#include "trained_model.h"

namespace heed {
namespace {

namespace fs = std::filesystem;
using testing::CommandResult;
using testing::kFailure;
using testing::kWrongUsage;
using testing::run_heed;
using testing::scratch_folder;
using Arguments = std::vector<std::string>;

Arguments explain(std::initializer_list<const char*> more) {
  Arguments arguments{"explain"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

Json walk(const Arguments& arguments) {
  Arguments with_json = arguments;
  with_json.emplace_back("--json");
  const CommandResult result = run_heed(with_json);
  EXPECT_EQ(result.exit_code, 0) << result.error;
  return Json::parse(result.output, "the walk");
}

std::string weights(const Json& walk) {
  for (const Json& step : walk["steps"].items()) {
    if (step["name"].string() == "weights") return step["matrices"][0]["values"].dump();
  }
  return {};
}

void expect_line(const Arguments& arguments, int exit_code, const std::string& line) {
  const CommandResult result = run_heed(arguments);
  EXPECT_EQ(result.exit_code, exit_code);
  EXPECT_EQ(result.error, "heed: " + line + "\n");
  EXPECT_EQ(result.output, "");
}

TEST(CliExplain, ArraysAreListsOrFiles) {
  const fs::path folder = scratch_folder();
  write_file(folder / "k.txt", "1 1 0\n0 1 1\n");
  write_file(folder / "v.json", "[[1, 2],\n [3, 4]]\n");
  const std::string k = (folder / "k.txt").string(), v = (folder / "v.json").string();
  const Json own = walk({"explain", "--q", "[[1,0,1],[0,1,1]]", "--k", k, "--v", v});
  EXPECT_EQ(own.dump(), walk({"explain"}).dump()) << "the example's own numbers";
}

TEST(CliExplain, AWrongArrayIsNamedWithItsPlace) {
  expect_line(explain({"--q", "[[1,0,1],[0,1]]", "--k", "[[1]]", "--v", "[[1]]"}), kFailure,
              "--q: row 2 has 2 numbers, but row 1 has 3");
  expect_line(explain({"--q", "[[1,0],[0,x]]", "--k", "[[1]]", "--v", "[[1]]"}), kFailure,
              "--q:1: byte 11: not valid JSON: syntax error while parsing value - invalid literal; last read: '0,x'");
  expect_line(explain({"--q", "[[1,0,1]]", "--k", "[[1,0]]", "--v", "[[1]]"}), kFailure,
              "queries and keys must have the same width (the last axis), but --q is f64 [1, 3] and --k is f64 [1, 2]");
  expect_line(
      explain({"--mask", "[[1,0],[1,2]]"}), kFailure,
      "--mask: a mask holds 1 (or true) where a query may attend to a key and 0 (or false) where not, but has 2");
  expect_line(explain({"--labels", "a,b,c"}), kFailure, "explain: labels name 3 queries, but there are 2");
  expect_line(explain({"--attention", "cosine + rotary"}), kFailure,
              "explain_attention: 'rotary' turns queries and keys before attention, which is not taken apart here");
}

TEST(CliExplain, OptionsThatWouldBeIgnoredAreWrongUsage) {
  for (const Arguments& arguments :
       {explain({"--example", "luong", "--labels", "a,b"}), explain({"--heads", "2"}), explain({"--w-o", "[[1]]"}),
        explain({"--q", "[[1]]"}), explain({"--x", "[[1]]"}), explain({"--language", "de"}),
        explain({"--out", "x.txt"}), explain({"--v-a", "[1,1,1]"}),
        explain({"--attention", "cosine(scale=2)", "--scale", "3"}), explain({"--example", "masks", "--x", "[[1]]"})}) {
    EXPECT_EQ(run_heed(arguments).exit_code, kWrongUsage) << arguments.back();
  }
}

TEST(CliExplain, RowsAreProjectedAndLabelled) {
  const Arguments own = explain({"--x", "[[1,0],[0,1],[1,1]]", "--w-q", "[[1,0],[0,1]]", "--w-k", "[[1,0],[0,1]]",
                                 "--w-v", "[[1,2],[3,4]]", "--labels", "I,am,here", "--attention", "dot + sparsemax"});
  const Json json = walk(own);
  EXPECT_EQ(weights(json), "[[0.5,0.0,0.5],[0.0,0.5,0.5],[0.0,0.0,1.0]]");
  EXPECT_EQ(json["steps"][0]["matrices"][0]["rows"].dump(), R"(["I","am","here"])");
  Arguments crossed = own;
  crossed.insert(crossed.end(), {"--memory", "[[1,1]]", "--key-labels", "hier"});
  EXPECT_EQ(weights(walk(crossed)), "[[1.0],[1.0],[1.0]]");
}

TEST(CliExplain, OutWritesWhatJsonPrints) {
  const fs::path folder = scratch_folder();
  const std::string numbers = (folder / "walk.json").string(), picture = (folder / "walk.svg").string();
  const CommandResult result =
      run_heed({"explain", "--example", "flash-attention", "--out", numbers, "--out", picture});
  EXPECT_EQ(result.exit_code, 0) << result.error;
  EXPECT_NE(result.output.find("tile-3"), std::string::npos);
  EXPECT_EQ(read_json(numbers).dump(), walk({"explain", "--example", "flash-attention"}).dump());
  EXPECT_NE(read_file(picture).find("<svg"), std::string::npos);
}

TEST(CliExplain, APageOpensAtItsWalk) {
  const fs::path folder = scratch_folder();
  const std::string page = (folder / "walk.html").string();
  const auto opens = [&](const Arguments& arguments) {
    const CommandResult result = run_heed(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.error;
    const std::string text = read_file(page), mark = "\"opens\":\"";
    const std::size_t begin = text.find(mark) + mark.size();
    return text.substr(begin, text.find('"', begin) - begin);
  };
  const std::string and_then = "\\u0026";  // what an HTML parser cannot take for markup
  EXPECT_EQ(opens(explain({"--example", "luong", "--out", page.c_str()})),
            "view=walk" + and_then + "walk.example=luong");
  EXPECT_EQ(opens(explain({"--q", "[[2, 1e20]]", "--k", "[[1, 0], [0, 1]]", "--v", "[[1], [2.5]]", "--mask", "causal",
                           "--out", page.c_str()})),
            "view=walk" + and_then + "walk.example=attention" + and_then +
                "walk.numbers=Q:2,1e%2B20|K:1,0;0,1|V:1;2.5|causal:1");
  EXPECT_EQ(opens(explain({"--example", "positions", "--length", "20", "--out", page.c_str()})),
            "view=positions" + and_then + "positions.length=20" + and_then + "positions.width=8");
}

TEST(CliExplain, WhatAPageDoesNotWalkThroughIsWrongUsage) {
  const fs::path folder = scratch_folder();
  const std::string page = (folder / "walk.html").string();
  for (const Arguments& more : {Arguments{"--scale", "2"}, Arguments{"--attention", "cosine"},
                                Arguments{"--mask", "[[1, 0], [1, 1]]"}, Arguments{"--labels", "a,b"}}) {
    Arguments arguments = explain({"--out", page.c_str()});
    arguments.insert(arguments.end(), more.begin(), more.end());
    const CommandResult result = run_heed(arguments);
    EXPECT_EQ(result.exit_code, kWrongUsage) << more[0];
    EXPECT_NE(result.error.find(more[0]), std::string::npos) << result.error;
  }
  const CommandResult heads = run_heed(
      explain({"--q", "[[1, 2]]", "--k", "[[1, 2]]", "--v", "[[1, 2]]", "--heads", "2", "--out", page.c_str()}));
  EXPECT_EQ(heads.exit_code, kFailure);
  EXPECT_NE(heads.error.find("one head"), std::string::npos) << heads.error;
  EXPECT_FALSE(fs::exists(page));
}

TEST(CliExplain, ChineseHasTheSameFigures) {
  const CommandResult chinese = run_heed(explain({"--language", "zh"}));
  EXPECT_EQ(chinese.exit_code, 0) << chinese.error;
  EXPECT_NE(chinese.output.find("缩放点积注意力"), std::string::npos);
  EXPECT_NE(chinese.output.find("   q2  0.360  0.640\n"), std::string::npos);
  for (const char* example : {"attention", "thinking-machines", "bahdanau", "luong", "positions", "masks", "gqa",
                              "flash-attention", "windows"}) {
    const Json one = walk(explain({"--example", example})),
               other = walk(explain({"--example", example, "--language", "zh"}));
    EXPECT_EQ(one["walk"].string(), example);
    ASSERT_EQ(one["steps"].size(), other["steps"].size());
    for (Index i = 0; i < one["steps"].size(); ++i) {
      EXPECT_EQ(one["steps"][i]["matrices"].dump(), other["steps"][i]["matrices"].dump());
    }
  }
}

}  // namespace
}  // namespace heed
