#include "heed/text/documents.h"

#include <algorithm>
#include <numeric>

#include "heed/base/check.h"
#include "heed/base/parallel.h"
#include "heed/base/random.h"

namespace heed {
namespace {

// Keeps the epochs' random streams away from those that others take from the same seed.
constexpr std::uint64_t kPackingStream = 0x7061636b00000000;  // "pack"

}  // namespace

std::vector<Passage> passages_of(std::span<const int> ids, const SymbolIds& symbols, Index max_length) {
  HEED_CHECK(max_length >= 1, "passages_of: max_length must be at least 1, not {}", max_length);
  std::vector<Passage> passages;
  if (ids.empty()) return passages;
  std::vector<int> all;
  if (symbols.begin >= 0) all.push_back(symbols.begin);
  all.insert(all.end(), ids.begin(), ids.end());
  if (symbols.end >= 0) all.push_back(symbols.end);
  const Index predicted = std::ssize(all) - 1;
  for (Index begin = 0; begin < predicted; begin += max_length) {
    const Index end = std::min(begin + max_length, predicted);
    passages.push_back({{all.begin() + begin, all.begin() + end}, {all.begin() + begin + 1, all.begin() + end + 1}});
  }
  return passages;
}

Documents encode_documents(std::span<const std::string> lines, const TextEncoding& encoding, Index max_length) {
  constexpr Index kGrain = 64;
  HEED_CHECK(max_length >= 1, "encode_documents: max_length must be at least 1, not {}", max_length);
  std::vector<std::vector<int>> ids(lines.size());
  parallel_for(std::ssize(lines), kGrain, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) ids[i] = encoding.ids(lines[i]);
  });
  Documents documents;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (ids[i].empty()) {
      ++documents.dropped_empty;
      continue;
    }
    ++documents.count;
    documents.bytes += lines[i].size() + 1;
    for (Passage& passage : passages_of(ids[i], encoding.symbols, max_length)) {
      documents.tokens += passage.length();
      documents.passages.push_back(std::move(passage));
    }
  }
  HEED_CHECK(documents.count > 0, "encode_documents: none of the {} lines has ids", lines.size());
  return documents;
}

BatchPlan plan_packed_batches(const Documents& documents, Index tokens, std::uint64_t seed, std::uint64_t epoch) {
  HEED_CHECK(tokens >= 1, "plan_packed_batches: tokens must be at least 1, not {}", tokens);
  std::vector<Index> order(documents.passages.size());
  std::iota(order.begin(), order.end(), Index{0});
  Rng rng(seed, kPackingStream + epoch);
  rng.shuffle(std::span(order));
  BatchPlan plan;
  Index filled = tokens;
  for (const Index passage : order) {
    const Index length = documents.passages[passage].length();
    HEED_CHECK(length <= tokens, "plan_packed_batches: passage {} has {} tokens, over the budget of {}", passage,
               length, tokens);
    if (filled + length > tokens) {
      plan.emplace_back();
      filled = 0;
    }
    plan.back().push_back(passage);
    filled += length;
  }
  return plan;
}

PackedBatch pack(const Documents& documents, std::span<const Index> indices) {
  HEED_CHECK(!indices.empty(), "pack: there is no passage");
  PackedBatch batch{{}, {}, {0}};
  for (const Index index : indices) {
    HEED_CHECK(index >= 0 && index < documents.size(), "pack: passage {} is not among the {}", index, documents.size());
    const Passage& passage = documents.passages[index];
    batch.input.insert(batch.input.end(), passage.input.begin(), passage.input.end());
    batch.output.insert(batch.output.end(), passage.output.begin(), passage.output.end());
    batch.offsets.push_back(static_cast<std::int32_t>(batch.tokens()));
  }
  return batch;
}

}  // namespace heed
