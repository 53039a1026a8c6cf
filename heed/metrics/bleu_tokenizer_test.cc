#include "heed/metrics/bleu_tokenizer.h"

#include <gtest/gtest.h>

#include "heed/base/error.h"
#include "heed/metrics/ter_tokenizer.h"
#include "heed/unicode/unicode.h"

namespace heed {
namespace {

std::string ter_tokenize(std::string_view line, const TerOptions& options) {
  std::u32string joined;
  for (const std::u32string& word : ter_words(decode_utf8(line, "test"), options)) {
    if (!joined.empty()) joined += U' ';
    joined += word;
  }
  return encode_utf8(joined);
}

TEST(BleuTokenizer, V13aSetsOffAsciiPunctuation) {
  const auto tokenize = [](std::string_view line) { return bleu_tokenize(line, BleuTokenizer::v13a); };
  EXPECT_EQ(tokenize("Hello, world!"), "Hello , world !");
  EXPECT_EQ(tokenize("It's 3,000.50 (or $4)."), "It's 3,000.50 ( or $ 4 ) .");
  EXPECT_EQ(tokenize("in 1990-95, e-mail."), "in 1990 - 95 , e-mail .");
  EXPECT_EQ(tokenize("a/b&amp;lt;c&quot;"), "a / b < c \"");
  EXPECT_EQ(tokenize("x<skipped>y end-\nof line\n"), "xy endof line");
  EXPECT_EQ(tokenize("\u201EGut\u201C, \u00E9.\u00A0ok"), "\u201EGut\u201C , \u00E9 . ok");
}

TEST(BleuTokenizer, APairOfPunctuationMarksIsConsumedAsTheRegularExpressionDoes) {
  EXPECT_EQ(bleu_tokenize("a.,b", BleuTokenizer::v13a), "a . , b");
  EXPECT_EQ(bleu_tokenize("...", BleuTokenizer::v13a), ". . .");
  EXPECT_EQ(bleu_tokenize("1.,2", BleuTokenizer::v13a), "1 . , 2");
}

TEST(BleuTokenizer, InternationalSetsOffUnicodePunctuationAndSymbols) {
  const auto tokenize = [](std::string_view line) { return bleu_tokenize(line, BleuTokenizer::intl); };
  EXPECT_EQ(tokenize("\u201EGut\u201C, sagte er."), "\u201E Gut \u201C , sagte er .");
  EXPECT_EQ(tokenize("e-mail's 5\u20AC 3.5"), "e - mail ' s 5 \u20AC 3.5");
  EXPECT_EQ(tokenize("\u0663.\u0665 \u4E2D\u3002"), "\u0663.\u0665 \u4E2D \u3002");
  EXPECT_EQ(tokenize("&amp;"), "& amp ;");
  // mteval-v14's error, which scores depend on.
  EXPECT_EQ(tokenize("in 1990."), "in 1990.");
}

TEST(BleuTokenizer, NoneAndCharactersOnlySplit) {
  EXPECT_EQ(bleu_tokenize(" a,  b. ", BleuTokenizer::none), "a, b.");
  EXPECT_EQ(bleu_tokenize("a \u00E9.", BleuTokenizer::character), "a \u00E9 .");
}

TEST(BleuTokenizer, NamesGoThereAndBack) {
  for (const BleuTokenizer tokenizer :
       {BleuTokenizer::none, BleuTokenizer::v13a, BleuTokenizer::intl, BleuTokenizer::character}) {
    EXPECT_EQ(parse_bleu_tokenizer(bleu_tokenizer_name(tokenizer)), tokenizer);
  }
  EXPECT_THROW(parse_bleu_tokenizer("v13a"), Error);
  EXPECT_THROW(bleu_tokenize("\xFF", BleuTokenizer::none), Error);
}

TEST(TerTokenizer, LowersTheCaseUnlessTold) {
  EXPECT_EQ(ter_tokenize("The DOG, ran.", {}), "the dog, ran.");
  EXPECT_EQ(ter_tokenize("The DOG, ran.", {.case_sensitive = true}), "The DOG, ran.");
}

TEST(TerTokenizer, NormalisesAsTercom) {
  EXPECT_EQ(ter_tokenize("the dog's 3.5 &quot;toys&quot;, x-\n-y.", {.normalized = true}),
            "the dog 's 3.5 \" toys \" , x-y .");
  EXPECT_EQ(ter_tokenize("\u4E2D\u6587\u3002ok", {.normalized = true}), "\u4E2D\u6587\u3002ok");
  EXPECT_EQ(ter_tokenize("\u4E2D\u6587\u3002ok", {.normalized = true, .asian_support = true}),
            "\u4E2D \u6587 \u3002 ok");
}

TEST(TerTokenizer, DropsPunctuation) {
  EXPECT_EQ(ter_tokenize("(a), b: c? \"d\"; e! . f-g", {.no_punct = true}), "a b c d e f-g");
  EXPECT_EQ(ter_tokenize("\u4E2D\u3002\uFF01", {.no_punct = true}), "\u4E2D\u3002\uFF01");
  EXPECT_EQ(ter_tokenize("\u4E2D\u3002\uFF01", {.no_punct = true, .asian_support = true}), "\u4E2D");
}

}  // namespace
}  // namespace heed
