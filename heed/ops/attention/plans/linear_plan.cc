// The plan "linear": features and a sum, in time and memory that grow with Lq + Lk. A chunk of keys is read one by one
// by the rows that end in it, and as a part of the state by the rows after it (Katharopoulos et al. 2020, eqs. 8 to 12;
// in chunks: Yang et al. 2024, "Gated Linear Attention", section 3).
#include <algorithm>
#include <limits>
#include <vector>

#include "heed/base/thread_scratch.h"
#include "heed/kernels/attention_rows.h"
#include "heed/kernels/state_rows.h"
#include "heed/ops/attention/plans/float_rows.h"
#include "heed/ops/attention/plans/linear_chunk.h"
#include "heed/ops/attention/plans/reference.h"

namespace heed {
namespace {

constexpr float kNone = -std::numeric_limits<float>::infinity();

// With S = sum_j phi(k_j) v_j^T and z = sum_j phi(k_j), the output is phi(q_i)^T S divided by the sum phi(q_i) . z.
class LinearForward {
 public:
  LinearForward(const AttentionProblem& problem, const AttentionResult& wanted, LinearWork& thread)
      : c(problem), result(wanted), seen_(problem), work_(thread) {}

  // Heads side by side, a chunk of each at a time.
  void compute(Index b, Range heads) {
    for (Index h = heads.begin; h < heads.end; ++h)
      for (Index i = 0; i < seen_.dead(b); ++i) store_dead_row(b, h, i);
    const Range groups{heads.begin / c.group, (heads.end - 1) / c.group + 1};
    work_.clear_states();
    const Index chunks = seen_.chunks(b);
    for (Index chunk = 0; chunk <= chunks; ++chunk)
      for (Index g = groups.begin; g < groups.end; ++g) {
        work_.choose_state(g - groups.begin);
        work_.load_keys(b, g, seen_.chunk_keys(b, chunk), seen_.chunk_keys(b, chunk + 1));
        const Range readers = intersect(heads, {g * c.group, (g + 1) * c.group});
        for (Index h = readers.begin; h < readers.end; ++h) {
          seen_.for_tiles(b, h, chunk, [&](const LinearTile& tile) { compute_tile(tile, chunk > 0); });
        }
        if (chunk < chunks) work_.add_to_state(work_.keys, work_.values, nullptr);
      }
  }

 private:
  void store_dead_row(Index b, Index h, Index i) const {
    if (result.out) fill(select(select(select(result.out, 0, b), 0, h), 0, i), 0);
    if (result.row_stat) result.row_stat.at<float>({b, h, i}) = kNone;
  }

  void compute_tile(const LinearTile& tile, bool has_state) {
    const Index count = tile.rows.size();
    const Range next = seen_.rows_after(tile);
    work_.load_queries(tile, next);
    if (result.out) work_.rows_ahead.expect(result.out, tile.b, tile.h, next);
    work_.multiply_queries(tile, has_state);
    for (Index r = 0; r < count; ++r) {
      const float stat = static_cast<float>(c.scale) * work_.sums[r];
      if (result.row_stat) result.row_stat.at<float>({tile.b, tile.h, tile.rows.begin + r}) = stat;
      if (stat == 0) work_.sums[r] = 0;
    }
    if (!result.out) return;
    const Index place = result.out.offset({tile.b, tile.h, tile.rows.begin});
    const float* rows = work_.rows.matrix().data;
    const bool wide = result.out.dtype == DType::f32;
    float* out = wide ? result.out.as<float>() + place : work_.rows.fill(count);
    kernels::divide_rows(count, c.value_width, rows, c.value_width, work_.sums, out,
                         wide ? result.out.stride[2] : c.value_width);
    if (!wide) store_rows({out, c.value_width}, count, result.out, place);
  }

  const AttentionProblem& c;
  const AttentionResult& result;
  const LinearRows seen_;
  LinearWork& work_;
};

// With r_i the row's sum and e_i = r_i drow_stat_i - dout_i . out_i, a score's gradient is ds_ij = (dout_i . v_j + e_i)
// / r_i. With S and z as above, G = sum over the rows that see the key of phi(q_i) dout_i^T / r_i, and f that of
// phi(q_i) e_i / r_i:
//   dphi(q_i) = scale (S dout_i + e_i z) / r_i      dphi(k_j) = scale (G v_j + f)      dv_j = scale G^T phi(k_j)
// dout_i . v_j + e_i is a difference of numbers that nearly cancel where a row has few keys: it is divided by r_i
// afterwards.
class LinearBackward {
 public:
  LinearBackward(const AttentionProblem& problem, const AttentionSaved& given, const AttentionGrad& wanted,
                 LinearWork& thread)
      : c(problem), saved(given), grad(wanted), seen_(problem), work_(thread) {}

  // Key/value heads side by side, a chunk of each at a time.
  void compute(Index b, Range groups) {
    groups_ = groups;
    if (c.dtype != DType::f32) sum_flows(b);
    if (grad.dq) compute_queries(b);
    if (grad.dk || grad.dv) compute_keys(b);
  }

 private:
  // Calls f(g) for the key/value heads, with their states.
  template <typename F>
  void for_groups(const F& f) {
    for (Index g = groups_.begin; g < groups_.end; ++g) {
      work_.choose_state(g - groups_.begin);
      f(g);
    }
  }
  // Calls f(tile) for the rows that read a chunk of a key/value head one by one.
  template <typename F>
  void for_tiles(Index b, Index g, Index chunk, const F& f) const {
    for (Index h = g * c.group; h < (g + 1) * c.group; ++h) seen_.for_tiles(b, h, chunk, f);
  }

  // dout . out of every row, where the out that was saved was rounded to 16 bits: ds is a difference, which that
  // rounding would not cancel in.
  void sum_flows(Index b) {
    flows_.assign(static_cast<std::size_t>(groups_.size() * c.group * c.queries), 0);
    work_.clear_states();
    const Index chunks = seen_.chunks(b);
    for (Index chunk = 0; chunk <= chunks; ++chunk)
      for_groups([&](Index g) {
        work_.load_keys(b, g, seen_.chunk_keys(b, chunk), seen_.chunk_keys(b, chunk + 1));
        for_tiles(b, g, chunk, [&](const LinearTile& tile) { sum_tile_flows(tile, chunk > 0); });
        if (chunk < chunks) work_.add_to_state(work_.keys, work_.values, nullptr);
      });
  }

  void sum_tile_flows(const LinearTile& tile, bool has_state) {
    const Index count = tile.rows.size();
    const Range next = seen_.rows_after(tile);
    work_.load_queries(tile, next);
    work_.rows_ahead.expect(saved.dout, tile.b, tile.h, next);
    work_.multiply_queries(tile, has_state);
    const kernels::Matrix dout = read_rows(saved.dout, tile);
    kernels::attention_row_dots(count, c.value_width, dout.data, dout.row, work_.rows.matrix().data, c.value_width,
                                work_.dsums);
    for (Index r = 0; r < count; ++r) {
      flow_of(tile.h, tile.rows.begin + r) = work_.sums[r] == 0 ? 0 : work_.dsums[r] / work_.sums[r];
    }
  }

  float& flow_of(Index h, Index i) {
    return flows_[static_cast<std::size_t>((h - groups_.begin * c.group) * c.queries + i)];
  }

  // From the first chunk to the last: the state is S^T.
  void compute_queries(Index b) {
    for (Index h = groups_.begin * c.group; h < groups_.end * c.group; ++h) {
      clear_rows(grad.dq, b, h, {0, seen_.dead(b)});
    }
    work_.clear_states();
    const Index chunks = seen_.chunks(b);
    for (Index chunk = 0; chunk <= chunks; ++chunk)
      for_groups([&](Index g) {
        work_.load_keys(b, g, seen_.chunk_keys(b, chunk), seen_.chunk_keys(b, chunk + 1));
        for_tiles(b, g, chunk, [&](const LinearTile& tile) { compute_query_tile(tile, chunk > 0); });
        if (chunk < chunks) work_.add_to_transposed_state(work_.keys, work_.values);
      });
  }

  void compute_query_tile(const LinearTile& tile, bool has_state) {
    const Index count = tile.rows.size();
    const Range next = seen_.rows_after(tile);
    load_row_gradients(tile, next);
    work_.rows_ahead.expect(grad.dq, tile.b, tile.h, next);
    if (has_state) {
      work_.multiply({.m = count,
                      .n = c.features,
                      .k = c.value_width,
                      .a = work_.rows.matrix(),
                      .b = {work_.state, c.features},
                      .c = work_.dfeatures,
                      .c_row = c.features});
      kernels::add_sums_to_rows(count, c.features, work_.state_sums, work_.dsums, work_.dfeatures, c.features);
    }
    if (!tile.keys.empty()) {
      work_.multiply_rows_by_values(tile);
      work_.add_keys(tile, work_.dproducts, work_.keys, work_.dfeatures, has_state);
    }
    kernels::divide_rows(count, c.features, work_.dfeatures, c.features, work_.sums, work_.dfeatures, c.features);
    const Index i = tile.rows.begin;
    work_.store_input_gradients(c.q, c.q.offset({tile.b, tile.h, i}), work_.queries, grad.dq,
                                grad.dq.offset({tile.b, tile.h, i}));
  }

  // From the last chunk to the first: the state is G, beside f.
  void compute_keys(Index b) {
    work_.clear_states();
    for_groups([&](Index g) {
      clear_rows(grad.dk, b, g, {seen_.keys(b), c.keys});
      clear_rows(grad.dv, b, g, {seen_.keys(b), c.keys});
    });
    for (Index chunk = seen_.chunks(b); chunk >= 0; --chunk)
      for_groups([&](Index g) { compute_key_chunk(b, g, chunk); });
  }

  void compute_key_chunk(Index b, Index g, Index chunk) {
    const Range keys = seen_.chunk_keys(b, chunk), next = chunk > 0 ? seen_.chunk_keys(b, chunk - 1) : Range{};
    work_.load_keys(b, g, keys, next);
    if (grad.dk) work_.keys_ahead.expect(grad.dk, b, g, next);
    if (grad.dv) work_.keys_ahead.expect(grad.dv, b, g, next);
    start_key_gradients(keys.size());
    for_tiles(b, g, chunk, [&](const LinearTile& tile) { add_row_tile(tile); });
    if (keys.empty()) return;
    if (grad.dv) store_rows({work_.dvalues, c.value_width}, grad.dv, b, g, keys);
    if (grad.dk) {
      const ConstView& k = c.k.view();
      work_.store_input_gradients(k, k.offset({b, g, keys.begin}), work_.keys, grad.dk,
                                  grad.dk.offset({b, g, keys.begin}));
    }
  }

  // What the rows that read the chunk in their state say to its keys.
  void start_key_gradients(Index count) const {
    work_.multiply({.m = count,
                    .n = c.features,
                    .k = c.value_width,
                    .a = work_.values.matrix(),
                    .b = {work_.state, 1, c.value_width},
                    .c = work_.dfeatures,
                    .c_row = c.features});
    kernels::add_sums_to_rows(count, c.features, work_.state_sums, nullptr, work_.dfeatures, c.features);
    work_.multiply({.m = count,
                    .n = c.value_width,
                    .k = c.features,
                    .a = work_.keys.matrix(),
                    .b = {work_.state, c.value_width},
                    .c = work_.dvalues,
                    .c_row = c.value_width});
  }

  // Adds what the rows of a tile say to the keys of their own chunk, and the rows to G and f.
  void add_row_tile(const LinearTile& tile) {
    const Index count = tile.rows.size();
    load_row_gradients(tile, seen_.end_together() ? seen_.rows_after(tile) : seen_.rows_before(tile));
    float* features = work_.queries.fill(count);
    kernels::divide_rows(count, c.features, features, c.features, work_.sums, features, c.features);
    if (!tile.keys.empty()) {
      work_.multiply_queries_by_keys(tile);
      work_.add_rows(tile, work_.products, work_.rows, work_.dvalues);
      work_.multiply_rows_by_values(tile);
      work_.add_rows(tile, work_.dproducts, work_.queries, work_.dfeatures);
    }
    work_.add_to_state(work_.queries, work_.rows, work_.dsums);
  }

  // Fills rows with dout, dsums with e, and sums with what divides a row: r / scale. A sum of zero has given weights of
  // zero, and divides nothing.
  void load_row_gradients(const LinearTile& tile, Range next) {
    const Index count = tile.rows.size();
    work_.load_queries(tile, next);
    work_.rows_ahead.expect(saved.dout, tile.b, tile.h, next);
    if (c.dtype == DType::f32) work_.rows_ahead.expect(saved.out, tile.b, tile.h, next);
    float* to = work_.rows.fill(count);
    const kernels::Matrix dout = read_rows(saved.dout, tile);
    for (Index r = 0; r < count; ++r) std::copy_n(&dout.data[r * dout.row], c.value_width, to + r * c.value_width);
    if (c.dtype == DType::f32) {
      const kernels::Matrix out = read_rows(saved.out, tile);
      kernels::attention_row_dots(count, c.value_width, to, c.value_width, out.data, out.row, work_.dsums);
    }
    for (Index r = 0; r < count; ++r) {
      const Index i = tile.rows.begin + r;
      const float sum = saved.row_stat.at<float>({tile.b, tile.h, i});
      const float dsum = saved.drow_stat ? saved.drow_stat.at<float>({tile.b, tile.h, i}) : 0;
      const float flow = c.dtype == DType::f32 ? work_.dsums[r] : flow_of(tile.h, i);
      float* row = to + r * c.value_width;
      if (sum == 0) std::transform(row, row + c.value_width, row, [](float x) { return x * 0; });
      work_.dsums[r] = sum == 0 ? dsum : static_cast<float>(double{dsum} * sum - flow);
      work_.sums[r] = (sum == 0 ? 1 : sum) / static_cast<float>(c.scale);
    }
  }

  kernels::Matrix read_rows(const ConstView& view, const LinearTile& tile) const {
    return work_.read(view, view.offset({tile.b, tile.h, tile.rows.begin}), tile.rows.size());
  }

  static void clear_rows(const View& view, Index b, Index h, Range rows) {
    if (view) fill(slice(select(select(view, 0, b), 0, h), 0, rows.begin, rows.end), 0);
  }

  const AttentionProblem& c;
  const AttentionSaved& saved;
  const AttentionGrad& grad;
  const LinearRows seen_;
  LinearWork& work_;
  Range groups_{};            // the key/value heads at work
  std::vector<float> flows_;  // of the rows that read them: see sum_flows
};

std::string_view linear_why_not(const AttentionProblem& c, const AttentionTask&) {
  if (c.dtype == DType::f64) return "it computes in f32";
  if (c.spec.score.kind != Score::Kind::feature_map) return "the score has no feature map";
  if (c.scale < 0) return "the scale is negative";
  if (c.spec.normaliser.kind != Normaliser::Kind::sum) return "the normaliser is not a sum";
  if (c.bias.active()) return "there is a bias";
  if (c.cap > 0) return "the scores have a cap";
  if (c.dropout.active()) return "there is dropout";
  const Mask& mask = c.spec.mask;
  const bool more_windows = std::any_of(mask.further.begin(), mask.further.end(),
                                        [](const KeyInterval& more) { return more.window.has_value(); });
  if (!mask.patterns.empty() || more_windows ||
      (mask.window && (mask.window->left || mask.window->centre || mask.window->prefix))) {
    return "the mask is more than a window to the right and key lengths";
  }
  return {};
}

// Multiply-adds of so many tokens that write to the state or read it.
double token_work(const AttentionProblem& c, Index tokens) {
  return static_cast<double>(tokens) * static_cast<double>(c.features) * static_cast<double>(c.value_width + 1);
}

// How many of `heads` heads a thread takes at a time. Those whose rows lie side by side share pages of memory, of which
// a head alone would read a small part before it wants the next one; heads that read the same keys share their state.
Index heads_together(const AttentionProblem& c, Index heads) {
  constexpr Index kMostBytes = 1 << 19;  // of states, which should stay in the second level of the cache
  const Index state = c.features * (c.value_width + 1) * static_cast<Index>(sizeof(float));
  const bool side_by_side = c.q.stride[1] < c.q.stride[2];
  const Index wanted = side_by_side ? std::max<Index>(kMostBytes / state, 1) : heads / c.key_heads;
  return std::clamp<Index>(std::min(wanted, c.batch * heads / thread_count()), 1, heads);
}

// Runs compute(batch element, heads) of Direction on all threads. A head's bits do not depend on which are beside it.
template <typename Direction, typename Given, typename... Wanted>
void for_heads(const AttentionProblem& c, Index heads, double work, bool backward, Workspace& workspace,
               const Given& given, const Wanted&... wanted) {
  if (heads == 0) return;
  const Workspace::Scope scope(workspace);
  const LinearFeatures features(c, workspace);
  const Index together = heads_together(c, heads), parts = ceil_div(heads, together);
  parallel_for_with_scratch(workspace, LinearWork::bytes(c, features, together, backward), c.batch * parts,
                            grain_of(work * static_cast<double>(together), kChunkWork),
                            [&](Index begin, Index end, char* memory) {
                              LinearWork thread(c, features, together, memory, backward);
                              Direction direction(c, given, wanted..., thread);
                              for (Index unit = begin; unit < end; ++unit) {
                                const Index first = unit % parts * together;
                                direction.compute(unit / parts, {first, std::min(heads, first + together)});
                              }
                            });
}

void linear_forward(const AttentionProblem& c, const AttentionResult& result, Workspace& workspace) {
  if (result.out || result.row_stat) {
    const double work = token_work(c, c.queries + c.keys);
    for_heads<LinearForward>(c, c.heads, work, false, workspace, result);
  }
  if (!result.weights && !result.scores) return;
  // They are Lq Lk numbers, whose work and memory no algorithm saves.
  AttentionResult squares = result;
  squares.out = {}, squares.row_stat = {};
  kReferencePlan.forward(c, squares, workspace);
}

void linear_backward(const AttentionProblem& c, const AttentionSaved& saved, const AttentionGrad& grad,
                     Workspace& workspace) {
  const double work = 3 * token_work(c, c.queries * c.group + c.keys);
  for_heads<LinearBackward>(c, c.key_heads, work, true, workspace, saved, grad);
}

double linear_cost(const AttentionProblem& c) {
  return static_cast<double>(c.batch * c.heads) * token_work(c, c.queries + c.keys);
}

}  // namespace

const AttentionPlan kLinearPlan{"linear",       SumOrder::states, linear_why_not,   linear_cost,
                                linear_forward, linear_backward,  reference_weights};

}  // namespace heed
