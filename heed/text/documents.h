// Text for a language model: documents, one a line, as passages of ids that are packed end to end.
//
//   Documents documents = encode_documents(read_text_lines("train.txt"), vocabulary, /*max_length=*/256);
//   for (const std::vector<Index>& passages : plan_packed_batches(documents, /*tokens=*/4096, seed, epoch)) {
//     PackedBatch batch = pack(documents, passages);
//     ...
//   }
//
// There is no padding, and every id of a document and its end symbol is predicted once in an epoch.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "heed/base/index.h"
#include "heed/text/batching.h"
#include "heed/text/text_encoding.h"

namespace heed {

// What a model reads in one go: output[t] is what follows input[0] to input[t]. The first passage of a document begins
// with the begin symbol and the last ends with the end symbol; a document of more ids than a model can hold is several
// passages, each beginning with the last id of the one before it.
struct Passage {
  std::vector<int> input, output;  // of one length

  Index length() const { return static_cast<Index>(input.size()); }
  friend bool operator==(const Passage&, const Passage&) = default;
};

// A document's passages; none where it has no ids. A vocabulary that has no begin or no end symbol adds none: then the
// first id is predicted by nobody. Throws heed::Error if max_length is below 1.
std::vector<Passage> passages_of(std::span<const int> ids, const SymbolIds& symbols, Index max_length);

struct Documents {
  std::vector<Passage> passages;
  Index count = 0;          // of documents
  Index dropped_empty = 0;  // lines without ids
  Index tokens = 0;         // that passages predict
  std::size_t bytes = 0;    // of the documents as text, each with the end of its line

  Index size() const { return static_cast<Index>(passages.size()); }
};

// Encodes every line, on all threads, in order. Throws heed::Error if max_length is below 1, or no line has ids.
Documents encode_documents(std::span<const std::string> lines, const TextEncoding& encoding, Index max_length);

// Plans one epoch: every passage is in exactly one batch of at most `tokens` tokens. Passages are shuffled.
// A pure function of its arguments. Throws heed::Error where a passage alone is over the budget.
BatchPlan plan_packed_batches(const Documents& documents, Index tokens, std::uint64_t seed, std::uint64_t epoch);

// Passages end to end: passage n is [offsets[n], offsets[n + 1]) of input and output.
struct PackedBatch {
  std::vector<int> input, output;
  std::vector<std::int32_t> offsets;

  Index tokens() const { return static_cast<Index>(input.size()); }
};

// Packs the passages with the given indices. Throws heed::Error if there is none or one is out of range.
PackedBatch pack(const Documents& documents, std::span<const Index> indices);

}  // namespace heed
