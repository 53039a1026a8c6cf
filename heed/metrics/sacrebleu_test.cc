// The figures of sacreBLEU's own tests, and the WMT17 English-German systems as the metrics' first programs scored
// them.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "heed/base/text_lines.h"
#include "heed/metrics/bleu.h"
#include "heed/metrics/chrf.h"
#include "heed/metrics/ter.h"
#include "heed/testing/data_folder.h"

namespace heed {
namespace {

using Json = nlohmann::json;
using Lines = std::vector<std::string>;

constexpr double kExact = 1e-8;

// 100 times the score of text that needs no tokenizer, as sacreBLEU's raw_corpus_bleu: floor smoothing, effective
// order.
BleuOptions raw_options(std::optional<double> floor) {
  return {.tokenizer = BleuTokenizer::none,
          .smoothing = BleuSmoothing::floor,
          .smoothing_value = floor,
          .effective_order = true};
}

// The unit cases: those of phrases, which are in the tree, and all, which quote others' sentences.
enum class Cases { phrases, all };

class SacreBleu : public ::testing::TestWithParam<Cases> {
 protected:
  void SetUp() override {
    if (GetParam() == Cases::phrases) {
      std::ifstream(testing::tree_data("sacrebleu/expected.json")) >> expected_;
    } else {
      HEED_DATA_OR_SKIP(expected, "sacrebleu/expected.json");
      std::ifstream(expected) >> expected_;
    }
  }

  const Json& unit(const char* metric) const { return expected_["unit"][metric]; }

  Json expected_;
};

INSTANTIATE_TEST_SUITE_P(Of, SacreBleu, ::testing::Values(Cases::phrases, Cases::all),
                         [](const auto& tested) { return tested.param == Cases::all ? "AllCases" : "Phrases"; });

// What needs others' sentences throughout.
class OutsideScores : public ::testing::Test {
 protected:
  void SetUp() override {
    HEED_DATA_OR_SKIP(expected, "sacrebleu/expected.json");
    folder_ = expected.parent_path();
    std::ifstream(expected) >> expected_;
  }

  std::filesystem::path folder_;
  Json expected_;
};

class Wmt17 : public OutsideScores {
 protected:
  const Json& wmt(const char* metric) const { return expected_["wmt17_en_de"][metric]; }

  Lines read_system(const std::string& name) const {
    const std::string path = (folder_ / "wmt17_en_de" / (name + ".de.gz")).string();
    const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(("gzip -dc '" + path + "'").c_str(), "r"), pclose);
    std::string text;
    std::array<char, 65536> buffer;
    for (std::size_t got; (got = fread(buffer.data(), 1, buffer.size(), pipe.get())) > 0;)
      text.append(buffer.data(), got);
    Lines lines = split_text_lines(text, path);
    EXPECT_EQ(lines.size(), 3004u) << path;
    return lines;
  }

  // Scores each system that the metric is stated for.
  template <typename Score>
  void expect_wmt_scores(const char* metric, double tolerance, Score score) const {
    const std::vector<Lines> references = {read_system("reference")};
    ASSERT_FALSE(wmt(metric)["scores"].empty());
    for (const auto& [system, value] : wmt(metric)["scores"].items()) {
      const double expected = value;
      EXPECT_NEAR(score(read_system(system), references), expected, tolerance) << metric << " " << system;
    }
  }
};

TEST_F(Wmt17, Bleu13a) {
  expect_wmt_scores("bleu_13a", wmt("bleu_13a")["tolerance"],
                    [](const auto& system, const auto& references) { return corpus_bleu(system, references).score; });
}

TEST_F(Wmt17, BleuInternational) {
  expect_wmt_scores("bleu_intl", wmt("bleu_intl")["tolerance"], [](const auto& system, const auto& references) {
    return corpus_bleu(system, references, {.tokenizer = BleuTokenizer::intl}).score;
  });
}

// chrF++.py averages the F-scores of the orders: sacreBLEU's own default differs in the third decimal.
TEST_F(Wmt17, Chrf) {
  expect_wmt_scores("chrf", 1e-4, [](const auto& system, const auto& references) {
    return corpus_chrf(system, references, {.eps_smoothing = true}).score;
  });
}

TEST_F(Wmt17, ChrfPlusPlus) {
  expect_wmt_scores("chrfpp", 1e-4, [](const auto& system, const auto& references) {
    return corpus_chrf(system, references, {.word_order = 2, .eps_smoothing = true}).score;
  });
}

TEST_F(Wmt17, Ter) {
  expect_wmt_scores("ter", 1e-3, [](const auto& system, const auto& references) {
    return corpus_ter(system, references).score / 100;
  });
}

TEST_P(SacreBleu, BleuOfRawText) {
  for (const char* group : {"test_raw_bleu_cases", "test_case_effective_order"}) {
    for (const Json& test : unit("bleu")[group]) {
      Lines hypotheses = test[0];
      std::vector<Lines> references = test[1];
      // sacreBLEU zips: a hypothesis without a reference is left out.
      hypotheses.resize(std::min(hypotheses.size(), references[0].size()));
      for (Lines& set : references) set.resize(hypotheses.size());
      EXPECT_NEAR(corpus_bleu(hypotheses, references, raw_options(0.01)).score / 100, test[2].get<double>(), kExact)
          << test;
    }
  }
}

TEST_P(SacreBleu, BleuOfACorpus) {
  for (const Json& test : unit("bleu")["test_corpus_bleu_cases"]) {
    const Lines hypotheses = test[0];
    const std::vector<Lines> references = test[1];
    BleuOptions options;
    for (const auto& [key, value] : test[2].items()) {
      if (key == "tokenize") {
        options.tokenizer = parse_bleu_tokenizer(value.get<std::string>());
      } else if (key == "smooth_method") {
        options.smoothing = parse_bleu_smoothing(value.get<std::string>());
      } else {
        FAIL() << "an option that this test does not know: " << key;
      }
    }
    EXPECT_NEAR(corpus_bleu(hypotheses, references, options).score, test[3].get<double>(), kExact) << test;
  }
}

TEST_P(SacreBleu, BleuWithAndWithoutAFloor) {
  for (const Json& test : unit("bleu")["test_case_offset"]) {
    const Lines hypotheses = test[0];
    const std::vector<Lines> references = test[1];
    EXPECT_NEAR(corpus_bleu(hypotheses, references, raw_options(std::nullopt)).score / 100, test[2].get<double>(),
                kExact);
    EXPECT_NEAR(corpus_bleu(hypotheses, references, raw_options(0.1)).score / 100, test[2].get<double>(), kExact);
    EXPECT_NEAR(corpus_bleu(hypotheses, references, raw_options(0)).score / 100, test[3].get<double>(), kExact);
  }
}

TEST_P(SacreBleu, BleuStatistics) {
  for (const Json& test : unit("bleu")["test_case_statistics"]) {
    const Lines hypotheses = test[0];
    const std::vector<Lines> references = test[1];
    const BleuScore score = corpus_bleu(hypotheses, references, raw_options(0.01));
    EXPECT_EQ(score.counts, test[2][0].get<std::vector<Index>>());
    EXPECT_EQ(score.totals, test[2][1].get<std::vector<Index>>());
  }
}

BleuScore score_statistics(const Json& statistics, const BleuOptions& options) {
  const std::vector<Index> counts = statistics[0][0], totals = statistics[0][1];
  return bleu_from_counts(counts, totals, statistics[1], statistics[2], options);
}

TEST_P(SacreBleu, BleuOfStatistics) {
  for (const Json& test : unit("bleu")["test_case_scoring"]) {
    EXPECT_NEAR(score_statistics(test[0], {.smoothing = BleuSmoothing::none}).score / 100, test[1].get<double>(),
                kExact);
  }
}

TEST_P(SacreBleu, BleuOfDegenerateStatistics) {
  for (const Json& test : unit("bleu")["test_case_degenerate_stats"]) {
    const BleuOptions options = {.smoothing = BleuSmoothing::floor, .smoothing_value = test[1].get<double>()};
    EXPECT_EQ(score_statistics(test[0], options).score, test[2].get<double>()) << test;
  }
}

TEST_P(SacreBleu, BleuOfOtherOrders) {
  for (const Json& test : unit("bleu")["test_bleu_max_order"]) {
    const Lines hypotheses = test[1];
    const std::vector<Lines> references = test[2];
    const BleuScore score = corpus_bleu(hypotheses, references, {.max_order = test[0]});
    EXPECT_NEAR(score.score, std::stod(test[3].get<std::string>()), 0.005) << test[0];
  }
}

TEST_P(SacreBleu, BleuOfASentence) {
  const Json& cases = unit("sentence_bleu");
  for (const auto& [group, suffix] : {std::pair("test_cases", ""), std::pair("test_cases_zero_bleu", "_0")}) {
    if (cases[group].empty()) continue;  // its sentences are no phrases
    const std::string hypothesis = cases[std::string("SYS") + suffix];
    const Lines references = {cases[std::string("REF") + suffix].get<std::string>()};
    for (const Json& test : cases[group]) {
      BleuOptions options = {.effective_order = true};
      options.smoothing = parse_bleu_smoothing(test[0].get<std::string>());
      if (!test[1].is_null()) options.smoothing_value = test[1].get<double>();
      options.lowercase = test[2];
      options.tokenizer = parse_bleu_tokenizer(test[3].get<std::string>());
      EXPECT_NEAR(sentence_bleu(hypothesis, references, options).score, test[4].get<double>(), cases["tolerance"])
          << test;
    }
  }
}

TEST_P(SacreBleu, Chrf) {
  const std::pair<const char*, ChrfOptions> groups[] = {
      {"test_cases", {.beta = 3, .eps_smoothing = true}},
      {"test_cases_effective_order", {.beta = 3}},
      {"test_cases_keep_whitespace", {.beta = 3, .whitespace = true}},
  };
  for (const auto& [group, options] : groups) {
    ASSERT_TRUE(GetParam() == Cases::phrases || !unit("chrf")[group].empty());
    for (const Json& test : unit("chrf")[group]) {
      const Lines hypotheses = test[0];
      const std::vector<Lines> references = {test[1].get<Lines>()};
      EXPECT_NEAR(corpus_chrf(hypotheses, references, options).score, test[2].get<double>(), unit("chrf")["tolerance"])
          << group << test;
    }
  }
}

TEST_F(OutsideScores, ChrfOfASentence) {
  const Json& cases = expected_["unit"]["chrf"];
  for (const Json& test : cases["test_sentence_level_chrf"]) {
    const Lines references = test[1];
    const ChrfScore score = sentence_chrf(test[0].get<std::string>(), references, {.eps_smoothing = true});
    EXPECT_NEAR(score.score, test[2].get<double>(), cases["tolerance"]) << test;
  }
}

TEST_P(SacreBleu, Ter) {
  for (const Json& test : unit("ter")["test_cases"]) {
    const Lines hypotheses = test[0];
    const std::vector<Lines> references = {test[1].get<Lines>()};
    EXPECT_NEAR(corpus_ter(hypotheses, references).score / 100, test[2].get<double>(), unit("ter")["tolerance"])
        << test;
  }
}

}  // namespace
}  // namespace heed
