// Sentence pairs, as text and as ids.
//
//   ParallelCorpus text = read_parallel_corpus("train.de", "train.en");       // line n beside line n
//   EncodedCorpus corpus = encode_corpus(text, german, english, 100);
//   corpus.pairs[0].target;                                                   // ids, without begin and end
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "heed/base/index.h"
#include "heed/text/text_encoding.h"

namespace heed {

struct ParallelCorpus {
  std::vector<std::string> source, target;  // of one length
  Index dropped_empty = 0;                  // pairs left out because a side was blank

  Index size() const { return static_cast<Index>(source.size()); }
};

// Reads two files of UTF-8 text whose lines correspond. Pairs with a side that is empty or only ASCII white space are
// left out and counted. Throws heed::Error naming the files if their line counts differ, or no pair is left; naming
// file:line for invalid UTF-8.
ParallelCorpus read_parallel_corpus(const std::filesystem::path& source_path, const std::filesystem::path& target_path);

struct EncodedPair {
  std::vector<int> source, target;  // without begin and end

  friend bool operator==(const EncodedPair&, const EncodedPair&) = default;
};

struct EncodedCorpus {
  std::vector<EncodedPair> pairs = {};
  Index dropped_long = 0;  // pairs with a side of more than max_length ids
  SymbolIds source_symbols = kOwnSymbols, target_symbols = kOwnSymbols;  // what batches put around the ids
  Index dropped_empty = 0;  // pairs with a side of no ids; those that ParallelCorpus counts are not counted again

  Index size() const { return static_cast<Index>(pairs.size()); }
};

// Encodes every pair, on all threads, in order; leaves out and counts the pairs with an empty side or a side of more
// than max_length >= 1 ids. Throws heed::Error if no pair is left, or source and target have different lengths.
EncodedCorpus encode_corpus(const ParallelCorpus& corpus, const TextEncoding& source, const TextEncoding& target,
                            Index max_length);

}  // namespace heed
