#include "heed/text/whitespace_vocabulary.h"

#include <gtest/gtest.h>

#include "heed/base/error.h"
#include "heed/base/file_writer.h"
#include "heed/testing/refusal.h"
#include "heed/testing/scratch_test.h"

namespace heed {
namespace {

const std::vector<std::string> kSplitLines = {"ein mann läu@@ ft .", "ein  hund\tläu@@ ft schnell .", "ein mann ."};

class WhitespaceVocabularyTest : public testing::ScratchTest {
 protected:
  // What load says of a file with these contents, without its path; "no error" if it takes them.
  std::string refusal(std::string_view contents) {
    const auto path = WhitespaceVocabulary::path_in(folder_, "v");
    write_file(path, contents);
    const std::string what = testing::refusal([&] { WhitespaceVocabulary::load(path); });
    return what.starts_with(path.string()) ? what.substr(path.string().size()) : what;
  }
};

TEST_F(WhitespaceVocabularyTest, RanksByFrequencyThenByBytes) {
  const auto vocabulary = WhitespaceVocabulary::build(kSplitLines);
  std::vector<std::string> pieces;
  for (int id = 0; id < vocabulary.size(); ++id) pieces.push_back(vocabulary.piece(id));
  EXPECT_EQ(pieces, (std::vector<std::string>{"<pad>", "<unk>", "<s>", "</s>", ".", "ein", "ft", "läu@@", "mann",
                                              "hund", "schnell"}));
}

TEST_F(WhitespaceVocabularyTest, KeepsFrequentTokensUpToASize) {
  EXPECT_EQ(WhitespaceVocabulary::build(kSplitLines, {.min_frequency = 2}).size(), 4 + 5);
  const auto two = WhitespaceVocabulary::build(kSplitLines, {.max_size = 6});
  EXPECT_EQ(two.size(), 6);
  EXPECT_EQ(two.encode("ein hund ."), (std::vector<int>{5, 1, 4}));
}

TEST_F(WhitespaceVocabularyTest, DecodesWithSpacesAndJoinsContinuations) {
  const auto vocabulary = WhitespaceVocabulary::build(kSplitLines);
  const auto ids = vocabulary.encode(" ein  mann\tläu@@ ft . ");
  EXPECT_EQ(ids.size(), 5u);
  EXPECT_EQ(vocabulary.decode(ids), "ein mann läuft .");
  EXPECT_EQ(vocabulary.decode(vocabulary.encode("ein läu@@")), "ein läu");
  EXPECT_EQ(vocabulary.decode({}), "");
  EXPECT_TRUE(vocabulary.encode("").empty());
  EXPECT_TRUE(vocabulary.encode(" \t ").empty());
}

TEST_F(WhitespaceVocabularyTest, SkipsSpecialsAndShowsUnknown) {
  const auto vocabulary = WhitespaceVocabulary::build(kSplitLines);
  EXPECT_EQ(vocabulary.decode(std::vector<int>{2, 5, 1, 3, 0, 0}), "ein <unk>");
}

TEST_F(WhitespaceVocabularyTest, TextThatSpellsASymbolIsUnknown) {
  const auto vocabulary = WhitespaceVocabulary::build(std::vector<std::string>{"a </s> </s> <pad> <s> <unk>"});
  EXPECT_EQ(vocabulary.size(), 5);
  EXPECT_EQ(vocabulary.encode("a </s> <pad> <s> <unk>"), (std::vector<int>{4, 1, 1, 1, 1}));
}

TEST_F(WhitespaceVocabularyTest, ATokenWithAControlCharacterIsNotKept) {
  const auto vocabulary = WhitespaceVocabulary::build(std::vector<std::string>{"a b\x1B[1m b\x1B[1m c\xC2\x85 c"});
  EXPECT_EQ(vocabulary.size(), 6);
  EXPECT_EQ(vocabulary.encode("a b\x1B[1m c\xC2\x85 c"), (std::vector<int>{4, 1, 1, 5}));
}

TEST_F(WhitespaceVocabularyTest, FindsTheWordOfEachPiece) {
  const auto vocabulary = WhitespaceVocabulary::build(kSplitLines);
  auto ids = vocabulary.encode("ein mann läu@@ läu@@ ft unbekannt .");
  ids.insert(ids.begin(), vocabulary.begin());
  ids.push_back(vocabulary.end());
  ids.push_back(vocabulary.pad());
  EXPECT_EQ(vocabulary.word_of_pieces(ids), (std::vector<int>{-1, 0, 1, 2, 2, 2, 3, 4, -1, -1}));
  EXPECT_TRUE(vocabulary.word_of_pieces({}).empty());
}

TEST_F(WhitespaceVocabularyTest, RefusesIdsOutsideIt) {
  const auto vocabulary = WhitespaceVocabulary::build(kSplitLines);
  for (const int id : {-1, static_cast<int>(vocabulary.size())}) {
    EXPECT_THROW(vocabulary.piece(id), Error);
    EXPECT_THROW(vocabulary.decode(std::vector<int>{id}), Error);
    EXPECT_THROW(vocabulary.word_of_pieces(std::vector<int>{id}), Error);
  }
}

TEST_F(WhitespaceVocabularyTest, SavedFileLoadsToTheSameIds) {
  const auto vocabulary = WhitespaceVocabulary::build(kSplitLines);
  vocabulary.save(folder_ / "deeper", "source");
  const auto loaded = load_vocabulary(folder_ / "deeper", "source");
  EXPECT_EQ(loaded->kind(), "whitespace");
  ASSERT_EQ(loaded->size(), vocabulary.size());
  for (int id = 0; id < vocabulary.size(); ++id) EXPECT_EQ(loaded->piece(id), vocabulary.piece(id));
  for (const auto& line : kSplitLines) EXPECT_EQ(loaded->encode(line), vocabulary.encode(line));
}

TEST_F(WhitespaceVocabularyTest, RefusesUnsoundFilesByLine) {
  const std::string symbols = "<pad>\n<unk>\n<s>\n</s>\n";
  EXPECT_EQ(refusal(symbols + "ein\nmann\n"), "no error");
  EXPECT_EQ(refusal(symbols + "ein\r\nmann"), "no error");
  EXPECT_NE(refusal("").find(": a vocabulary must begin with"), std::string::npos);
  EXPECT_EQ(refusal(symbols), ": the vocabulary holds no token");
  EXPECT_NE(refusal("<pad>\n<unk>\n").find(": a vocabulary must begin with"), std::string::npos);
  EXPECT_NE(refusal("ein\nmann\n<s>\n</s>\nx\n").find(":1: this line of a vocabulary must be <pad>"),
            std::string::npos);
  EXPECT_EQ(refusal(symbols + "ein\nmann\nein\n"), ":7: 'ein' is on line 5 already");
  EXPECT_EQ(refusal(symbols + "<s>\n"), ":5: '<s>' is on line 3 already");
  EXPECT_EQ(refusal(symbols + "ein\n\nmann\n"), ":6: the line is empty");
  EXPECT_EQ(refusal(symbols + "ein mann\n"), ":5: the token holds white space: 'ein mann'");
  EXPECT_EQ(refusal(symbols + "ein\nm\x1B[1mnn\n"), ":6: the token holds a control character: 'm\\x1b[1mnn'");
  EXPECT_NE(refusal(symbols + "m\xC2\x9Bnn\n").find(":5: the token holds a control character"), std::string::npos);
  EXPECT_NE(refusal(symbols + "ein\nm\xFFnn\n").find(":6: "), std::string::npos);
  EXPECT_NE(refusal(symbols + std::string("a\0b\n", 4)).find(":5: "), std::string::npos);
}

TEST_F(WhitespaceVocabularyTest, RefusesToBeBuiltFromNothing) {
  EXPECT_THROW(WhitespaceVocabulary::build({}), Error);
  EXPECT_THROW(WhitespaceVocabulary::build(std::vector<std::string>{"", "  "}), Error);
  EXPECT_THROW(WhitespaceVocabulary::build(kSplitLines, {.min_frequency = 100}), Error);
  EXPECT_THROW(WhitespaceVocabulary::build(kSplitLines, {.min_frequency = 0}), Error);
  EXPECT_THROW(WhitespaceVocabulary::build(kSplitLines, {.max_size = 4}), Error);
  EXPECT_THROW(WhitespaceVocabulary::build(std::vector<std::string>{"a\xC3"}), Error);
}

}  // namespace
}  // namespace heed
