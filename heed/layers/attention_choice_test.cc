#include "heed/layers/attention_choice.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "heed/base/file.h"
#include "heed/layers/listed_parameters.h"
#include "heed/testing/refusal.h"

namespace heed {
namespace {

using ::testing::HasSubstr;
using testing::refusal;

std::string read(std::string_view text) { return AttentionChoice(text).text(); }

TEST(AttentionChoice, TermsAreWrittenInTheOrderOfTheTableWithoutDefaults) {
  EXPECT_EQ(AttentionChoice().text(), "scaled_dot");
  EXPECT_EQ(read("scaled_dot"), "scaled_dot");
  EXPECT_EQ(read("softmax+scaled_dot"), "scaled_dot");
  EXPECT_EQ(read("softmax + cosine"), "cosine");
  for (const char* map : {"elu", "relu", "performer"}) {  // whose default is sum
    EXPECT_EQ(read(std::string("softmax + ") + map), std::string(map) + " + softmax");
    EXPECT_EQ(read(std::string(map) + " + sum"), std::string(map) + " + sum");
  }
  EXPECT_EQ(read("sinks + window(8)+ alibi +cosine( scale = 2.5 )"), "cosine(scale=2.5) + alibi + window + sinks");
  EXPECT_EQ(read("fixed(4, 2)"), "fixed(block=4, summary=2)");
  EXPECT_EQ(read("fixed(summary=2)"), "fixed(summary=2)");
  EXPECT_EQ(AttentionChoice("window + alibi"), AttentionChoice("alibi + window(radius=8)"));
}

TEST(AttentionChoice, EveryTermIsInThePageAboutAttentionWithItsDefaults) {
  const std::string page = read_file(HEED_SOURCE_DIR "/docs/attention.md");
  for (const AttentionTerm& term : attention_terms()) {
    std::string numbers;
    for (const AttentionTerm::Number& number : term.numbers) {
      numbers += fmt::format("{}{}={}", numbers.empty() ? "(" : ", ", number.name, number.value);
    }
    constexpr std::string_view kRoles[] = {"score", "position", "bias", "mask", "normaliser"};
    const std::string row = fmt::format("| `{}{}{}` | {} | {} |\n", term.name, numbers, numbers.empty() ? "" : ")",
                                        kRoles[static_cast<int>(term.role)], term.doc);
    EXPECT_THAT(page, HasSubstr(row));
  }
}

TEST(AttentionChoice, EveryTermComesBackFromItsText) {
  std::set<std::string_view> names;
  for (const AttentionTerm& term : attention_terms()) {
    EXPECT_TRUE(names.insert(term.name).second) << term.name;
    EXPECT_FALSE(term.doc.empty());
    const AttentionChoice choice(term.name);
    EXPECT_EQ(AttentionChoice(choice.text()), choice) << term.name;
    for (const AttentionTerm::Number& number : term.numbers) {
      EXPECT_TRUE(number.range.contains(number.value)) << term.name << " " << number.name;
    }
  }
}

TEST(AttentionChoice, ANumberWithAnExponentComesBackFromItsText) {
  EXPECT_EQ(read("dot(1e+300) + window(9)"), "dot(scale=1e+300) + window(radius=9)");
  for (const AttentionTerm& term : attention_terms()) {
    for (const AttentionTerm::Number& number : term.numbers) {
      for (const double value : {1e300, 2.5e16, 1e-300}) {
        if (number.whole || !number.range.contains(value)) continue;
        const AttentionChoice choice(fmt::format("{}({}={})", term.name, number.name, value));
        const auto place = static_cast<std::size_t>(&number - term.numbers.data());
        EXPECT_EQ(choice.terms()[0].numbers[place], value) << term.name << " " << number.name;
        EXPECT_EQ(AttentionChoice(choice.text()), choice) << choice.text();
      }
    }
  }
}

TEST(AttentionChoice, AListStandsBehindTheNumbers) {
  EXPECT_EQ(read("rotary_longrope(factors=1: 1.5 :4e1, base=500) + window"),
            "rotary_longrope(base=500, factors=1:1.5:40) + window");
  const std::vector<double> numbers = AttentionChoice("rotary_longrope(factors=1:2)").terms()[0].numbers;
  EXPECT_EQ(numbers, (std::vector<double>{1, 10000, 0, 0, 1, 2}));
  EXPECT_THAT(refusal([] { read("rotary_longrope(factors=1:x)"); }), HasSubstr("factors must be a number"));
  EXPECT_THAT(refusal([] { read("rotary_longrope(factors=1:0)"); }), HasSubstr("factors must be above 0"));
  EXPECT_THAT(refusal([] { read("rotary_longrope(factors=)"); }), HasSubstr("factors must be a number"));
  EXPECT_THAT(refusal([] { read("rotary_longrope(factors=1, factors=1)"); }), HasSubstr("factors are given twice"));
}

TEST(AttentionChoice, EveryTermIsMadeAndOnlyWhatIsLearnedAsksForParameters) {
  for (const AttentionTerm& term : attention_terms()) {
    ListedParameters listed;
    const LayerAttention made =
        AttentionChoice(term.name).make({listed, /*heads=*/4, /*head_width=*/8, /*max_positions=*/64, /*causal=*/true});
    EXPECT_EQ(made.learned.size(), listed.shapes().size()) << term.name;
    const bool learns = term.name == "additive" || term.name == "relative" || term.name == "sinks";
    EXPECT_EQ(listed.shapes().size(), learns ? 1u : 0u) << term.name;
  }
}

TEST(AttentionChoice, WhatHasNoMeaningIsRefusedByName) {
  EXPECT_THAT(refusal([] { read("sparse"); }), HasSubstr("there is no \"sparse\"; there are scaled_dot, "));
  EXPECT_THAT(refusal([] { read(""); }), HasSubstr("there is no \"\""));
  EXPECT_THAT(refusal([] { read("cosine + dot"); }), HasSubstr("cosine and dot are both a score"));
  EXPECT_THAT(refusal([] { read("sigmoid + sinks"); }), HasSubstr("both a normaliser"));
  EXPECT_THAT(refusal([] { read("alibi + alibi"); }), HasSubstr("alibi is given twice"));
  EXPECT_THAT(refusal([] { read("window(8"); }), HasSubstr("must end with a bracket"));
  EXPECT_THAT(refusal([] { read("window(8 + alibi"); }), HasSubstr("\"window(8 + alibi\" must end with a bracket"));
  EXPECT_THAT(refusal([] { read("window(wide=8)"); }), HasSubstr("window has no number \"wide\""));
  EXPECT_THAT(refusal([] { read("window(1, 2)"); }), HasSubstr("window takes 1 numbers"));
  EXPECT_THAT(refusal([] { read("window(1.5)"); }), HasSubstr("radius must be a whole number, but is \"1.5\""));
  EXPECT_THAT(refusal([] { read("window(x)"); }), HasSubstr("but is \"x\""));
  EXPECT_THAT(refusal([] { read("window(-1)"); }), HasSubstr("radius must be from 0"));
  EXPECT_THAT(refusal([] { read("soft_cap(0)"); }), HasSubstr("cap must be above 0"));
  EXPECT_THAT(refusal([] { read("window(nan)"); }), HasSubstr("radius"));
  EXPECT_THAT(refusal([] { read("a\nb"); }), ::testing::Not(HasSubstr("\n")));
}

}  // namespace
}  // namespace heed
