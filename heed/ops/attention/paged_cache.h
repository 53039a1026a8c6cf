// A key/value cache in pages: sequences of unequal length share one pool, beams share what they have in common, and
// nothing moves when a sequence grows (Kwon et al. 2023, section 4).
//
//   PagedCache cache({.key_heads = 8, .width = 64, .value_width = 64, .pages = 1024}, batch);
//   cache.append(k, v);                                    // of the new tokens, [B, Hk, L, D]
//   attention(q, cache.keys(), cache.values(), cache.spec(Mask::causal(Anchor::length)), {.out = o}, workspace);
//   cache.reorder(parents);                                // beam i goes on from beam parents[i]
#pragma once

#include <span>
#include <vector>

#include "heed/ops/attention/spec/spec.h"
#include "heed/tensor/tensor.h"

namespace heed {

struct PagedCacheOptions {
  Index key_heads = 1, width = 1, value_width = 1;
  Index page = 16;  // tokens to a page
  Index pages = 1;  // in the pool
  DType dtype = DType::f32;
};

class PagedCache {
 public:
  // `batch` empty sequences. Throws heed::Error for sizes below 1 (batch: below 0) and types that are not floating.
  explicit PagedCache(const PagedCacheOptions& options, Index batch);

  Index batch() const { return static_cast<Index>(tables_.size()); }
  Index length(Index b) const { return lengths_[static_cast<std::size_t>(b)]; }
  Index free_pages() const { return static_cast<Index>(free_.size()); }

  // Appends rows k [B, Hk, L, D] and v [B, Hk, L, Dv] to every sequence, of any floating type: rounded to the cache's.
  // A page that sequences share is copied before it is written. Throws heed::Error where the shapes disagree, where k
  // or v lie in the cache's own pools, or where these have too few free pages, naming how many it wants; then nothing
  // has changed.
  void append(ConstView k, ConstView v);
  // Sequence i becomes what sequence from[i] is; the batch becomes from.size(). Pages are shared, not copied; those
  // that nobody uses any more are free again. Throws heed::Error for an index that there is not.
  void reorder(std::span<const Index> from);

  // The pools: [pages, Hk, page, D] and [pages, Hk, page, Dv].
  ConstView keys() const { return keys_; }
  ConstView values() const { return values_; }
  // What attention() reads them with: the page table, the lengths, and a mask of one's own beside those. It is of
  // the cache as it stands: the next append or reorder needs another one.
  AttentionSpec spec(const Mask& mask = {}) const;

 private:
  Index pages_wanted(Index rows) const;
  Index take_page();
  void drop_page(Index page);
  // The page of the sequence's next row, its own.
  Index writable_page(std::size_t b);
  void publish();

  PagedCacheOptions options_;
  Tensor keys_, values_;
  std::vector<Index> free_;                 // pages, the next to be taken last
  std::vector<Index> users_;                // of each page
  std::vector<std::vector<Index>> tables_;  // of each sequence
  std::vector<Index> lengths_;
  Tensor page_table_, length_table_;  // what attention reads: i64 [B, P] and [B]
};

}  // namespace heed
