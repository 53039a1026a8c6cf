#include "heed/text/batching.h"

#include <algorithm>
#include <numeric>

#include "heed/base/check.h"
#include "heed/base/random.h"

namespace heed {
namespace {

// Keeps the epochs' random streams away from those that others take from the same seed.
constexpr std::uint64_t kBatchingStream = 0x6261746368000000;  // "batch"

// Orders the pool by target length, then by source length: up within one target length, down within the next, so that a
// batch that crosses from one target length to the next meets sources of like length there. Equal pairs keep their
// order.
void sort_by_length(std::span<Index> pool, std::span<const PairLength> lengths) {
  std::stable_sort(pool.begin(), pool.end(), [&](Index left, Index right) {
    const PairLength a = lengths[left], b = lengths[right];
    if (a.target != b.target) return a.target < b.target;
    return a.target % 2 == 0 ? a.source < b.source : a.source > b.source;
  });
}

// Cuts the pool into batches, each as long as the budget allows, and appends them to the plan.
void cut(std::span<const Index> pool, std::span<const PairLength> lengths, Index budget, BatchPlan& plan) {
  std::vector<Index> batch;
  Index longest = 0;
  for (const Index pair : pool) {
    const Index length = std::max(lengths[pair].source, lengths[pair].target);
    const Index with_it = std::max(longest, length);
    if (!batch.empty() && (static_cast<Index>(batch.size()) + 1) * with_it > budget) {
      plan.push_back(std::move(batch));
      batch.clear();
      longest = length;
    } else {
      longest = with_it;
    }
    batch.push_back(pair);
  }
  if (!batch.empty()) plan.push_back(std::move(batch));
}

// What stands behind a row's end: nobody looks at it, but it must be an id.
int padding(const SymbolIds& symbols) { return std::max(symbols.pad, 0); }

// Pads `rows` sentences, the i-th being sentence(i).
template <typename Sentence>
void pad_source(Index rows, const Sentence& sentence, const SymbolIds& symbols, SourceBatch& batch) {
  const Index ends = symbols.end >= 0 ? 1 : 0;
  batch.rows = rows;
  batch.source_lengths.reserve(rows);
  for (Index i = 0; i < rows; ++i) batch.source_lengths.push_back(static_cast<Index>(sentence(i).size()) + ends);
  batch.source_length = *std::max_element(batch.source_lengths.begin(), batch.source_lengths.end());
  batch.source.assign(rows * batch.source_length, padding(symbols));
  for (Index i = 0; i < rows; ++i) {
    const std::span<const int> ids = sentence(i);
    int* row = batch.source.data() + i * batch.source_length;
    int* end = std::copy(ids.begin(), ids.end(), row);
    if (ends > 0) *end = symbols.end;
  }
}

}  // namespace

std::vector<PairLength> padded_lengths(const EncodedCorpus& corpus) {
  std::vector<PairLength> lengths;
  lengths.reserve(corpus.pairs.size());
  for (const EncodedPair& pair : corpus.pairs) {
    lengths.push_back({static_cast<Index>(pair.source.size()) + 1, static_cast<Index>(pair.target.size()) + 1});
  }
  return lengths;
}

BatchPlan plan_batches(std::span<const PairLength> lengths, const BatchingOptions& options, std::uint64_t seed,
                       std::uint64_t epoch) {
  const Index budget = options.token_budget;
  HEED_CHECK(budget >= 1, "plan_batches: token_budget must be at least 1, not {}", budget);
  HEED_CHECK(options.pool_batches >= 1, "plan_batches: pool_batches must be at least 1, not {}", options.pool_batches);
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    HEED_CHECK(lengths[i].source >= 1 && lengths[i].target >= 1, "plan_batches: pair {} has the lengths {} and {}", i,
               lengths[i].source, lengths[i].target);
    HEED_CHECK(lengths[i].source <= budget && lengths[i].target <= budget,
               "plan_batches: pair {} takes {} source and {} target tokens, over the token_budget of {}", i,
               lengths[i].source, lengths[i].target, budget);
  }
  Rng rng(seed, kBatchingStream + epoch);
  std::vector<Index> order(lengths.size());
  std::iota(order.begin(), order.end(), Index{0});
  rng.shuffle(std::span(order));

  BatchPlan plan;
  std::size_t begin = 0;
  Index tokens = 0;  // of the pool that starts at begin, counting the longer side, without padding
  for (std::size_t end = 1; end <= order.size(); ++end) {
    const PairLength length = lengths[order[end - 1]];
    tokens += std::max(length.source, length.target);
    if (tokens / budget < options.pool_batches && end < order.size()) continue;
    const auto pool = std::span(order).subspan(begin, end - begin);
    sort_by_length(pool, lengths);
    cut(pool, lengths, budget, plan);
    begin = end;
    tokens = 0;
  }
  rng.shuffle(std::span(plan));
  return plan;
}

SourceBatch make_source_batch(std::span<const std::vector<int>> sentences, const SymbolIds& symbols) {
  HEED_CHECK(!sentences.empty(), "make_source_batch: there is no sentence");
  SourceBatch batch;
  pad_source(
      static_cast<Index>(sentences.size()), [&](Index i) { return std::span(sentences[i]); }, symbols, batch);
  return batch;
}

Batch make_batch(const EncodedCorpus& corpus, std::span<const Index> indices) {
  HEED_CHECK(!indices.empty(), "make_batch: there is no pair");
  HEED_CHECK(corpus.target_symbols.begin >= 0 && corpus.target_symbols.end >= 0,
             "make_batch: the target vocabulary has no begin or no end symbol");
  for (const Index index : indices) {
    HEED_CHECK(index >= 0 && index < corpus.size(), "make_batch: pair {} is not in the corpus of {}", index,
               corpus.size());
  }
  Batch batch;
  const Index rows = static_cast<Index>(indices.size());
  pad_source(
      rows, [&](Index i) { return std::span(corpus.pairs[indices[i]].source); }, corpus.source_symbols, batch);
  for (const Index index : indices) {
    batch.target_lengths.push_back(static_cast<Index>(corpus.pairs[index].target.size()) + 1);
  }
  batch.target_length = *std::max_element(batch.target_lengths.begin(), batch.target_lengths.end());
  batch.target_tokens = std::accumulate(batch.target_lengths.begin(), batch.target_lengths.end(), Index{0});
  const SymbolIds& symbols = corpus.target_symbols;
  batch.target_input.assign(rows * batch.target_length, padding(symbols));
  batch.target_output.assign(rows * batch.target_length, kNoTarget);
  for (Index i = 0; i < rows; ++i) {
    const std::vector<int>& target = corpus.pairs[indices[i]].target;
    int* input = batch.target_input.data() + i * batch.target_length;
    int* output = batch.target_output.data() + i * batch.target_length;
    *input = symbols.begin;
    std::copy(target.begin(), target.end(), input + 1);
    *std::copy(target.begin(), target.end(), output) = symbols.end;
  }
  return batch;
}

}  // namespace heed
