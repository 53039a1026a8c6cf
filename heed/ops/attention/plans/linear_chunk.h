// Attention whose score is a product of features and whose normaliser is a sum needs no matrix of scores: what keys and
// values have to say is one state of fixed size (Katharopoulos et al. 2020, section 3.2). Here is what its two
// directions share: which rows read which chunks of keys as a state, and a thread's scratch memory with the operands as
// f32 features.
#pragma once

#include "heed/kernels/gemm_tile.h"
#include "heed/ops/attention/plans/plan.h"
#include "heed/ops/attention/problem/score_features.h"

namespace heed {

// Keys are cut into chunks here, and the rows that end in one chunk into tiles.
inline constexpr Index kLinearChunk = 64;

// Some rows of a head. Each sees the keys before its end: whole chunks as a state, and `keys`, up to its end, one by
// one.
struct LinearTile {
  Index b, h;
  Range rows, keys;
};

// Row i of batch element b sees the keys [0, end(b, i)), and end ascends with i.
class LinearRows {
 public:
  explicit LinearRows(const AttentionProblem& problem) : c(problem) {}

  Index end(Index b, Index i) const { return c.mask.keys(b, 0, i).end; }
  // Keys that some row sees.
  Index keys(Index b) const { return c.queries == 0 ? 0 : end(b, c.queries - 1); }
  // Rows that see no key come first.
  Index dead(Index b) const { return first(b, 0); }
  // How many chunks the last row reads as a state.
  Index chunks(Index b) const { return whole_chunks(keys(b)); }
  // The keys of a chunk that some row sees.
  Range chunk_keys(Index b, Index chunk) const;
  // The rows that read as a state just the chunks before this one.
  Range chunk_rows(Index b, Index chunk) const { return {first(b, chunk), first(b, chunk + 1)}; }

  // Calls f(tile) for the rows of a chunk and head, in order.
  template <typename F>
  void for_tiles(Index b, Index h, Index chunk, F&& f) const {
    const Range rows = chunk_rows(b, chunk);
    for (Index i = rows.begin; i < rows.end; i += kLinearChunk) {
      const Range tile{i, std::min(rows.end, i + kLinearChunk)};
      const Index begin = std::min(chunk * kLinearChunk, keys(b));
      f(LinearTile{b, h, tile, {begin, std::max(begin, end(b, tile.end - 1))}});
    }
  }

 private:
  // Without a window all rows end at one key, and the state takes the last chunk too, be it whole or not; but a single
  // chunk is read one by one, by which a row with one key gets its value to the last bits.
  Index whole_chunks(Index end) const {
    if (c.spec.mask.window) return end / kLinearChunk;
    return end <= kLinearChunk ? 0 : (end + kLinearChunk - 1) / kLinearChunk;
  }
  // The first row that sees a key and reads `chunks` or more.
  Index first(Index b, Index chunks) const;

  const AttentionProblem& c;
};

// Rows are contiguous. The values have one more column, of ones, so that the sum of the scores is one more output:
// value_columns() = Dv + 1.
class LinearWork {
 public:
  static Index bytes(const AttentionProblem& c, const ScoreFeatures<float>& features, bool backward);
  LinearWork(const AttentionProblem& problem, const ScoreFeatures<float>& features, char* scratch, bool backward);

  Index value_columns() const { return columns_; }
  float* state() const { return state_; }        // [M, Dv + 1]
  float* keys() const { return keys_; }          // [chunk, M], features
  float* values() const { return values_; }      // [chunk, Dv + 1]
  float* queries() const { return queries_; }    // [tile, M], features
  float* rows() const { return rows_; }          // [tile, Dv + 1]: the output, or its gradient
  float* products() const { return products_; }  // [tile, chunk], of queries and keys
  // The backward pass alone:
  float* dproducts() const { return dproducts_; }  // [tile, chunk]
  float* dfeatures() const { return dfeatures_; }  // [chunk, M], of queries or of keys
  float* dvalues() const { return dvalues_; }      // [chunk, Dv]
  float* out() const { return out_; }              // [Dv]

  void load_keys(Index b, Index g, Range keys) const;
  void load_queries(const LinearTile& tile) const;

  void clear_state() const { std::fill_n(state_, c.features * columns_, 0.0f); }
  // state += features^T values, over `count` rows.
  void add_to_state(Index count, const float* features, const float* values) const;
  // Fills products() with queries . keys, and zero where the row does not see the key.
  void multiply_queries_by_keys(const LinearTile& tile) const;
  // Fills rows() with phi(q)^T S: the outputs before they are divided by their last number, the sum. The state counts
  // where `has_state`; products() is overwritten.
  void multiply_queries(const LinearTile& tile, bool has_state) const;
  // Clears what a row does not see of a [tile, chunk] matrix.
  void clear_unseen(const LinearTile& tile, float* matrix) const;

  // to [rows, width] (+)= a [rows, keys of the tile] b [keys, width], where a is zero for unseen keys.
  void add_keys(const LinearTile& tile, const float* a, const float* b, Index width, float* to, bool accumulate) const;
  // to [keys of the tile, width] += a^T b, b [rows, columns].
  void add_rows(const LinearTile& tile, const float* a, const float* b, Index columns, Index width, float* to) const;

  // Stores `count` rows of dfeatures() times the scale, taken back through the feature map, as gradients of x.
  // load(row, to) reads x; to: the place of the first row.
  template <typename Load>
  void store_input_gradients(Index count, const float* features, const Load& load, const View& to, Index offset) const {
    for (Index r = 0; r < count; ++r) {
      float* dphi = dfeatures_ + r * c.features;
      for (Index m = 0; m < c.features; ++m) dphi[m] *= static_cast<float>(c.scale);
      load(r, input_);
      features_.backward(input_, features + r * c.features, dphi, dinput_);
      store_row(dinput_, c.width, to, offset + r * to.stride[2]);
    }
  }

 private:
  Index layout(char* base, bool backward);

  const AttentionProblem& c;
  const ScoreFeatures<float>& features_;
  const LinearRows seen_;
  const Index columns_;
  float *state_ = nullptr, *keys_ = nullptr, *values_ = nullptr, *queries_ = nullptr, *rows_ = nullptr,
        *products_ = nullptr, *dproducts_ = nullptr, *dfeatures_ = nullptr, *dvalues_ = nullptr, *out_ = nullptr,
        *input_ = nullptr, *dinput_ = nullptr;
};

extern const AttentionPlan kLinearPlan;

}  // namespace heed
