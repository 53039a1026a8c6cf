#include "heed/corpus/corpus.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <unordered_map>
#include <unordered_set>

#include "heed/base/error.h"
#include "heed/base/file_lock.h"
#include "heed/base/parallel.h"
#include "heed/base/text_lines.h"
#include "heed/base/utf8.h"
#include "heed/corpus/sentence.h"

namespace heed {
namespace {

// Two hundred thousand pairs, drawn once for the tests that look at many.
const Corpus& large_corpus() {
  static const Corpus corpus = generate_corpus({.pairs = 200000, .seed = 5, .validation = 1000, .test = 1000});
  return corpus;
}

std::vector<const SentencePair*> all_pairs(const Corpus& corpus) {
  std::vector<const SentencePair*> pairs;
  for (const auto* part : {&corpus.train, &corpus.validation, &corpus.test}) {
    for (const SentencePair& pair : *part) pairs.push_back(&pair);
  }
  return pairs;
}

TEST(Corpus, HasTheCountsThatWereAskedFor) {
  Corpus corpus = generate_corpus({.pairs = 321, .seed = 3, .validation = 20, .test = 7});
  EXPECT_EQ(corpus.train.size(), 321u);
  EXPECT_EQ(corpus.validation.size(), 20u);
  EXPECT_EQ(corpus.test.size(), 7u);
  EXPECT_TRUE(generate_corpus({.pairs = 0, .seed = 3, .validation = 0, .test = 0}).train.empty());
}

TEST(Corpus, RefusesCountsOutOfRange) {
  EXPECT_THROW(generate_corpus({.pairs = -1}), Error);
  EXPECT_THROW(generate_corpus({.pairs = 10, .test = -5}), Error);
  EXPECT_THROW(generate_corpus({.pairs = 10'000'001}), Error);
  EXPECT_THROW(generate_corpus({.pairs = INT64_MAX, .validation = INT64_MAX}), Error);
}

TEST(Corpus, IsAFunctionOfItsSeed) {
  CorpusOptions options{.pairs = 3000, .seed = 11};
  Corpus first = generate_corpus(options);
  Corpus second = generate_corpus(options);
  EXPECT_EQ(first.train, second.train);
  EXPECT_EQ(first.validation, second.validation);
  EXPECT_EQ(first.test, second.test);
  options.seed = 12;
  EXPECT_NE(first.test, generate_corpus(options).test);
}

TEST(Corpus, DoesNotDependOnTheThreadCount) {
  int before = thread_count();
  set_thread_count(1);
  Corpus alone = generate_corpus({.pairs = 3000, .seed = 4});
  set_thread_count(3);
  Corpus together = generate_corpus({.pairs = 3000, .seed = 4});
  set_thread_count(before);
  EXPECT_EQ(alone.train, together.train);
  EXPECT_EQ(alone.test, together.test);
}

TEST(Corpus, KeepsItsTestSetWhenTrainGrows) {
  Corpus small = generate_corpus({.pairs = 100, .seed = 9});
  Corpus big = generate_corpus({.pairs = 5000, .seed = 9});
  EXPECT_EQ(small.test, big.test);
  EXPECT_EQ(small.validation, big.validation);
  EXPECT_TRUE(std::equal(small.train.begin(), small.train.end(), big.train.begin()));
}

TEST(Corpus, RepeatsNoSentenceWithinOrAcrossParts) {
  std::unordered_set<std::string_view> sources, targets;
  for (const SentencePair* pair : all_pairs(large_corpus())) {
    EXPECT_TRUE(sources.insert(pair->source).second) << pair->source;
    EXPECT_TRUE(targets.insert(pair->target).second) << pair->target;
  }
}

// generate_corpus drops repeated sources, so this looks at the grammar itself.
TEST(Corpus, EnglishIsAFunctionOfGerman) {
  std::unordered_map<std::string, std::string> translation;
  for (Index i = 0; i < 150000; ++i) {
    Rng rng(21, static_cast<std::uint64_t>(i));
    grammar::Sampler sampler(rng);
    grammar::Phrase phrase = grammar::sample_sentence(sampler);
    auto [entry, fresh] = translation.emplace(grammar::join(phrase.german), grammar::join(phrase.english));
    if (fresh) continue;
    EXPECT_EQ(entry->second, grammar::join(phrase.english)) << entry->first;
  }
  EXPECT_GT(translation.size(), 120000u);
}

TEST(Corpus, AlignsWordsThatExist) {
  for (const SentencePair* pair : all_pairs(large_corpus())) {
    auto source_words = static_cast<int>(alignment_tokens(pair->source).size());
    auto target_words = static_cast<int>(alignment_tokens(pair->target).size());
    ASSERT_GE(pair->alignment.size(), 2u) << pair->source;
    ASSERT_GE(source_words, 3) << pair->source;
    ASSERT_GE(target_words, 3) << pair->target;
    ASSERT_LE(source_words, 22) << pair->source;
    ASSERT_LE(target_words, 22) << pair->target;
    WordLink previous{-1, -1};
    for (const WordLink& link : pair->alignment) {
      ASSERT_GE(link.source, 0);
      ASSERT_LT(link.source, source_words) << pair->source;
      ASSERT_GE(link.target, 0);
      ASSERT_LT(link.target, target_words) << pair->target;
      bool sorted = link.source > previous.source || (link.source == previous.source && link.target > previous.target);
      ASSERT_TRUE(sorted) << alignment_text(pair->alignment);
      previous = link;
    }
  }
}

TEST(Corpus, AlignsMostWordsAndEveryFinalMark) {
  Index words = 0, aligned = 0;
  for (const SentencePair& pair : large_corpus().test) {
    auto source_words = static_cast<Index>(alignment_tokens(pair.source).size());
    std::unordered_set<int> with_link;
    for (const WordLink& link : pair.alignment) with_link.insert(link.source);
    words += source_words;
    aligned += static_cast<Index>(with_link.size());
    EXPECT_EQ(pair.alignment.back().source, source_words - 1);
    EXPECT_EQ(pair.alignment.back().target, static_cast<int>(alignment_tokens(pair.target).size()) - 1);
  }
  EXPECT_GT(static_cast<double>(aligned), 0.95 * static_cast<double>(words));
}

TEST(Corpus, IsWrittenAsPeopleWrite) {
  for (const SentencePair* pair : all_pairs(large_corpus())) {
    for (const std::string* sentence : {&pair->source, &pair->target}) {
      ASSERT_TRUE(valid_utf8(*sentence));
      ASSERT_NE(std::string_view(".?!").find(sentence->back()), std::string_view::npos) << *sentence;
      ASSERT_EQ(sentence->find("  "), std::string::npos) << *sentence;
      ASSERT_EQ(sentence->find(" ,"), std::string::npos) << *sentence;
      ASSERT_EQ(sentence->find(",,"), std::string::npos) << *sentence;
      char first = sentence->front();
      ASSERT_TRUE((first >= 'A' && first <= 'Z') || first == '\xC3') << *sentence;
    }
  }
}

TEST(Corpus, UsesTheWholeLexicon) {
  std::unordered_set<std::string> words;
  for (const SentencePair& pair : large_corpus().train) {
    for (std::string& word : alignment_tokens(pair.source)) words.insert(std::move(word));
  }
  for (const grammar::Noun& noun : grammar::nouns())
    EXPECT_TRUE(words.contains(std::string(noun.german))) << noun.german;
  for (const grammar::Verb& verb : grammar::verbs()) {
    bool used =
        words.contains(std::string(verb.german.participle)) || words.contains(std::string(verb.german.infinitive));
    EXPECT_TRUE(used) << verb.german.infinitive;
  }
}

TEST(Corpus, ShowsEveryLengthAndManyStructures) {
  Index questions = 0, commands = 0, commas = 0, longest = 0;
  const auto& train = large_corpus().train;
  for (const SentencePair& pair : train) {
    questions += pair.source.back() == '?';
    commands += pair.source.back() == '!';
    commas += pair.source.find(',') != std::string::npos;
    longest = std::max(longest, static_cast<Index>(alignment_tokens(pair.source).size()));
  }
  auto share = [&](Index count) { return static_cast<double>(count) / static_cast<double>(train.size()); };
  EXPECT_GT(share(questions), 0.08);
  EXPECT_LT(share(questions), 0.4);
  EXPECT_GT(share(commands), 0.02);
  EXPECT_GT(share(commas), 0.2);
  EXPECT_LT(share(commas), 0.6);
  EXPECT_GE(longest, 20);
}

TEST(CountSentences, IsMoreThanAMillion) { EXPECT_GE(count_sentences(), 1e6); }

TEST(AlignmentTokens, SplitMarksFromTheEndsOfWords) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(alignment_tokens("Ja, gut."), (Words{"Ja", ",", "gut", "."}));
  EXPECT_EQ(alignment_tokens("Was?!"), (Words{"Was", "?", "!"}));
  EXPECT_EQ(alignment_tokens("  um 8.30 Uhr:\t. "), (Words{"um", "8.30", "Uhr", ":", "."}));
  EXPECT_EQ(alignment_tokens("Anna's o'clock"), (Words{"Anna's", "o'clock"}));
  EXPECT_EQ(alignment_tokens("..."), (Words{".", ".", "."}));
  EXPECT_TRUE(alignment_tokens("").empty());
  EXPECT_TRUE(alignment_tokens(" \n").empty());
}

TEST(WriteCorpus, WritesThreeFilesAPartWithALineAPair) {
  auto folder = std::filesystem::temp_directory_path() / "heed_corpus_test" / "deep";
  std::filesystem::remove_all(folder.parent_path());
  Corpus corpus = generate_corpus({.pairs = 50, .seed = 2, .validation = 6, .test = 5});
  write_corpus(corpus, folder);
  const std::pair<const char*, const std::vector<SentencePair>*> parts[] = {
      {"train", &corpus.train}, {"valid", &corpus.validation}, {"test", &corpus.test}};
  for (const auto& [name, pairs] : parts) {
    auto sources = read_text_lines(folder / (std::string(name) + ".de"));
    auto targets = read_text_lines(folder / (std::string(name) + ".en"));
    auto links = read_text_lines(folder / (std::string(name) + ".align"));
    ASSERT_EQ(sources.size(), pairs->size());
    ASSERT_EQ(targets.size(), pairs->size());
    ASSERT_EQ(links.size(), pairs->size());
    for (std::size_t i = 0; i < pairs->size(); ++i) {
      EXPECT_EQ(sources[i], (*pairs)[i].source);
      EXPECT_EQ(targets[i], (*pairs)[i].target);
      std::istringstream text(links[i]);
      std::vector<WordLink> read;
      WordLink link;
      char dash = ' ';
      while (text >> link.source >> dash >> link.target) read.push_back(link);
      EXPECT_EQ(read, (*pairs)[i].alignment);
    }
  }
  std::filesystem::remove_all(folder.parent_path());
}

TEST(WriteCorpus, RefusesAFolderThatAnotherWriterIsAtWorkIn) {
  const auto folder = std::filesystem::temp_directory_path() / "heed_corpus_test_locked";
  const Corpus corpus = generate_corpus({.pairs = 5, .validation = 1, .test = 1});
  write_corpus(corpus, folder);
  std::filesystem::remove(folder / "train.de");
  {
    const FileLock lock(folder / ".lock");
    EXPECT_THROW(write_corpus(corpus, folder), Error);
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "train.de"));
  write_corpus(corpus, folder);
  EXPECT_TRUE(std::filesystem::exists(folder / "train.de"));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace heed
