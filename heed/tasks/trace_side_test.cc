#include "heed/tasks/trace_side.h"

#include <gtest/gtest.h>

#include "heed/text/batching.h"
#include "heed/text/whitespace_vocabulary.h"

namespace heed {
namespace {

using Numbers = std::vector<Index>;
using Texts = std::vector<std::string>;

// Knows these pieces; "@@" says that the word goes on.
WhitespaceVocabulary vocabulary_of(const Texts& pieces) {
  std::string line;
  for (const std::string& piece : pieces) line += piece + " ";
  return WhitespaceVocabulary::build({&line, 1});
}

TraceSide side_of(const Texts& pieces, const std::string& text, bool counted = false) {
  const WhitespaceVocabulary vocabulary = vocabulary_of(pieces);
  std::vector<std::int32_t> ids;
  for (const std::string& piece : pieces) ids.push_back(vocabulary.id_of(piece));
  ids.push_back(vocabulary.end());
  return trace_side(vocabulary, ids, {.text = text, .counted = counted});
}

TEST(TraceSide, PiecesOfAWordShareItsNumberAndSpecialTokensHaveNone) {
  const TraceSide side = side_of({"der", "Hu@@", "nd", "läuft"}, "der Hund läuft");
  EXPECT_EQ(side.tokens, (Texts{"der", "Hu@@", "nd", "läuft", "</s>"}));
  EXPECT_EQ(side.words, (Numbers{0, 1, 1, 2, -1}));
  EXPECT_EQ(side.word_texts, (Texts{"der", "Hund", "läuft"}));
}

TEST(TraceSide, MarksAtTheEndOfAWordAreWordsOfTheirOwn) {
  const TraceSide side = side_of({"Ja@@", ",", "gu@@", "t@@", "."}, "Ja, gut.");
  EXPECT_EQ(side.words, (Numbers{0, 1, 2, 2, 3, -1}));
  EXPECT_EQ(side.word_texts, (Texts{"Ja", ",", "gut", "."}));
}

TEST(TraceSide, APieceOfSeveralWordsIsOfTheOneItsMiddleLiesIn) {
  const TraceSide side = side_of({"gut."}, "gut.");
  EXPECT_EQ(side.words, (Numbers{0, -1}));
  EXPECT_EQ(side.word_count(), 2);  // "." has no token
}

TEST(TraceSide, WithoutBlanksEachPieceIsAWordUnlessWordsAreCounted) {
  const Texts pieces = {"今天@@", "天气@@", "很好@@", "。"};
  const std::string text = "今天天气很好。";
  EXPECT_EQ(side_of(pieces, text).words, (Numbers{0, 1, 2, 3, -1}));
  EXPECT_EQ(side_of(pieces, text).word_texts, (Texts{"今天", "天气", "很好", "。"}));
  EXPECT_EQ(side_of(pieces, text, true).words, (Numbers{0, 0, 0, 0, -1}));
  EXPECT_EQ(side_of({"今天", "天气", "很好"}, "今天 天气 很好").words, (Numbers{0, 1, 2, -1}));
}

TEST(TraceSide, WhatIsNoTargetIsATokenWithoutText) {
  const WhitespaceVocabulary vocabulary = vocabulary_of({"a"});
  const std::vector<std::int32_t> ids = {vocabulary.id_of("a"), kNoTarget};
  const TraceSide side = trace_side(vocabulary, ids, {.text = "a"});
  EXPECT_EQ(side.tokens, (Texts{"a", ""}));
  EXPECT_EQ(side.words, (Numbers{0, -1}));
}

TEST(TraceSide, APairHasSegmentsAndItsWordsGoOnCounting) {
  const WhitespaceVocabulary vocabulary = vocabulary_of({"a", "b@@", "c"});
  const int a = vocabulary.id_of("a"), b = vocabulary.id_of("b@@"), c = vocabulary.id_of("c"), end = vocabulary.end();
  const std::vector<std::int32_t> ids = {a, end, b, c, end};
  const TraceSide side = trace_side(vocabulary, ids, {.text = "a", .second = "bc", .is_pair = true});
  EXPECT_EQ(side.segments, (Numbers{0, 0, 1, 1, 1}));
  EXPECT_EQ(side.words, (Numbers{0, -1, 1, 1, -1}));
  EXPECT_EQ(side.text, "a\nbc");
}

TEST(TraceSide, APartKeepsItsTokensAndAllWords) {
  const TraceSide side = part_of(side_of({"a", "b@@", "c"}, "a bc"), 1, 2);
  EXPECT_EQ(side.tokens, (Texts{"b@@", "c"}));
  EXPECT_EQ(side.words, (Numbers{1, 1}));
  EXPECT_EQ(side.word_texts, (Texts{"a", "bc"}));
}

}  // namespace
}  // namespace heed
