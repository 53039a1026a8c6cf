// A key/value cache in pages: sequences of unequal length share one pool, beams share what they have in common, and
// nothing moves when a sequence grows (Kwon et al. 2023, section 4).
//
//   PagedCache cache({.key_heads = 8, .width = 64, .value_width = 64});
//   cache.admit(k, v, lengths);                            // prompts, [n, Hk, L, D], of lengths of their own
//   cache.append(k1, v1);                                  // the next token of each, [B, Hk, 1, D]
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
  Index page = 16;           // tokens to a page
  Index pages = 0;           // in the pool; 0: it grows as they are needed
  DType dtype = DType::f32;  // i8: with a scale for each row, by quantise_rows
};

class PagedCache {
 public:
  // `batch` empty sequences. Throws heed::Error for sizes below 1 (batch and pages: below 0) and types that are not
  // floating or i8.
  explicit PagedCache(const PagedCacheOptions& options, Index batch = 0);

  Index batch() const { return static_cast<Index>(tables_.size()); }
  Index length(Index b) const { return lengths_[static_cast<std::size_t>(b)]; }
  // Pages of the pool that nobody uses.
  Index free_pages() const { return static_cast<Index>(free_.size()); }

  // Adds sequences behind those that there are: of k [n, Hk, L, D] and v [n, Hk, L, Dv], of any floating type, the
  // first lengths[i] rows are sequence i, rounded to the cache's type. Throws heed::Error as append does, and for a
  // length outside [0, L].
  void admit(ConstView k, ConstView v, std::span<const Index> lengths);
  // Adds empty sequences.
  void admit(Index sequences);
  // Appends rows k [B, Hk, L, D] and v [B, Hk, L, Dv] to every sequence. A page that sequences share is copied before
  // it is written. Throws heed::Error where the shapes disagree, where k or v lie in the cache's own pools, or where
  // these have too few free pages and may not grow, naming how many it wants; then nothing has changed.
  void append(ConstView k, ConstView v);
  // Takes the last rows of every sequence back. Throws heed::Error where one has fewer.
  void truncate(Index rows);
  // Sequence i becomes what sequence from[i] is; the batch becomes from.size(). Pages are shared, not copied; those
  // that nobody uses any more are free again. Throws heed::Error for an index that there is not.
  void reorder(std::span<const Index> from);

  // The pools: [pages, Hk, page, D] and [pages, Hk, page, Dv], with strides: each head's pages lie one after another.
  ConstView keys() const { return by_pages(keys_.view()); }
  ConstView values() const { return by_pages(values_.view()); }
  // What attention() reads them with: the page table, the lengths, the scales of i8, and a mask of one's own beside. It
  // is of the cache as it stands: the next append or reorder needs another one.
  AttentionSpec spec(const Mask& mask = {}) const;

 private:
  void check_rows(const char* caller, const ConstView& k, const ConstView& v, Index sequences) const;
  // Pages that `rows` more rows of every sequence need.
  Index pages_wanted(Index rows) const;
  void resize_pools(Index pages);
  void provide_pages(const char* caller, Index wanted);
  Index take_page();
  void drop_page(Index page);
  // The page of the sequence's next row, its own.
  Index writable_page(std::size_t b);
  // Rows [0, count) of sequence `from` of k and v, behind those of sequence b.
  void write(std::size_t b, const ConstView& k, const ConstView& v, Index from, Index count);
  void publish();

  // A pool by its pages, [pages, Hk, page, ...].
  static View by_pages(const View& pool) { return transpose(pool, 0, 1); }

  PagedCacheOptions options_;
  // The pools, [Hk, pages, page, ...]: a sequence that takes pages in turn lies in one run of each head, which memory
  // gives faster than pieces.
  Tensor keys_, values_;
  Tensor key_scales_, value_scales_;        // i8
  std::vector<Index> free_;                 // pages, the next to be taken last
  std::vector<Index> users_;                // of each page
  std::vector<std::vector<Index>> tables_;  // of each sequence
  std::vector<Index> lengths_;
  Tensor page_table_, length_table_;  // what attention reads: i64 [B, P] and [B]
};

}  // namespace heed
