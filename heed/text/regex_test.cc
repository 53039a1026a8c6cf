#include "heed/text/regex.h"

#include <gtest/gtest.h>

#include <vector>

#include "heed/testing/refusal.h"
#include "heed/text/oniguruma_pattern.h"

namespace heed {
namespace {

std::vector<std::string> matches(std::string_view pattern, std::string_view text) {
  std::vector<std::string> all;
  Regex(pattern, "test").for_each_match(text, [&](std::size_t begin, std::size_t end) {
    all.emplace_back(text.substr(begin, end - begin));
  });
  return all;
}

using Strings = std::vector<std::string>;

TEST(Regex, MatchesAreToldFromLeftToRight) {
  EXPECT_EQ(matches(R"(\p{L}+|\p{N})", "Haus 12, größer"), (Strings{"Haus", "1", "2", "größer"}));
  EXPECT_EQ(matches(R"(\s+(?!\S)|\s+)", "a   b "), (Strings{"  ", " ", " "}));
  EXPECT_TRUE(matches("x", "").empty());
}

TEST(Regex, AnEmptyMatchIsToldOnceAndNotBehindAnother) {
  EXPECT_EQ(matches("a*", "baac"), (Strings{"", "aa", ""}));
  EXPECT_EQ(matches("^", "a\nb"), (Strings{"", ""}));
  EXPECT_EQ(matches("", "éa").size(), 3u);
}

TEST(Regex, AMatchIsFoundAnywhere) {
  EXPECT_TRUE(Regex("^ab|c$", "test").occurs_in("xyz c"));
  EXPECT_FALSE(Regex("^ab|c$", "test").occurs_in("xab cd"));
  EXPECT_TRUE(Regex("", "test").occurs_in(""));
}

TEST(Regex, MatchesAreReplaced) {
  EXPECT_EQ(Regex(" {2,}", "test").replace("a  b   c d", "_"), "a_b_c d");
  EXPECT_EQ(Regex("x", "test").replace("abc", "_"), "abc");
}

// What Oniguruma and PCRE2 read differently; what the former says was seen of the library of tokenizer.json.
TEST(Regex, ClassesMayHoldClasses) {
  EXPECT_EQ(matches(" ?[^(\\s|[.,!?])]+", "a (b|c), d"), (Strings{"a", "b", "c", " d"}));
  EXPECT_EQ(matches("[a-z&&[^aeiou]]+", "abcde"), (Strings{"bcd"}));
  EXPECT_EQ(matches("[^a-z&&[^aeiou]]+", "xaB1"), (Strings{"aB1"}));
  EXPECT_EQ(matches("[a-c[x-z]&&[^b]]+", "abcxyz"), (Strings{"a", "cxyz"}));
  EXPECT_EQ(matches("[]a]+", "a]b"), (Strings{"a]"}));
  EXPECT_EQ(matches("[\\S&&[^a-z]]+", "aB1 c"), (Strings{"B1"}));
  EXPECT_EQ(matches("[^\\S\\n]+", " \n\t"), (Strings{" ", "\t"}));
  EXPECT_EQ(matches("[a\\-\\]]+", "-a]b"), (Strings{"-a]"}));
}

TEST(Regex, ShorthandsAreOnigurumas) {
  EXPECT_EQ(matches("\\h+", "xyz0aFg"), (Strings{"0aF"}));
  EXPECT_EQ(matches("\\s+", "a\u0085\u00A0b\u180Ec\u3000"), (Strings{"\u0085\u00A0", "\u3000"}));
  EXPECT_EQ(matches("\\w+", "a\u0301_1 \u00BD \u2460"), (Strings{"a\u0301_1", "\u00BD"}));
  EXPECT_EQ(matches("[\\w]+", "a1 \u00BD"), (Strings{"a1"}));
  EXPECT_EQ(matches("\\d+", "12\u0663\u00B2"), (Strings{"12\u0663"}));
  EXPECT_EQ(matches("\\ba", "a \u0301a ba"), (Strings{"a"}));
  EXPECT_EQ(matches("[[:punct:]]+", "a$.\u20ACb"), (Strings{"$.\u20AC"}));
  EXPECT_EQ(matches("\\p{Punct}+", "a$.\u20ACb"), (Strings{"."}));
  EXPECT_EQ(matches("[[:graph:]]+", "a \u00A0b"), (Strings{"a", "b"}));
  EXPECT_EQ(matches("[[:^print:]]+", "a\t\u2028 b"), (Strings{"\t\u2028"}));
  EXPECT_EQ(matches("a\\v", "a\v"), (Strings{"a\v"}));
}

TEST(Regex, PropertiesAreCategoriesScriptsAndClasses) {
  EXPECT_EQ(matches("\\p{Han}+|\\p{Hiragana}+", "中文ひら。a"), (Strings{"中文", "ひら"}));
  EXPECT_EQ(matches("\\p{^L}+", "a1b"), (Strings{"1"}));
  EXPECT_EQ(matches("\\P{Lu}+", "aBc"), (Strings{"a", "c"}));
  EXPECT_EQ(matches("\\p{Uppercase_Letter}\\p{alpha}", "aBc"), (Strings{"Bc"}));
  EXPECT_EQ(matches("\\p{XIDS}\\p{XIDC}*", "1a1 _b"), (Strings{"a1", "b"}));
}

// Whatever version of Unicode PCRE2 has: a face of Unicode 15, a Chinese character of 15.1, letters of 16.
TEST(Regex, CharactersOfLaterVersionsOfUnicodeAreKnown) {
  EXPECT_EQ(matches("[^\\s\\p{L}\\p{P}\\p{S}]?\\p{L}+| ?[\\p{P}\\p{S}]+", "x \U0001FAE8y"),
            (Strings{"x", " \U0001FAE8", "y"}));
  EXPECT_EQ(matches("\\p{Han}+|\\p{Lo}", "中\U0002EBF0 a"), (Strings{"中\U0002EBF0"}));
  EXPECT_EQ(matches("\\p{Lu}\\w*", "\U00010D50\U00010D70!"), (Strings{"\U00010D50\U00010D70"}));
  EXPECT_EQ(matches("\\p{Cn}|\\p{C}x", "\U0001FAE8\u0378\tx"), (Strings{"\u0378", "\tx"}));
  EXPECT_EQ(matches("\\P{Cn}", "a\u0378\U0001FAE8"), (Strings{"a", "\U0001FAE8"}));
  EXPECT_EQ(matches("[[:graph:]]+|\\p{Print}", "\U0001FAE8 "), (Strings{"\U0001FAE8", " "}));
}

TEST(Regex, QuantifiersAreOnigurumas) {
  EXPECT_EQ(matches("\\p{N}{1,3}+", "1234567"), (Strings{"1234567"}));  // an interval is never possessive
  EXPECT_EQ(matches("a{,2}b", "aaab"), (Strings{"aab"}));
  EXPECT_EQ(matches("a{1}?b", "ab b"), (Strings{"ab", "b"}));  // once, or not at all
  EXPECT_EQ(matches("x{,}", "x{,}"), (Strings{"x{,}"}));
  EXPECT_EQ(matches("a++b", "aaab"), (Strings{"aaab"}));
  EXPECT_EQ(matches("a+?", "aa"), (Strings{"a", "a"}));
}

TEST(Regex, OptionsAreOnigurumas) {
  EXPECT_EQ(matches("(?i:'s|'T)", "'S't's"), (Strings{"'S", "'t", "'s"}));
  EXPECT_EQ(matches("(?m:a.b)|c.d", "a\nbc\nd"), (Strings{"a\nb"}));
  EXPECT_EQ(matches("(?i)a|b", "AB"), (Strings{"A", "B"}));
  EXPECT_EQ(matches("(?:a(?i)b|c)d", "aBd aCd abD"), (Strings{"aBd", "aCd"}));
  EXPECT_EQ(matches("(?x: a b # and\n c)d e", "abcd e"), (Strings{"abcd e"}));
  EXPECT_EQ(matches("^b$", "a\nb\nc"), (Strings{"b"}));
}

TEST(Regex, CharactersMayBeSpelledAsNumbers) {
  EXPECT_EQ(matches("\\u4e2d|\\x{65}|\\x41|\\t|\\0", std::string("中eA\t\0", 7)),
            (Strings{"中", "e", "A", "\t", std::string(1, '\0')}));
  EXPECT_EQ(matches("(.)\\1", "abba"), (Strings{"bb"}));
  EXPECT_EQ(matches("(?<q>.)x\\k<q>", "axa"), (Strings{"axa"}));
}

TEST(Regex, WhatIsNoExpressionIsRefusedByName) {
  const auto refusal = [](std::string_view pattern) {
    return testing::refusal([&] { Regex(pattern, "file: place"); });
  };
  for (const char* bad :
       {"(",     ")",    "[",       "[a", "\\",     "a(?", "(?<",      "\\p{", "\\p{Nowhere}",  "\\x{110000}", "[z-a]",
        "(?~a)", "(?a)", "(*FAIL)", "*",  "\\g<1>", "\\2", "(?<=a+)b", "\xFF", "[[:nothing:]]", "\\X"}) {
    EXPECT_TRUE(refusal(bad).starts_with("file: place: ")) << bad << ": " << refusal(bad);
  }
  EXPECT_NE(refusal(std::string(1000, '(') + std::string(1000, ')')).find("nested"), std::string::npos);
  EXPECT_NE(refusal(std::string(1000, '[')).find("nested"), std::string::npos);
  EXPECT_NE(refusal(std::string(70000, 'a')).find("70000 bytes"), std::string::npos);
  EXPECT_NE(refusal("a" + std::string(60000, '?')).find("quantifiers"), std::string::npos);
}

TEST(Regex, AMatchThatWouldTakeForEverIsAnError) {
  const Regex slow("(?:a+)+b|(?:a|a)*c", "slow");
  const std::string what = testing::refusal([&] { slow.replace(std::string(5000, 'a'), ""); });
  EXPECT_TRUE(what.starts_with("slow: the regular expression")) << what;
}

TEST(Regex, ALongRunIsNoProblem) {
  const std::string spaces(1 << 20, ' ');
  EXPECT_EQ(matches(R"(\s+(?!\S)|\s+)", spaces + "x").size(), 2u);
  EXPECT_EQ(matches("(?:ab)*", spaces.substr(0, 4)).size(), 5u);
}

}  // namespace
}  // namespace heed
