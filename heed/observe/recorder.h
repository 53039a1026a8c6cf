// An observer that keeps the maps of one sentence of a batch.
//
//   AttentionRecorder recorder({.row = 0, .source_length = 7, .target_length = 9}, {.scores = true});
//   context.observer = &recorder;
//   model.forward(context, batch);
//   trace.maps = recorder.take_maps();
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "heed/base/index.h"
#include "heed/observe/observer.h"
#include "heed/observe/trace.h"

namespace heed {

// What a recorder keeps besides the weights.
struct TraceParts {
  bool scores = false;      // queries, keys and biases, where scores are dot products
  bool embeddings = false;  // of tokens, before and after their positions
};

// Keeps row `row` of every [B, H, Lq, Lk] it is shown, cut to the sentence's own lengths: padding after them is
// dropped. A site that is shown step by step (a recurrent decoder, a key-value cache) gives its queries in order over
// several calls; keys that a step did not have yet get weight 0; queries beyond the sentence's length are ignored.
class AttentionRecorder : public AttentionObserver {
 public:
  struct Sentence {
    Index row = 0;
    Index source_length = 0, target_length = 0;  // in tokens, with what the model adds, such as the end of the sentence
  };

  // `wanted` chooses the sites; empty: all. Throws heed::Error for a negative row or length.
  explicit AttentionRecorder(Sentence sentence, TraceParts parts = {},
                             std::function<bool(const AttentionSite&)> wanted = {});

  bool wants(const AttentionSite& site) const override;
  // Throws heed::Error, naming the site, for weights that are not f32 [B, H, Lq, Lk] with the row in the batch, whose
  // heads or kind change from one call to the next, or that have fewer keys than the queries so far can attend to.
  void on_weights(const AttentionSite& site, ConstView weights) override;

  bool wants_scores(const AttentionSite& site) const override { return parts_.scores && wants(site); }
  // Of each call those of its queries; the keys of the last call. Throws heed::Error as on_weights does, and where the
  // width or the number of KV heads changes.
  void on_scores(const AttentionSite& site, const AttentionScores& scores) override;
  bool wants_embeddings(EmbeddedSide) const override { return parts_.embeddings; }
  void on_embeddings(EmbeddedSide side, ConstView before, ConstView after) override;

  // The maps in the order in which their sites were first shown; the recorder has none again. Throws heed::Error for a
  // site that was shown fewer queries than the sentence has.
  std::vector<AttentionTrace::Map> take_maps();
  AttentionTrace::Embeddings take_embeddings(EmbeddedSide side);

 private:
  struct Site {
    AttentionTrace::Map map;
    Index filled = 0;  // queries so far
  };
  Site& site_of(const AttentionSite& site, Index heads);
  Index length_of(EmbeddedSide side) const;

  Sentence sentence_;
  TraceParts parts_;
  std::function<bool(const AttentionSite&)> wanted_;
  std::vector<Site> sites_;
  AttentionTrace::Embeddings source_embeddings_, decoder_embeddings_;
};

}  // namespace heed
