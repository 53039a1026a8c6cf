#include "heed/text/parallel_corpus.h"

#include <algorithm>

#include "heed/base/check.h"
#include "heed/base/parallel.h"
#include "heed/base/text_lines.h"

namespace heed {
namespace {

bool is_blank(const std::string& line) { return line.find_first_not_of(" \t\n\v\f\r") == std::string::npos; }

}  // namespace

ParallelCorpus read_parallel_corpus(const std::filesystem::path& source_path,
                                    const std::filesystem::path& target_path) {
  HEED_CHECK(source_path != "-" || target_path != "-",
             "read_parallel_corpus: source and target cannot both be standard input");
  std::vector<std::string> source = read_text_lines(source_path);
  std::vector<std::string> target = read_text_lines(target_path);
  HEED_CHECK(source.size() == target.size(), "{} has {} lines, but {} has {}", source_path.string(), source.size(),
             target_path.string(), target.size());
  ParallelCorpus corpus;
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (is_blank(source[i]) || is_blank(target[i])) {
      ++corpus.dropped_empty;
      continue;
    }
    corpus.source.push_back(std::move(source[i]));
    corpus.target.push_back(std::move(target[i]));
  }
  HEED_CHECK(corpus.size() > 0, "{} and {}: none of the {} pairs of lines has text on both sides", source_path.string(),
             target_path.string(), source.size());
  return corpus;
}

EncodedCorpus encode_corpus(const ParallelCorpus& corpus, const TextEncoding& source, const TextEncoding& target,
                            Index max_length) {
  constexpr Index kGrain = 64;
  HEED_CHECK(corpus.source.size() == corpus.target.size(),
             "encode_corpus: {} source sentences, but {} target sentences", corpus.source.size(), corpus.target.size());
  HEED_CHECK(max_length >= 1, "encode_corpus: max_length must be at least 1, not {}", max_length);
  std::vector<EncodedPair> all(corpus.source.size());
  parallel_for(corpus.size(), kGrain, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) all[i] = {source.ids(corpus.source[i]), target.ids(corpus.target[i])};
  });
  EncodedCorpus encoded{.source_symbols = source.symbols, .target_symbols = target.symbols};
  encoded.pairs.reserve(all.size());
  for (EncodedPair& pair : all) {
    if (pair.source.empty() || pair.target.empty()) {
      ++encoded.dropped_empty;
    } else if (static_cast<Index>(std::max(pair.source.size(), pair.target.size())) > max_length) {
      ++encoded.dropped_long;
    } else {
      encoded.pairs.push_back(std::move(pair));
    }
  }
  HEED_CHECK(encoded.size() > 0,
             "encode_corpus: of {} pairs, {} have a side without ids and {} a side of more than {}: none is left",
             corpus.size(), encoded.dropped_empty, encoded.dropped_long, max_length);
  return encoded;
}

}  // namespace heed
