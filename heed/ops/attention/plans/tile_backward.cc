#include <algorithm>
#include <atomic>
#include <limits>
#include <new>

#include "heed/base/thread_scratch.h"
#include "heed/ops/attention/plans/tile.h"
#include "heed/ops/attention/plans/tile_gradients.h"
#include "heed/ops/attention/plans/tile_work.h"

namespace heed {
namespace {

double work_of(const AttentionProblem& c, Index rows, Index keys) {
  return static_cast<double>(rows) * static_cast<double>(keys) * static_cast<double>(c.width + c.value_width) * 2;
}

// How many pieces of the keys a tile of rows has met so far, which the tile after it follows.
class Progress {
 public:
  // Its tile will meet no more, even where that is since it failed: whoever waits must not wait forever.
  class End {
   public:
    explicit End(Progress& progress) : progress_(progress) {}
    ~End() { progress_.reach(std::numeric_limits<Index>::max()); }
    End(const End&) = delete;
    End& operator=(const End&) = delete;

   private:
    Progress& progress_;
  };

  void reach(Index pieces) {
    met_.store(pieces, std::memory_order_release);
    met_.notify_all();
  }
  void wait_for(Index pieces) const {
    for (Index met; (met = met_.load(std::memory_order_acquire)) < pieces;) met_.wait(met, std::memory_order_acquire);
  }

 private:
  std::atomic<Index> met_{0};
};

class TiledBackward {
 public:
  TiledBackward(const AttentionProblem& problem, const AttentionSaved& given, const AttentionGrad& wanted,
                Workspace& workspace)
      : c_(problem),
        saved_(given),
        grad_(wanted),
        workspace_(workspace),
        rows_(std::min(std::max<Index>(c_.queries, 1), kTileRows)),
        columns_(std::min(c_.keys, kernels::kGemmTileDepth)),
        tiles_(tiles_of_group(c_)) {}

  // Key/value heads are independent, but for a parameter's gradient that several of them share: those run one after
  // another.
  void compute() {
    const auto shared = [](const View& gradient, int axis) { return gradient && gradient.shape[axis] == 1; };
    const bool batch_in_order = shared(grad_.dbias, 0) || shared(grad_.dcentre, 0) || grad_.dsinks || grad_.drelative;
    const bool heads_in_order = shared(grad_.dbias, 1) || shared(grad_.dcentre, 1);
    const bool rows_in_order = grad_.dbias || grad_.dcentre || grad_.dsinks || grad_.drelative;
    const Index batches = batch_in_order ? 1 : c_.batch, groups = heads_in_order ? 1 : c_.key_heads;
    const Workspace::Scope scope(workspace_);
    const Index sums = grad_.dadditive_vector ? c_.batch * c_.key_heads * tiles_ * c_.width : 0;
    if (sums > 0) dvectors_ = workspace_.take<float>(sums), std::fill_n(dvectors_, sums, 0.0f);
    // What heads are left where each thread has had as many, those share out. Their tiles add to one sum, which 16 bits
    // have in each thread's scratch.
    const Index units = batches * groups;
    const bool can_share = !rows_in_order && c_.dtype == DType::f32 && work_of(c_, rows_, c_.keys) >= kChunkWork;
    const Index alone = can_share ? units - units % thread_count() : units;
    on_threads(alone, work_of(c_, c_.queries * c_.group, c_.keys), [&](TileGradients& head, Index unit) {
      for (Index b = unit / groups; b < (batch_in_order ? c_.batch : unit / groups + 1); ++b)
        for (Index g = unit % groups; g < (heads_in_order ? c_.key_heads : unit % groups + 1); ++g)
          compute_head(head, b, g);
    });
    for (Index unit = alone; unit < units; ++unit) compute_in_line(unit / groups, unit % groups);
    for (Index at = 0; at < sums; ++at) grad_.dadditive_vector.at<float>({at % c_.width}) += dvectors_[at];
  }

 private:
  // A sum for each tile, which are added in order at the end.
  float* dvector_of(Index b, Index g, Index nth) const {
    return dvectors_ == nullptr ? nullptr : dvectors_ + ((b * c_.key_heads + g) * tiles_ + nth) * c_.width;
  }

  // Calls f(gradients, unit) for each of the units; `work` is that of one, in multiply-adds.
  template <typename F>
  void on_threads(Index units, double work, const F& f) {
    constexpr auto kPass = TileWork::Pass::backward;
    const Index bytes = TileWork::bytes(c_, rows_, columns_, kPass), grain = grain_of(work, kChunkWork);
    parallel_for_with_scratch(workspace_, bytes, units, grain, [&](Index begin, Index end, char* memory) {
      TileWork thread(c_, memory, rows_, columns_, kPass);
      TileGradients gradients(c_, saved_, grad_, thread);
      for (Index unit = begin; unit < end; ++unit) f(gradients, unit);
    });
  }

  void compute_head(TileGradients& head, Index b, Index g) {
    head.open_head(b, g);
    head.clear_head();
    for (Index nth = 0; nth < tiles_; ++nth) {
      head.open_rows(tile_of_group(c_, b, g, nth));
      head.begin_rows();
      head.add_keys({0, c_.keys}, dvector_of(b, g, nth));
      head.end_rows();
    }
    head.close_head();
  }

  // The same sums in the same order on several threads, where there are more of them than heads: a tile meets a piece
  // of the keys after the tile before it has. A thread that is free begins the next tile, so that the one that is
  // waited for is under way.
  void compute_in_line(Index b, Index g) {
    const Workspace::Scope scope(workspace_);
    Progress* const progress = workspace_.take<Progress>(tiles_);
    for (Index nth = 0; nth < tiles_; ++nth) new (progress + nth) Progress;
    on_threads(1, 0, [&](TileGradients& head, Index) {
      head.open_head(b, g);
      head.clear_head();
    });
    const Index piece = TileGradients::block_keys(c_);
    std::atomic<Index> begun{0};
    on_threads(tiles_, kChunkWork, [&](TileGradients& head, Index) {
      const Index nth = begun.fetch_add(1, std::memory_order_relaxed);
      const Progress::End end(progress[nth]);
      head.open_head(b, g);
      head.open_rows(tile_of_group(c_, b, g, nth));
      head.begin_rows();
      for (Index p = 0; p * piece < c_.keys; ++p) {
        if (nth > 0) progress[nth - 1].wait_for(p + 1);
        head.add_keys({p * piece, std::min(c_.keys, (p + 1) * piece)}, dvector_of(b, g, nth));
        progress[nth].reach(p + 1);
      }
      head.end_rows();
    });
    on_threads(1, 0, [&](TileGradients& head, Index) {
      head.open_head(b, g);
      head.close_head();
    });
  }

  const AttentionProblem& c_;
  const AttentionSaved& saved_;
  const AttentionGrad& grad_;
  Workspace& workspace_;
  Index rows_, columns_;       // of a tile at most
  Index tiles_;                // of a key/value head
  float* dvectors_ = nullptr;  // null: not wanted
};

}  // namespace

void tiled_backward(const AttentionProblem& c, const AttentionSaved& saved, const AttentionGrad& grad,
                    Workspace& workspace) {
  TiledBackward(c, saved, grad, workspace).compute();
}

}  // namespace heed
