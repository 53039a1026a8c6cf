// The plan "linear": features and a sum, in time and memory that grow with Lq + Lk. A chunk of keys is read one by one
// by the rows that end in it, and as a part of the state by the rows after it (Katharopoulos et al. 2020, eqs. 8 to 12;
// in chunks: Yang et al. 2024, "Gated Linear Attention", section 3).
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "heed/base/thread_scratch.h"
#include "heed/ops/attention/plans/linear_chunk.h"
#include "heed/ops/attention/plans/reference.h"
#include "heed/ops/attention/plans/tile.h"

namespace heed {
namespace {

constexpr Index kChunkWork = 1 << 20;  // multiply-adds that are worth handing to a thread
constexpr float kNone = -std::numeric_limits<float>::infinity();

// With v'_j = (v_j, 1) in place of the value, S = sum_j phi(k_j) v'_j^T, and phi(q_i)^T S is the output before it is
// divided by its own last number, the sum.
class LinearForward {
 public:
  LinearForward(const AttentionProblem& problem, const AttentionResult& wanted, const LinearWork& thread)
      : c(problem), result(wanted), seen_(problem), work_(thread) {}

  void compute(Index b, Index h) {
    for (Index i = 0; i < seen_.dead(b); ++i) store_dead_row(b, h, i);
    work_.clear_state();
    const Index chunks = seen_.chunks(b);
    for (Index chunk = 0; chunk <= chunks; ++chunk) {
      const Range keys = seen_.chunk_keys(b, chunk);
      work_.load_keys(b, h / c.group, keys);
      seen_.for_tiles(b, h, chunk, [&](const LinearTile& tile) { compute_tile(tile, chunk > 0); });
      if (chunk < chunks) work_.add_to_state(keys.size(), work_.keys(), work_.values());
    }
  }

 private:
  void store_dead_row(Index b, Index h, Index i) const {
    if (result.out) fill(select(select(select(result.out, 0, b), 0, h), 0, i), 0);
    if (result.row_stat) result.row_stat.at<float>({b, h, i}) = kNone;
  }

  void compute_tile(const LinearTile& tile, bool has_state) const {
    const Index columns = work_.value_columns();
    work_.load_queries(tile);
    work_.multiply_queries(tile, has_state);
    for (Index i = tile.rows.begin; i < tile.rows.end; ++i) {
      float* row = work_.rows() + (i - tile.rows.begin) * columns;
      const float sum = row[c.value_width], stat = static_cast<float>(c.scale) * sum;
      if (result.row_stat) result.row_stat.at<float>({tile.b, tile.h, i}) = stat;
      if (!result.out) continue;
      for (Index d = 0; d < c.value_width; ++d) row[d] = stat == 0 ? row[d] * 0 : row[d] / sum;
      store_row(row, c.value_width, result.out, result.out.offset({tile.b, tile.h, i}));
    }
  }

  const AttentionProblem& c;
  const AttentionResult& result;
  const LinearRows seen_;
  const LinearWork& work_;
};

// With r_i the row's sum and g_i = (dout_i, r_i drow_stat_i - dout_i . out_i), a score's gradient is
// ds_ij = g_i . v'_j / r_i, and so, with S as above and G = sum over the rows that see the key of phi(q_i) g_i^T / r_i:
//   dphi(q_i) = scale S g_i / r_i      dphi(k_j) = scale G v'_j      dv_j = scale G^T phi(k_j)
// g_i . v'_j is a difference of numbers that nearly cancel where a row has few keys: it is divided by r_i afterwards.
class LinearBackward {
 public:
  LinearBackward(const AttentionProblem& problem, const AttentionSaved& given, const AttentionGrad& wanted,
                 const LinearWork& thread)
      : c(problem), saved(given), grad(wanted), seen_(problem), work_(thread) {}

  void compute(Index b, Index g) {
    if (c.dtype != DType::f32) sum_flows(b, g);
    if (grad.dq) compute_queries(b, g);
    if (grad.dk || grad.dv) compute_keys(b, g);
  }

 private:
  // dout . out of every row, where the out that was saved was rounded to 16 bits: g . v' is a difference, which that
  // rounding would not cancel in.
  void sum_flows(Index b, Index g) {
    const Index columns = work_.value_columns();
    flows_.assign(static_cast<std::size_t>(c.group * c.queries), 0);
    work_.clear_state();
    const Index chunks = seen_.chunks(b);
    for (Index chunk = 0; chunk <= chunks; ++chunk) {
      const Range keys = seen_.chunk_keys(b, chunk);
      work_.load_keys(b, g, keys);
      for (Index h = g * c.group; h < (g + 1) * c.group; ++h) {
        seen_.for_tiles(b, h, chunk, [&](const LinearTile& tile) {
          work_.load_queries(tile);
          work_.multiply_queries(tile, chunk > 0);
          for (Index i = tile.rows.begin; i < tile.rows.end; ++i) {
            const float* row = work_.rows() + (i - tile.rows.begin) * columns;
            load_row(saved.dout, saved.dout.offset({b, h, i}), c.value_width, work_.out());
            double flow = 0;
            for (Index d = 0; d < c.value_width; ++d) flow += double{work_.out()[d]} * row[d];
            flow_of(h, i) = row[c.value_width] == 0 ? 0 : flow / row[c.value_width];
          }
        });
      }
      if (chunk < chunks) work_.add_to_state(keys.size(), work_.keys(), work_.values());
    }
  }
  double& flow_of(Index h, Index i) { return flows_[static_cast<std::size_t>(h % c.group * c.queries + i)]; }

  // From the first chunk to the last.
  void compute_queries(Index b, Index g) {
    const Range heads{g * c.group, (g + 1) * c.group};
    for (Index h = heads.begin; h < heads.end; ++h) clear_rows(grad.dq, b, h, {0, seen_.dead(b)});
    work_.clear_state();
    const Index chunks = seen_.chunks(b);
    for (Index chunk = 0; chunk <= chunks; ++chunk) {
      const Range keys = seen_.chunk_keys(b, chunk);
      work_.load_keys(b, g, keys);
      for (Index h = heads.begin; h < heads.end; ++h) {
        seen_.for_tiles(b, h, chunk, [&](const LinearTile& tile) { compute_query_tile(tile, chunk > 0); });
      }
      if (chunk < chunks) work_.add_to_state(keys.size(), work_.keys(), work_.values());
    }
  }

  void compute_query_tile(const LinearTile& tile, bool has_state) {
    work_.load_queries(tile);
    load_row_gradients(tile);
    if (has_state) multiply_by_state(tile.rows.size(), work_.rows());
    if (!tile.keys.empty()) {
      multiply_gradients_by_values(tile);
      work_.add_keys(tile, work_.dproducts(), work_.keys(), c.features, work_.dfeatures(), has_state);
    }
    divide_by_sums(tile, work_.dfeatures());
    const auto load = [&](Index r, float* to) {
      load_row(c.q, c.q.offset({tile.b, tile.h, tile.rows.begin + r}), c.width, to);
    };
    work_.store_input_gradients(tile.rows.size(), work_.queries(), load, grad.dq,
                                grad.dq.offset({tile.b, tile.h, tile.rows.begin}));
  }

  // From the last chunk to the first: the state is G.
  void compute_keys(Index b, Index g) {
    clear_rows(grad.dk, b, g, {seen_.keys(b), c.keys});
    clear_rows(grad.dv, b, g, {seen_.keys(b), c.keys});
    work_.clear_state();
    for (Index chunk = seen_.chunks(b); chunk >= 0; --chunk) {
      const Range keys = seen_.chunk_keys(b, chunk);
      work_.load_keys(b, g, keys);
      start_key_gradients(keys.size());
      for (Index h = g * c.group; h < (g + 1) * c.group; ++h) {
        seen_.for_tiles(b, h, chunk, [&](const LinearTile& tile) { add_row_tile(tile); });
      }
      store_key_gradients(b, g, keys);
    }
  }

  // What the rows that read the chunk in their state say to its keys.
  void start_key_gradients(Index count) const {
    multiply_by_state(count, work_.values());
    kernels::in_chains({.m = count,
                        .n = c.value_width,
                        .k = c.features,
                        .a = {work_.keys(), c.features},
                        .b = {work_.state(), work_.value_columns()},
                        .c = work_.dvalues(),
                        .c_row = c.value_width},
                       kernels::gemm_tile);
  }

  // Adds what the rows of a tile say to the keys of their own chunk, and the rows to G.
  void add_row_tile(const LinearTile& tile) {
    const Index columns = work_.value_columns();
    work_.load_queries(tile);
    divide_by_sums(tile, work_.queries());
    load_row_gradients(tile);
    if (!tile.keys.empty()) {
      work_.multiply_queries_by_keys(tile);
      work_.add_rows(tile, work_.products(), work_.rows(), columns, c.value_width, work_.dvalues());
      multiply_gradients_by_values(tile);
      work_.add_rows(tile, work_.dproducts(), work_.queries(), c.features, c.features, work_.dfeatures());
    }
    work_.add_to_state(tile.rows.size(), work_.queries(), work_.rows());
  }

  void store_key_gradients(Index b, Index g, Range keys) const {
    for (Index j = keys.begin; grad.dv && j < keys.end; ++j) {
      float* row = work_.dvalues() + (j - keys.begin) * c.value_width;
      for (Index d = 0; d < c.value_width; ++d) row[d] *= static_cast<float>(c.scale);
      store_row(row, c.value_width, grad.dv, grad.dv.offset({b, g, j}));
    }
    if (!grad.dk) return;
    const auto load = [&](Index r, float* to) { c.k.load(b, g, keys.begin + r, to); };
    work_.store_input_gradients(keys.size(), work_.keys(), load, grad.dk, grad.dk.offset({b, g, keys.begin}));
  }

  // dfeatures [count, M] = x [count, Dv + 1] state^T.
  void multiply_by_state(Index count, const float* x) const {
    kernels::in_chains({.m = count,
                        .n = c.features,
                        .k = work_.value_columns(),
                        .a = {x, work_.value_columns()},
                        .b = {work_.state(), 1, work_.value_columns()},
                        .c = work_.dfeatures(),
                        .c_row = c.features},
                       kernels::gemm_tile);
  }

  // dproducts = g . v', and zero where the row does not see the key.
  void multiply_gradients_by_values(const LinearTile& tile) const {
    kernels::in_chains({.m = tile.rows.size(),
                        .n = tile.keys.size(),
                        .k = work_.value_columns(),
                        .a = {work_.rows(), work_.value_columns()},
                        .b = {work_.values(), 1, work_.value_columns()},
                        .c = work_.dproducts(),
                        .c_row = kLinearChunk},
                       kernels::gemm_tile);
    work_.clear_unseen(tile, work_.dproducts());
  }

  // Fills rows() with g.
  void load_row_gradients(const LinearTile& tile) {
    for (Index i = tile.rows.begin; i < tile.rows.end; ++i) {
      float *row = work_.rows() + (i - tile.rows.begin) * work_.value_columns(), *out = work_.out();
      load_row(saved.dout, saved.dout.offset({tile.b, tile.h, i}), c.value_width, row);
      double flow = 0;
      if (c.dtype != DType::f32) {
        flow = flow_of(tile.h, i);
      } else {
        load_row(saved.out, saved.out.offset({tile.b, tile.h, i}), c.value_width, out);
        for (Index d = 0; d < c.value_width; ++d) flow += double{row[d]} * out[d];
      }
      const float sum = saved.row_stat.at<float>({tile.b, tile.h, i});
      const double dsum = saved.drow_stat ? saved.drow_stat.at<float>({tile.b, tile.h, i}) : 0;
      if (sum == 0) std::transform(row, row + c.value_width, row, [](float x) { return x * 0; });
      row[c.value_width] = static_cast<float>(sum == 0 ? dsum : dsum * sum - flow);
    }
  }

  // Divides the rows of a [tile, M] matrix. A sum of zero has given weights of zero, and divides nothing.
  void divide_by_sums(const LinearTile& tile, float* matrix) const {
    for (Index i = tile.rows.begin; i < tile.rows.end; ++i) {
      const float sum = saved.row_stat.at<float>({tile.b, tile.h, i});
      float* row = matrix + (i - tile.rows.begin) * c.features;
      for (Index m = 0; sum != 0 && m < c.features; ++m) row[m] /= sum;
    }
  }

  static void clear_rows(const View& view, Index b, Index h, Range rows) {
    if (view) fill(slice(select(select(view, 0, b), 0, h), 0, rows.begin, rows.end), 0);
  }

  const AttentionProblem& c;
  const AttentionSaved& saved;
  const AttentionGrad& grad;
  const LinearRows seen_;
  const LinearWork& work_;
  std::vector<double> flows_;  // of the rows that read the key/value head: see sum_flows
};

std::string_view why_not(const AttentionProblem& c, const AttentionTask&) {
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

// Runs compute(first axis, second axis) of Direction on all threads.
template <typename Direction, typename Given, typename... Wanted>
void for_heads(const AttentionProblem& c, Index heads, double work, bool backward, Workspace& workspace,
               const Given& given, const Wanted&... wanted) {
  const ScoreFeatures<float> features(c);
  parallel_for_with_scratch(workspace, LinearWork::bytes(c, features, backward), c.batch * heads,
                            grain_of(work, kChunkWork), [&](Index begin, Index end, char* memory) {
                              const LinearWork thread(c, features, memory, backward);
                              Direction direction(c, given, wanted..., thread);
                              for (Index unit = begin; unit < end; ++unit)
                                direction.compute(unit / heads, unit % heads);
                            });
}

void forward(const AttentionProblem& c, const AttentionResult& result, Workspace& workspace) {
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

void backward(const AttentionProblem& c, const AttentionSaved& saved, const AttentionGrad& grad, Workspace& workspace) {
  const double work = 3 * token_work(c, c.queries * c.group + c.keys);
  for_heads<LinearBackward>(c, c.key_heads, work, true, workspace, saved, grad);
}

double cost(const AttentionProblem& c) {
  return static_cast<double>(c.batch * c.heads) * token_work(c, c.queries + c.keys);
}

}  // namespace

const AttentionPlan kLinearPlan{"linear", SumOrder::states, why_not, cost, forward, backward, reference_weights};

}  // namespace heed
