#include "heed/corpus/corpus.h"

#include <fmt/core.h>

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "heed/base/check.h"
#include "heed/base/file.h"
#include "heed/base/file_lock.h"
#include "heed/base/file_writer.h"
#include "heed/base/parallel.h"
#include "heed/base/random.h"
#include "heed/corpus/sentence.h"

namespace heed {
namespace {

using grammar::Phrase;
using grammar::Word;
using grammar::Words;

constexpr std::size_t kMinWords = 3;
constexpr std::size_t kMaxWords = 22;

bool linked(const Word& source, const Word& target) {
  auto has = [&](int meaning) { return meaning != 0 && (target.meaning == meaning || target.also == meaning); };
  return has(source.meaning) || has(source.also);
}

std::vector<WordLink> gold_alignment(const Phrase& phrase) {
  std::vector<WordLink> links;
  for (std::size_t i = 0; i < phrase.german.size(); ++i) {
    for (std::size_t j = 0; j < phrase.english.size(); ++j) {
      if (linked(phrase.german[i], phrase.english[j])) links.push_back({static_cast<int>(i), static_cast<int>(j)});
    }
  }
  return links;
}

// The pair number `index` of a seed, before repetitions are dropped.
SentencePair draw_pair(std::uint64_t seed, Index index) {
  Rng rng(seed, static_cast<std::uint64_t>(index));
  grammar::Sampler sampler(rng);
  while (true) {
    Phrase phrase = grammar::sample_sentence(sampler);
    auto [shorter, longer] = std::minmax({phrase.german.size(), phrase.english.size()});
    if (shorter < kMinWords || longer > kMaxWords) continue;
    return {grammar::join(phrase.german), grammar::join(phrase.english), gold_alignment(phrase)};
  }
}

void write_part(const std::vector<SentencePair>& pairs, const std::filesystem::path& folder, std::string_view name) {
  std::string source, target, alignment;
  for (const SentencePair& pair : pairs) {
    source += pair.source + '\n';
    target += pair.target + '\n';
    alignment += alignment_text(pair.alignment) + '\n';
  }
  write_file(folder / fmt::format("{}.de", name), source);
  write_file(folder / fmt::format("{}.en", name), target);
  write_file(folder / fmt::format("{}.align", name), alignment);
}

}  // namespace

Corpus generate_corpus(const CorpusOptions& options, const Progress& progress) {
  bool counts_fit = options.pairs >= 0 && options.validation >= 0 && options.test >= 0 && options.pairs <= kMostPairs &&
                    options.validation <= kMostPairs && options.test <= kMostPairs;
  Index wanted = counts_fit ? options.pairs + options.validation + options.test : kMostPairs + 1;
  HEED_CHECK(wanted <= kMostPairs,
             "generate_corpus: pairs {}, validation {}, test {} must be >= 0 and sum to at most {}", options.pairs,
             options.validation, options.test, kMostPairs);

  // Test and validation come first: what is frequent is then theirs, and train goes without it.
  std::vector<SentencePair> pairs;
  pairs.reserve(static_cast<std::size_t>(wanted));
  std::unordered_set<std::string> sources, targets;
  constexpr Index kLeast = 64, kMost = 8192;  // at a time: which pairs there are does not depend on it
  std::vector<SentencePair> block;
  for (Index begin = 0; static_cast<Index>(pairs.size()) < wanted; begin += std::ssize(block)) {
    block.resize(static_cast<std::size_t>(std::clamp(wanted - std::ssize(pairs), kLeast, kMost)));
    parallel_for(std::ssize(block), kLeast, [&](Index first, Index last) {
      for (Index i = first; i < last; ++i) block[static_cast<std::size_t>(i)] = draw_pair(options.seed, begin + i);
    });
    for (SentencePair& pair : block) {
      if (static_cast<Index>(pairs.size()) == wanted) break;
      if (sources.contains(pair.source) || targets.contains(pair.target)) continue;
      sources.insert(pair.source);
      targets.insert(pair.target);
      pairs.push_back(std::move(pair));
    }
    if (progress) progress(std::ssize(pairs));
  }

  Corpus corpus;
  auto test_end = pairs.begin() + options.test;
  auto validation_end = test_end + options.validation;
  corpus.test.assign(std::make_move_iterator(pairs.begin()), std::make_move_iterator(test_end));
  corpus.validation.assign(std::make_move_iterator(test_end), std::make_move_iterator(validation_end));
  corpus.train.assign(std::make_move_iterator(validation_end), std::make_move_iterator(pairs.end()));
  return corpus;
}

std::vector<std::filesystem::path> corpus_files(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const char* part : {"train", "valid", "test"}) {
    for (const char* ending : {"de", "en", "align"}) files.push_back(folder / fmt::format("{}.{}", part, ending));
  }
  return files;
}

void write_corpus(const Corpus& corpus, const std::filesystem::path& folder) {
  make_folder(folder);
  const FileLock lock(folder / ".lock");  // two corpora in one folder would mix their files
  write_part(corpus.train, folder, "train");
  write_part(corpus.validation, folder, "valid");
  write_part(corpus.test, folder, "test");
}

std::vector<std::string> alignment_tokens(std::string_view sentence) {
  std::vector<std::string> tokens;
  while (true) {
    std::size_t begin = sentence.find_first_not_of(" \t\r\n");
    if (begin == std::string_view::npos) return tokens;
    sentence.remove_prefix(begin);
    std::string_view piece = sentence.substr(0, sentence.find_first_of(" \t\r\n"));
    sentence.remove_prefix(piece.size());
    std::size_t last = piece.find_last_not_of(".,?!:");
    std::size_t word = last == std::string_view::npos ? 0 : last + 1;
    if (word > 0) tokens.emplace_back(piece.substr(0, word));
    for (char mark : piece.substr(word)) tokens.emplace_back(1, mark);
  }
}

std::string alignment_text(const std::vector<WordLink>& alignment) {
  std::string text;
  for (const WordLink& link : alignment) {
    if (!text.empty()) text += ' ';
    text += fmt::format("{}-{}", link.source, link.target);
  }
  return text;
}

double count_sentences() {
  auto phrases = [](grammar::Kinds kinds) {
    double sum = 0.0;
    for (const grammar::Noun& noun : grammar::nouns()) {
      if ((noun.kinds & kinds) == 0 || (noun.kinds & grammar::kLanguage) != 0) continue;
      grammar::Kinds described = noun.kinds & ~(grammar::kMass | grammar::kWeak);
      auto fits = [&](const grammar::Adjective& adjective) { return (adjective.kinds & described) != 0; };
      sum += 1.0 + static_cast<double>(std::ranges::count_if(grammar::adjectives(), fits));
    }
    return sum;
  };
  double sum = 0.0;
  for (const grammar::Verb& verb : grammar::verbs()) {
    if (verb.frame == grammar::Frame::kTransitive) sum += phrases(verb.subject) * phrases(verb.object);
  }
  return sum;
}

}  // namespace heed
