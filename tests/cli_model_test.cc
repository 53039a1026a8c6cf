// What the command-line program does with a model: translate, score, draw, describe.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "command.h"
#include "heed/base/file.h"
#include "heed/base/file_writer.h"
#include "heed/base/text_lines.h"
#include "heed/io/json.h"
#include "heed/observe/trace_file.h"
#include "trained_model.h"

namespace heed {
namespace {

using testing::CommandResult;
using testing::corpus_file;
using testing::expect_refusal;
using testing::kFailure;
using testing::output_of;
using testing::run_heed;
using testing::scratch_folder;
using testing::tiny_corpus;
using testing::tiny_model;

std::vector<std::string> translated_lines(std::initializer_list<std::string> more) {
  std::vector<std::string> arguments = {"translate", tiny_model().string(), "--input", corpus_file("test.de")};
  arguments.insert(arguments.end(), more);
  return split_text_lines(output_of(arguments), "output");
}

TEST(CliTranslate, GivesALineForEachLineWhateverTheThreadsAndChunks) {
  const std::vector<std::string> lines = translated_lines({"--beam", "3"});
  EXPECT_EQ(lines.size(), 10u);
  EXPECT_EQ(translated_lines({"--beam", "3", "--threads", "1"}), lines);
  EXPECT_EQ(translated_lines({"--beam", "3", "--chunk", "3"}), lines);
  const std::string input = read_file(corpus_file("test.de"));
  EXPECT_EQ(
      split_text_lines(output_of({"translate", tiny_model().string(), "--beam", "3"}, {.input = input}), "output"),
      lines);
}

TEST(CliTranslate, BestGivesSeveralBehindTheSentencesNumber) {
  const std::vector<std::string> one = translated_lines({"--beam", "3"});
  const std::vector<std::string> lines = translated_lines({"--beam", "3", "--best", "2", "--scores"});
  ASSERT_EQ(lines.size(), 20u);
  for (std::size_t i = 0; i < one.size(); ++i) {
    EXPECT_TRUE(lines[2 * i].starts_with(fmt::format("{}\t", i + 1))) << lines[2 * i];
    EXPECT_TRUE(lines[2 * i].ends_with("\t" + one[i])) << lines[2 * i];
  }
}

TEST(CliTranslate, JsonScoresEveryToken) {
  const std::vector<std::string> lines = translated_lines({"--beam", "2", "--json"}),
                                 texts = translated_lines({"--beam", "2"});
  ASSERT_EQ(lines.size(), texts.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const Json json = Json::parse(lines[i]);
    EXPECT_EQ(json["line"].integer(), static_cast<Index>(i) + 1);
    const Json best = json["translations"][0];
    EXPECT_EQ(best["text"].string(), texts[i]);
    EXPECT_EQ(best["token_scores"].size(), best["tokens"].size() + 1);
    double sum = 0;
    for (double score : best["token_scores"].number_list()) sum += score;
    EXPECT_NEAR(best["score"].number(), sum / static_cast<double>(best["token_scores"].size()), 1e-5);
  }
}

TEST(CliEvaluate, AModelScoresAsItsTranslationsDo) {
  const auto folder = scratch_folder();
  write_file(folder / "hypothesis",
             output_of({"translate", tiny_model().string(), "--input", corpus_file("test.de"), "--beam", "2"}));
  const std::string by_file = output_of({"evaluate", "--hypothesis", (folder / "hypothesis").string(), "--reference",
                                         corpus_file("test.en"), "--metrics", "bleu,chrf,chrf++,ter"});
  const std::string by_model =
      output_of({"evaluate", "--model", tiny_model().string(), "--source", corpus_file("test.de"), "--reference",
                 corpus_file("test.en"), "--beam", "2", "--metrics", "bleu,chrf,chrf++,ter"});
  EXPECT_EQ(by_file, by_model);
  EXPECT_EQ(split_text_lines(by_file, "output").size(), 4u);
}

TEST(CliEvaluate, PrintsSignaturesAsSacreBleuDoes) {
  const std::string reference = corpus_file("test.en");
  const std::string text =
      output_of({"evaluate", "--hypothesis", "-", "--reference", reference, "--reference", reference, "--lowercase",
                 "--tokenize", "intl", "--smoothing", "floor", "--metrics", "bleu,chrf"},
                {.input = read_file(reference)});
  const std::vector<std::string> lines = split_text_lines(text, "output");
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_TRUE(lines[0].starts_with("BLEU|nrefs:2|case:lc|eff:no|tok:intl|smooth:floor[0.10]|version:heed-"))
      << lines[0];
  EXPECT_NE(lines[0].find(" = 100.00 "), std::string::npos);
  EXPECT_TRUE(lines[1].starts_with("chrF2|nrefs:2|case:lc|eff:yes|nc:6|nw:0|space:no|version:heed-")) << lines[1];
}

TEST(CliEvaluate, JsonHoldsTheSameFigures) {
  const std::string reference = corpus_file("test.en");
  const Json json = Json::parse(output_of({"evaluate", "--hypothesis", reference, "--reference", reference, "--json"}));
  ASSERT_EQ(json.size(), 3);
  EXPECT_EQ(json[Index{0}]["name"].string(), "BLEU");
  EXPECT_NEAR(json[Index{0}]["score"].number(), 100, 1e-9);
  EXPECT_EQ(json[Index{2}]["name"].string(), "TER");
  EXPECT_EQ(json[Index{2}]["edits"].integer(), 0);
}

TEST(CliEvaluate, AlignmentsCountFromZeroOrOne) {
  const auto folder = scratch_folder();
  write_file(folder / "mine", "0-0 1-1\n0-1\n");
  write_file(folder / "gold", "0-0 1-1 2p1\n0-0\n");
  write_file(folder / "mine1", "1-1 2-2\n1-2\n");
  write_file(folder / "gold1", "1-1 2-2 3p2\n1-1\n");
  const auto score = [&](const char* mine, const char* gold) {
    std::vector<std::string> arguments = {"evaluate", "--alignment", (folder / mine).string(), "--gold",
                                          (folder / gold).string()};
    if (std::string_view(mine).ends_with('1')) arguments.emplace_back("--one-based");
    return output_of(arguments);
  };
  // |A| = 3, |S| = 3, |A and S| = |A and P| = 2: AER = 1 - 4 / 6.
  EXPECT_TRUE(score("mine", "gold").starts_with("AER = 33.33 ")) << score("mine", "gold");
  EXPECT_EQ(score("mine1", "gold1"), score("mine", "gold"));
}

TEST(CliView, DrawsEveryKindOfPicture) {
  const auto folder = scratch_folder();
  const auto draw = [&](const char* name, std::initializer_list<std::string> more) {
    std::vector<std::string> arguments = {"view",  tiny_model().string(),    "--text", "Der Hund schläft.",
                                          "--out", (folder / name).string(), "--beam", "1"};
    arguments.insert(arguments.end(), more);
    output_of(arguments);
    return read_file(folder / name);
  };
  EXPECT_TRUE(draw("a.png", {}).starts_with("\x89PNG"));
  EXPECT_TRUE(draw("a.pdf", {"--head", "all"}).starts_with("%PDF"));
  const std::string svg = draw("a.svg", {});
  EXPECT_NE(svg.find("Cross-attention · layer 0 · mean of 2 heads"), std::string::npos);
  EXPECT_NE(draw("b.svg", {"--kind", "encoder", "--head", "1"}).find("Encoder self-attention · layer 0 · head 1 of 2"),
            std::string::npos);
  EXPECT_NE(draw("c.svg", {"--kind", "decoder"}).find("&lt;s&gt;"), std::string::npos);
  EXPECT_EQ(draw("d.svg", {"--layer", "0"}), svg);
  const std::string page = draw("a.html", {});
  EXPECT_NE(page.find("<html"), std::string::npos);
  EXPECT_NE(page.find("Der Hund schläft."), std::string::npos);
  EXPECT_NE(draw("b.html", {"--language", "zh"}).find("<html lang=\"zh\">"), std::string::npos);
  EXPECT_TRUE(draw("c.html", {"--fragment"}).starts_with("<div class=\"heed-attention\">"));
}

TEST(CliView, ATranslationThatIsGivenIsLookedAt) {
  const auto folder = scratch_folder();
  const std::string trace = (folder / "trace.json").string();
  const std::string printed = output_of(
      {"view", tiny_model().string(), "--text", "Der Hund schläft.", "--target", "The dog sleeps.", "--trace", trace});
  EXPECT_EQ(printed, "The dog sleeps.\n");
  const AttentionTrace read = read_trace(trace);
  EXPECT_EQ(read.source.text, "Der Hund schläft.");
  EXPECT_EQ(read.target.text, "The dog sleeps.");
  EXPECT_EQ(read.model, "model");
  ASSERT_EQ(read.maps.size(), 3u);  // encoder, decoder, cross
  for (const AttentionTrace::Map& map : read.maps) {
    for (Index h = 0; h < map.heads; ++h) {
      for (Index i = 0; i < map.queries; ++i) {
        double sum = 0;
        for (Index j = 0; j < map.keys; ++j) sum += map.weight(h, i, j);
        EXPECT_NEAR(sum, 1, 1e-5) << map.path;
      }
    }
  }
}

TEST(CliView, ASavedTraceDrawsTheSamePicture) {
  const auto folder = scratch_folder();
  const auto path = [&](const char* name) { return (folder / name).string(); };
  write_file(path("in"), "Ja.\nDer Hund schläft.\n");
  const std::string printed = output_of({"view", tiny_model().string(), "--input", path("in"), "--trace",
                                         path("trace.json"), "--out", path("direct.svg"), "--sentence", "2"});
  EXPECT_EQ(split_text_lines(printed, "output").size(), 2u);
  output_of({"view", path("trace.json"), "--out", path("saved.svg"), "--sentence", "2"});
  EXPECT_EQ(read_file(path("saved.svg")), read_file(path("direct.svg")));
  output_of({"view", path("trace.json"), "--out", path("page.html")});

  const auto refused = [&](std::initializer_list<std::string> more, const char* part) {
    std::vector<std::string> arguments = {"view", path("trace.json"), "--out", path("x.svg")};
    arguments.insert(arguments.end(), more);
    expect_refusal(run_heed(arguments), kFailure, {part});
  };
  refused({"--sentence", "3"}, "--sentence");
  refused({"--sentence", "1", "--layer", "7"}, "--layer");
  refused({"--sentence", "1", "--head", "2"}, "head");
  EXPECT_FALSE(std::filesystem::exists(path("x.svg")));
}

TEST(CliInfo, CountsAModelsParametersAsItsFileDoes) {
  const Json model = Json::parse(output_of({"info", tiny_model().string(), "--json", "--parameters"}));
  const Json file = Json::parse(output_of({"info", (tiny_model() / "model.safetensors").string(), "--json"}));
  EXPECT_EQ(model["model"].string(), "transformer");
  EXPECT_EQ(model["config"]["width"].integer(), 16);
  EXPECT_EQ(model["source_vocabulary"]["kind"].string(), "sentencepiece");
  EXPECT_EQ(model["source_vocabulary"]["size"].integer(), model["config"]["source_vocabulary"].integer());
  EXPECT_EQ(model["parameter_count"].integer(), file["count"].integer());
  EXPECT_EQ(model["parameters"].size(), file["tensors"].size());
  Index count = 0;
  for (const Json& parameter : model["parameters"].items()) {
    Index elements = 1;
    for (Index extent : parameter["shape"].integer_list()) elements *= extent;
    EXPECT_EQ(parameter["count"].integer(), elements);
    count += elements;
  }
  EXPECT_EQ(count, model["parameter_count"].integer());
  const std::string text = output_of({"info", tiny_model().string()});
  EXPECT_NE(text.find("transformer"), std::string::npos);
}

TEST(CliInfo, TellsOfTheProgram) {
  const Json info = Json::parse(output_of({"info", "--json", "--threads", "2"}));
  EXPECT_EQ(info["threads"].integer(), 2);
  const std::vector<std::string> plans = info["attention_plans"].string_list();
  ASSERT_FALSE(plans.empty());
  EXPECT_EQ(plans.back(), "reference");
  const std::string scalar = output_of({"info"}, {.environment = {"HEED_TARGET=SCALAR"}});
  EXPECT_NE(scalar.find("SCALAR (this machine has"), std::string::npos) << scalar;
}

TEST(CliCorpus, TheSameSeedGivesTheSameBytes) {
  const auto folder = scratch_folder();
  const auto write = [&](const char* name, const char* seed) {
    output_of({"corpus", "--out", (folder / name).string(), "--seed", seed, "--pairs", "50", "--validation", "5",
               "--test", "7"});
  };
  write("a", "1"), write("b", "1"), write("c", "2");
  for (const char* file : {"train.de", "valid.en", "test.align"}) {
    EXPECT_EQ(read_file(folder / "a" / file), read_file(folder / "b" / file));
    EXPECT_NE(read_file(folder / "a" / file), read_file(folder / "c" / file));
  }
  EXPECT_EQ(read_text_lines(folder / "a" / "train.en").size(), 50u);
  EXPECT_EQ(read_text_lines(folder / "a" / "valid.de").size(), 5u);
  EXPECT_EQ(read_text_lines(folder / "a" / "test.align").size(), 7u);
}

}  // namespace
}  // namespace heed
