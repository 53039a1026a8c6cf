// Attention whose score is a product of features and whose normaliser is a sum needs no matrix of scores: what keys and
// values have to say is one state of fixed size (Katharopoulos et al. 2020, section 3.2). Here is what its two
// directions share: which rows read which chunks of keys as a state, and a thread's scratch memory with the operands as
// f32 features.
//
// A row's sums are chains over the features or over the keys of a chunk; those of a state are chains of a chunk, added
// chunk after chunk. The cuts are at multiples of kLinearChunk keys, and of kLinearRows rows from where rows begin to
// read a chunk one by one.
#pragma once

#include <algorithm>

#include "heed/kernels/gemm_tile.h"
#include "heed/ops/attention/plans/linear_features.h"
#include "heed/ops/attention/plans/plan.h"
#include "heed/ops/attention/plans/rows_ahead.h"

namespace heed {

// Keys are cut into chunks here, and the rows that end in one chunk into tiles.
inline constexpr Index kLinearChunk = 64;
// Rows of a tile that meet its keys together, up to where the last of them ends: three eighths of a causal tile's
// products are left out.
inline constexpr Index kLinearRows = 16;

// Some rows of a head. Each sees the keys before its end: whole chunks as a state, and `keys`, up to its end, one by
// one.
struct LinearTile {
  Index b, h;
  Range rows, keys;
};

// Row i of batch element b sees the keys [0, end(b, i)). From row to row the end is the same, or one key further.
class LinearRows {
 public:
  explicit LinearRows(const AttentionProblem& problem) : c(problem) {}

  Index end(Index b, Index i) const { return c.mask.keys(b, 0, i).end; }
  // Whether all rows of a batch element end at one key.
  bool end_together() const { return !c.spec.mask.window; }
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

  // As many rows as a tile has, at most, on either side of one.
  Range rows_after(const LinearTile& tile) const {
    return {tile.rows.end, std::min(c.queries, tile.rows.end + kLinearChunk)};
  }
  Range rows_before(const LinearTile& tile) const {
    return {std::max<Index>(tile.rows.begin - kLinearChunk, 0), tile.rows.begin};
  }

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

  // Fills `ends` with how many of the tile's keys each of its rows sees.
  void tile_ends(const LinearTile& tile, Index* ends) const;

 private:
  // Without a window all rows end at one key, and the state takes the last chunk too, be it whole or not; but a single
  // chunk is read one by one, by which a row with one key gets its value to the last bits.
  Index whole_chunks(Index end) const {
    if (!end_together()) return end / kLinearChunk;
    return end <= kLinearChunk ? 0 : ceil_div(end, kLinearChunk);
  }
  // The first row that sees a key and reads `chunks` or more.
  Index first(Index b, Index chunks) const;

  const AttentionProblem& c;
};

// Contiguous rows of a chunk or tile, with what only some products want of them.
class ChunkRows {
 public:
  ChunkRows() = default;
  ChunkRows(float* rows, float* transposed, Index width) : rows_(rows), transposed_(transposed), width_(width) {}

  Index count() const { return count_; }
  Index width() const { return width_; }
  kernels::Matrix matrix() const { return {rows_, width_}; }
  // To fill `count` rows, or to change them.
  float* fill(Index count) {
    count_ = count, is_transposed_ = is_judged_ = false;
    return rows_;
  }
  // The same numbers, [width, count], where rows of b are wanted as columns.
  kernels::Matrix transposed();
  // Whether there is no NaN and no infinity.
  bool finite();

 private:
  float *rows_ = nullptr, *transposed_ = nullptr;
  Index width_ = 0, count_ = 0;
  bool is_transposed_ = false, is_judged_ = false, finite_ = false;
};

// A thread's scratch memory and what it does there. `keys` and `values` are those of the chunk that was loaded last,
// `queries` and `rows` belong to the tile that was.
class LinearWork {
 public:
  // `states`: of how many key/value heads are kept at a time.
  static Index bytes(const AttentionProblem& c, const LinearFeatures& features, Index states, bool backward);
  LinearWork(const AttentionProblem& problem, const LinearFeatures& features, Index states, char* scratch,
             bool backward);

  // `next`: the keys, or rows, that are loaded after these, which products ask for meanwhile.
  void load_keys(Index b, Index g, Range range, Range next);
  void load_queries(const LinearTile& tile, Range next);
  // What else is read or written where the next keys and rows are.
  RowsAhead keys_ahead, rows_ahead;

  // A product, which asks for what is ahead: the next keys first.
  void multiply(const kernels::GemmTile& product);

  ChunkRows keys, values;       // [chunk, M], features, and [chunk, Dv]
  ChunkRows queries, rows;      // [tile, M], features, and [tile, Dv]: the output, or its gradient
  float* state = nullptr;       // [M, Dv], or [Dv, M] where that is what products read
  float* state_sums = nullptr;  // [M]: the state of a value that is one
  float* products = nullptr;    // [tile, chunk], of queries and keys
  float* sums = nullptr;        // [tile]: of the rows' scores, or what divides them
  // The backward pass alone:
  float* dproducts = nullptr;  // [tile, chunk]
  float* dfeatures = nullptr;  // [chunk, M], of queries or of keys
  float* dvalues = nullptr;    // [chunk, Dv]
  float* dsums = nullptr;      // [tile]: what the row's gradients have in common, times its sum

  // Each key/value head at work has a state; all begin at zero, and one is chosen.
  void clear_states();
  void choose_state(Index n);
  // state += features^T x, and state_sums += features^T weights (null: ones).
  void add_to_state(const ChunkRows& features, const ChunkRows& x, const float* weights);
  // state += x^T features, for the transposed state, and state_sums += features^T ones.
  void add_to_transposed_state(const ChunkRows& features, const ChunkRows& x);
  // Fills products with queries . keys, and zero where the row does not see the key.
  void multiply_queries_by_keys(const LinearTile& tile);
  // Fills dproducts with rows . values + dsums, and zero where the row does not see the key.
  void multiply_rows_by_values(const LinearTile& tile);
  // Fills rows with phi(q)^T S, the outputs before they are divided by their sums, and sums with these. The state
  // counts where `has_state`; products are overwritten.
  void multiply_queries(const LinearTile& tile, bool has_state);

  // to [rows, b's width] (+)= a [rows, keys of the tile] b [keys], where a is zero for unseen keys.
  void add_keys(const LinearTile& tile, const float* a, ChunkRows& b, float* to, bool accumulate) const;
  // to [keys of the tile, b's width] += a^T b, b [rows].
  void add_rows(const LinearTile& tile, const float* a, ChunkRows& b, float* to) const;

  // Rows as f32: where they lie, or read into scratch that the next call overwrites. `place`: of the first.
  kernels::Matrix read(const ConstView& view, Index place, Index count) const;
  // Stores what dfeatures are of x, taken back through the feature map; `place` is the first row's in both.
  void store_input_gradients(const ConstView& x, Index x_place, const ChunkRows& features, const View& to,
                             Index place) const;

 private:
  Index layout(char* base, Index states, bool backward);
  // Calls f(rows, how many of the tile's keys the last of them sees) for the parts of a tile, whose first row is 0.
  template <typename F>
  void for_parts(const LinearTile& tile, const F& f) const;
  template <typename F>
  void for_runs(const RowSource& source, Index b, Index g, Range range, const F& f) const;

  const AttentionProblem& c;
  const LinearFeatures& features_;
  const LinearRows seen_;
  Index state_count_, state_size_ = 0;
  Index* ends_ = nullptr;  // [tile]: how many of the tile's keys a row sees
  float *states_ = nullptr, *key_sums_ = nullptr, *input_ = nullptr, *dinput_ = nullptr;
};

extern const AttentionPlan kLinearPlan;

}  // namespace heed
