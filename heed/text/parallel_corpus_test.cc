#include "heed/text/parallel_corpus.h"

#include <gtest/gtest.h>

#include "heed/base/error.h"
#include "heed/base/file_writer.h"
#include "heed/base/parallel.h"
#include "heed/testing/refusal.h"
#include "heed/testing/scratch_test.h"
#include "heed/text/whitespace_vocabulary.h"

namespace heed {
namespace {

class ParallelCorpusTest : public testing::ScratchTest {
 protected:
  std::filesystem::path source_ = folder_ / "train.de", target_ = folder_ / "train.en";

  ParallelCorpus read(std::string_view source, std::string_view target) {
    write_file(source_, source);
    write_file(target_, target);
    return read_parallel_corpus(source_, target_);
  }
  std::string refusal(std::string_view source, std::string_view target) {
    return testing::refusal([&] { read(source, target); });
  }
};

TEST_F(ParallelCorpusTest, PairsLinesAndCountsBlankOnes) {
  const ParallelCorpus corpus = read("eins\n\nzwei\n \t\ndrei\r\n", "one\nx\ntwo\ny\nthree");
  EXPECT_EQ(corpus.source, (std::vector<std::string>{"eins", "zwei", "drei"}));
  EXPECT_EQ(corpus.target, (std::vector<std::string>{"one", "two", "three"}));
  EXPECT_EQ(corpus.dropped_empty, 2);
}

TEST_F(ParallelCorpusTest, NamesBothFilesWhenTheirLinesDiffer) {
  EXPECT_EQ(refusal("a\nb\n", "c\n"), source_.string() + " has 2 lines, but " + target_.string() + " has 1");
}

TEST_F(ParallelCorpusTest, RefusesEmptyAndBlankFiles) {
  EXPECT_NE(refusal("", "").find("none of the 0 pairs"), std::string::npos);
  EXPECT_NE(refusal("\n\n", "a\nb\n").find("none of the 2 pairs"), std::string::npos);
}

TEST_F(ParallelCorpusTest, NamesTheLineOfInvalidUtf8) {
  EXPECT_TRUE(refusal("a\nb\n", "a\n\xFF\n").starts_with(target_.string() + ":2:"));
}

TEST_F(ParallelCorpusTest, RefusesAMissingFileAndStandardInputTwice) {
  write_file(source_, "a\n");
  EXPECT_THROW(read_parallel_corpus(source_, target_), Error);
  EXPECT_THROW(read_parallel_corpus("-", "-"), Error);
}

TEST_F(ParallelCorpusTest, EncodesInOrderAndCountsWhatItLeavesOut) {
  ParallelCorpus corpus;
  corpus.source = {"a b", "a a a a", "\xC2\xA0", "b", ""};
  corpus.target = {"b", "a", "a", "a b a", "a"};
  const auto vocabulary = WhitespaceVocabulary::build(std::vector<std::string>{"a a b"});
  const EncodedCorpus encoded = encode_corpus(corpus, vocabulary, vocabulary, 3);
  const std::vector<EncodedPair> expected = {{{4, 5}, {5}}, {{1}, {4}}, {{5}, {4, 5, 4}}};
  EXPECT_EQ(encoded.pairs, expected);
  EXPECT_EQ(encoded.dropped_long, 1);
  EXPECT_EQ(encoded.dropped_empty, 1);
}

TEST_F(ParallelCorpusTest, EncodesTheSameOnAnyNumberOfThreads) {
  ParallelCorpus corpus;
  for (int i = 0; i < 1000; ++i) {
    corpus.source.push_back("w" + std::to_string(i % 7) + " w" + std::to_string(i));
    corpus.target.push_back("w" + std::to_string(i));
  }
  const auto vocabulary = WhitespaceVocabulary::build(corpus.source);
  const int threads = thread_count();
  set_thread_count(1);
  const EncodedCorpus one = encode_corpus(corpus, vocabulary, vocabulary, 10);
  set_thread_count(4);
  const EncodedCorpus four = encode_corpus(corpus, vocabulary, vocabulary, 10);
  set_thread_count(threads);
  EXPECT_EQ(one.pairs, four.pairs);
  EXPECT_EQ(one.size(), 1000);
}

TEST_F(ParallelCorpusTest, RefusesToEncodeWhatLeavesNothing) {
  const auto vocabulary = WhitespaceVocabulary::build(std::vector<std::string>{"a"});
  ParallelCorpus corpus;
  EXPECT_THROW(encode_corpus(corpus, vocabulary, vocabulary, 10), Error);
  corpus.source = {"a a"};
  EXPECT_THROW(encode_corpus(corpus, vocabulary, vocabulary, 10), Error);
  corpus.target = {"a"};
  EXPECT_EQ(encode_corpus(corpus, vocabulary, vocabulary, 2).size(), 1);
  EXPECT_THROW(encode_corpus(corpus, vocabulary, vocabulary, 1), Error);
  EXPECT_THROW(encode_corpus(corpus, vocabulary, vocabulary, 0), Error);
}

}  // namespace
}  // namespace heed
