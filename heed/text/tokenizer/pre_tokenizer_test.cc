#include "heed/text/tokenizer/pre_tokenizer.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <vector>

#include "heed/testing/refusal.h"

namespace heed {
namespace {

using Strings = std::vector<std::string>;

Strings words(std::string_view json, std::string_view text, bool first = true) {
  Strings all;
  read_pre_tokenizer(Json::parse(json, "p"))->split({text, first}, [&](Word word) { all.emplace_back(word.text); });
  return all;
}

Strings split(std::string_view behaviour, std::string_view text, bool invert = false) {
  return words(fmt::format(R"({{"type": "Split", "pattern": {{"String": "-"}}, "behavior": "{}", "invert": {}}})",
                           behaviour, invert),
               text);
}

// As the library's documentation states them for the text "the-final--countdown".
TEST(PreTokenizer, MatchesGoWhereTheBehaviourSays) {
  constexpr std::string_view kText = "the-final--countdown";
  EXPECT_EQ(split("Removed", kText), (Strings{"the", "final", "countdown"}));
  EXPECT_EQ(split("Isolated", kText), (Strings{"the", "-", "final", "-", "-", "countdown"}));
  EXPECT_EQ(split("MergedWithPrevious", kText), (Strings{"the-", "final-", "-", "countdown"}));
  EXPECT_EQ(split("MergedWithNext", kText), (Strings{"the", "-final", "-", "-countdown"}));
  EXPECT_EQ(split("Contiguous", kText), (Strings{"the", "-", "final", "--", "countdown"}));
  EXPECT_EQ(split("Removed", kText, true), (Strings{"-", "-", "-"}));
}

TEST(PreTokenizer, BertCutsAtSpacesAndPunctuation) {
  EXPECT_EQ(words(R"({"type": "BertPreTokenizer"})", " Hey,\tfriend\u3002$5 "),
            (Strings{"Hey", ",", "friend", "\u3002", "$", "5"}));
  EXPECT_TRUE(words(R"({"type": "BertPreTokenizer"})", " \n").empty());
}

TEST(PreTokenizer, WhitespaceTakesWordsAndOtherRuns) {
  EXPECT_EQ(words(R"({"type": "Whitespace"})", "Hi there!? a_1\u0301 "), (Strings{"Hi", "there", "!?", "a_1\u0301"}));
  EXPECT_EQ(words(R"({"type": "WhitespaceSplit"})", " Hi  there!\u00A0x"), (Strings{"Hi", "there!", "x"}));
  EXPECT_EQ(words(R"({"type": "CharDelimiterSplit", "delimiter": "é"})", "aébéé"), (Strings{"a", "b"}));
}

TEST(PreTokenizer, DigitsAndPunctuationStandApart) {
  EXPECT_EQ(words(R"({"type": "Digits", "individual_digits": true})", "a12b"), (Strings{"a", "1", "2", "b"}));
  EXPECT_EQ(words(R"({"type": "Digits", "individual_digits": false})", "a12b3"), (Strings{"a", "12", "b", "3"}));
  EXPECT_EQ(words(R"({"type": "Punctuation"})", "a!?b"), (Strings{"a", "!", "?", "b"}));
  EXPECT_EQ(words(R"({"type": "Punctuation", "behavior": "Contiguous"})", "a!?b"), (Strings{"a", "!?", "b"}));
  EXPECT_EQ(words(R"({"type": "FixedLength", "length": 2})", "aébcd"), (Strings{"aé", "bc", "d"}));
}

// Each of them as of the version of Unicode that the library has for it.
TEST(PreTokenizer, LaterVersionsOfUnicodeAreKnownInPart) {
  EXPECT_EQ(words(R"({"type": "BertPreTokenizer"})", "a\u2E52b\u166Dc\u2E42d"),
            (Strings{"a\u2E52b", "\u166D", "c", "\u2E42", "d"}));
  EXPECT_EQ(words(R"({"type": "Digits", "individual_digits": true})", "a\U00011DE0\U000116D0"),
            (Strings{"a", "\U00011DE0", "\U000116D0"}));
  EXPECT_EQ(words(R"({"type": "Whitespace"})", "a\U0002EBF0\u0897b"), (Strings{"a\U0002EBF0\u0897b"}));
}

TEST(PreTokenizer, BytesAreCutAsGpt2Does) {
  EXPECT_EQ(words(R"({"type": "ByteLevel", "add_prefix_space": false})", "I've  12 \u00E9!"),
            (Strings{"I", "'ve", "Ġ", "Ġ12", "ĠÃ©", "!"}));
  EXPECT_EQ(words(R"({"type": "ByteLevel", "add_prefix_space": true})", "a b"), (Strings{"Ġa", "Ġb"}));
  EXPECT_EQ(words(R"({"type": "ByteLevel", "add_prefix_space": false, "use_regex": false})", "a b"), (Strings{"aĠb"}));
}

TEST(PreTokenizer, NothingIsFoundBetweenAnyTwoCharacters) {
  for (const std::string behaviour : {"Isolated", "Removed", "MergedWithPrevious", "MergedWithNext", "Contiguous"}) {
    EXPECT_EQ(words(R"({"type": "Split", "pattern": {"String": ""}, "behavior": ")" + behaviour + R"("})", "a\u00E9b"),
              (Strings{"a", "\u00E9", "b"}))
        << behaviour;
  }
}

TEST(PreTokenizer, SpacesBecomeMarks) {
  EXPECT_EQ(words(R"({"type": "Metaspace", "replacement": "_"})", "a  b"), (Strings{"_a", "_", "_b"}));
  EXPECT_EQ(words(R"({"type": "Metaspace", "replacement": "_", "split": false})", "a b"), (Strings{"_a_b"}));
  EXPECT_EQ(words(R"({"type": "Metaspace", "replacement": "_", "prepend_scheme": "never"})", "a b"),
            (Strings{"a", "_b"}));
  constexpr std::string_view kFirst = R"({"type": "Metaspace", "replacement": "_", "prepend_scheme": "first"})";
  EXPECT_EQ(words(kFirst, "a b"), (Strings{"_a", "_b"}));
  EXPECT_EQ(words(kFirst, "a b", /*first=*/false), (Strings{"a", "_b"}));
  EXPECT_EQ(words(R"({"type": "Metaspace", "replacement": "_", "add_prefix_space": false})", "a"), (Strings{"a"}));
}

TEST(PreTokenizer, StepsCutTheWordsOfTheStepBefore) {
  EXPECT_EQ(words(R"({"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"},
                      {"type": "Metaspace", "replacement": "_", "prepend_scheme": "first"}]})",
                  "a b"),
            (Strings{"_a", "b"}));
  EXPECT_EQ(words(R"({"type": "Sequence", "pretokenizers": []})", "a b"), (Strings{"a b"}));
  EXPECT_EQ(read_pre_tokenizer(Json()), nullptr);
}

TEST(PreTokenizer, WhatIsNotThereIsRefusedByItsPlace) {
  const auto refusal = [](std::string_view json) {
    return testing::refusal([&] { read_pre_tokenizer(Json::parse(json, "p")); });
  };
  EXPECT_EQ(refusal(R"({"type": "UnicodeScripts"})"),
            "p: type: must be a pre-tokenizer that heed has, but is \"UnicodeScripts\"");
  EXPECT_NE(refusal(R"({"type": "Split", "pattern": {"String": "a"}, "behavior": "x"})").find("behavior"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"type": "Metaspace", "replacement": ""})").find("replacement"), std::string::npos);
  EXPECT_NE(refusal(R"({"type": "Metaspace", "replacement": "_", "prepend_scheme": "x"})").find("prepend_scheme"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"type": "FixedLength", "length": 0})").find("length"), std::string::npos);
}

}  // namespace
}  // namespace heed
