// Batches by token budget: which pairs go together, and their padded ids.
//
//   const std::vector<PairLength> lengths = padded_lengths(corpus);
//   for (const std::vector<Index>& pairs : plan_batches(lengths, {.token_budget = 4096}, seed, epoch)) {
//     Batch batch = make_batch(corpus, pairs);
//     ...
//   }
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heed/base/index.h"
#include "heed/text/parallel_corpus.h"

namespace heed {

// Tokens that a pair takes in a batch: source + end, and target + end (or begin + target).
struct PairLength {
  Index source, target;
};

std::vector<PairLength> padded_lengths(const EncodedCorpus& corpus);

struct BatchingOptions {
  Index token_budget =
      4096;  // a batch of R pairs has R * max(source) <= token_budget and R * max(target) <= token_budget
  Index pool_batches = 100;  // pairs are sorted by length only within random pools of about this many batches
};

// The pairs of each batch, in the order of training.
using BatchPlan = std::vector<std::vector<Index>>;

// Plans one epoch: every index into `lengths` is in exactly one batch. The pairs are shuffled and cut into pools; each
// pool is sorted by (target, source) length, ties left shuffled, and cut greedily into batches; all batches are
// shuffled. A pure function of its arguments: a run that resumes plans the same epoch again. Throws heed::Error if an
// option is not positive, or a pair alone is over the budget.
BatchPlan plan_batches(std::span<const PairLength> lengths, const BatchingOptions& options, std::uint64_t seed,
                       std::uint64_t epoch);

// What Batch::target_output holds where nothing is to be predicted: no id.
inline constexpr int kNoTarget = -1;

// Source sentences, each with the end symbol, padded to one length.
struct SourceBatch {
  Index rows = 0;
  Index source_length = 0;            // the longest, end included
  std::vector<int> source;            // [rows, source_length]: source, end, pad...
  std::vector<Index> source_lengths;  // [rows], end included
};

// Sentence pairs for teacher forcing: target_output at step t is what follows target_input up to t.
struct Batch : SourceBatch {
  Index target_length = 0;
  std::vector<int> target_input;      // [rows, target_length]: begin, target, pad...
  std::vector<int> target_output;     // [rows, target_length]: target, end, kNoTarget...
  std::vector<Index> target_lengths;  // [rows], begin or end included
  Index target_tokens = 0;            // the sum of target_lengths: how many outputs are not padding
};

// Pads the sentences (ids without begin and end; one may be empty). A vocabulary that has no end symbol adds none, and
// one that has no pad symbol pads with 0: lengths say what counts. Throws heed::Error if there is none.
SourceBatch make_source_batch(std::span<const std::vector<int>> sentences, const SymbolIds& symbols = kOwnSymbols);

// Pads the pairs of the corpus with the given indices, row i being pair indices[i]. Throws heed::Error if there is no
// index or one is out of range, or the target vocabulary has no begin or end symbol.
Batch make_batch(const EncodedCorpus& corpus, std::span<const Index> indices);

}  // namespace heed
