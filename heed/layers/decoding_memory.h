// What a decoder's self-attention keeps of the tokens that it has read, so that one more costs the work of one: keys
// and values in pages (PagedMemory), or their sums where attention is linear (LinearMemory). Rows are sequences, each
// of its own length; they enter, go different ways and leave.
//
//   std::unique_ptr<DecodingMemory> memory = attention.make_memory(DType::f32, Precision::bf16);
//   memory->admit(5);                              // rows that have read nothing
//   Var y = attention.step(context, x, *memory);   // one token of each
//   memory->select_rows(survivors);                // a beam search's choice
#pragma once

#include <span>
#include <vector>

#include "heed/ops/attention/attention.h"
#include "heed/ops/attention/linear_step.h"
#include "heed/ops/attention/paged_cache.h"

namespace heed {

class DecodingMemory {
 public:
  virtual ~DecodingMemory() = default;

  virtual Index rows() const = 0;
  // The tokens that a row has read.
  virtual Index length(Index row) const = 0;

  // Adds rows that have read nothing behind those that there are.
  virtual void admit(Index rows) = 0;
  // Adds rows that have read lengths[i] tokens, whose keys and values are the first of k [n, Hk, L, D] and v [n, Hk, L,
  // Dv].
  virtual void admit(ConstView k, ConstView v, std::span<const Index> lengths) = 0;
  // Keeps, in this order, the given rows; one may come several times.
  virtual void select_rows(std::span<const Index> rows) = 0;

  // Whether rows that go back and read on are those that read all of it: the keys and values of each token are kept
  // apart, and as they were given.
  virtual bool can_go_back() const = 0;
  // Forgets all but the first `tokens` tokens of each row. Throws heed::Error where some rows have read more than
  // others, or fewer.
  virtual void go_back(Index tokens) = 0;

  // More tokens of each row, as many of each (one, of a memory that cannot go back): keeps their keys and values and
  // attends to all so far. q [B, H, L, D], k and v [B, Hk, L + extra, D]: what comes after the first L is attended to
  // and not kept. out [B, H, L, Dv] is overwritten. spec's mask counts positions by Anchor::length. Where `weights` is
  // not null and weights are formed, it becomes [B, H, L, n], with n the length of the longest row and its extra keys,
  // and zeros behind the others.
  virtual void attend(ConstView q, ConstView k, ConstView v, const AttentionSpec& spec, View out, Tensor* weights,
                      Workspace& workspace) = 0;
};

// Any attention. Rows share the pages that they have in common.
class PagedMemory : public DecodingMemory {
 public:
  // Keys and values come in one type and are kept in another or the same.
  PagedMemory(Index key_heads, Index width, DType given, DType kept)
      : is_exact_(given == kept),
        cache_({.key_heads = key_heads, .width = width, .value_width = width, .page = kPage, .dtype = kept}) {}

  Index rows() const override { return cache_.batch(); }
  Index length(Index row) const override { return cache_.length(row); }
  void admit(Index rows) override { cache_.admit(rows); }
  void admit(ConstView k, ConstView v, std::span<const Index> lengths) override { cache_.admit(k, v, lengths); }
  void select_rows(std::span<const Index> rows) override { cache_.reorder(rows); }
  bool can_go_back() const override { return is_exact_; }
  void go_back(Index tokens) override;
  void attend(ConstView q, ConstView k, ConstView v, const AttentionSpec& spec, View out, Tensor* weights,
              Workspace& workspace) override;

  // Attends, with any number of queries, to what there is: the source of a translation, say.
  void attend(ConstView q, const AttentionSpec& spec, View out, Tensor* weights, Workspace& workspace) const;

 private:
  // The keys of most sentences lie in one page, where they are read without being gathered.
  static constexpr Index kPage = 32;

  bool is_exact_;
  PagedCache cache_;
};

// Linear attention without extra keys: a step costs the same after a thousand tokens as after one. It forms no weights.
class LinearMemory : public DecodingMemory {
 public:
  LinearMemory(Index key_heads, Index width, DType dtype, const Score& score);

  Index rows() const override { return std::ssize(lengths_); }
  Index length(Index row) const override { return lengths_[static_cast<std::size_t>(row)]; }
  void admit(Index rows) override;
  void admit(ConstView k, ConstView v, std::span<const Index> lengths) override;
  void select_rows(std::span<const Index> rows) override;
  bool can_go_back() const override { return false; }
  void go_back(Index tokens) override;
  void attend(ConstView q, ConstView k, ConstView v, const AttentionSpec& spec, View out, Tensor* weights,
              Workspace& workspace) override;

 private:
  Index key_heads_, width_, features_;
  DType dtype_;
  Score score_;
  LinearState state_;
  std::vector<Index> lengths_;
};

}  // namespace heed
