#include "heed/tasks/training_batches.h"

#include <gtest/gtest.h>

namespace heed {
namespace {

EncodedCorpus corpus_of(Index pairs) {
  EncodedCorpus corpus;
  for (Index i = 0; i < pairs; ++i) {
    const auto sentence = [i](Index tokens) {
      return std::vector<int>(static_cast<std::size_t>(tokens), 4 + static_cast<int>(i));
    };
    corpus.pairs.push_back({sentence(1 + i % 7), sentence(1 + i % 5)});
  }
  return corpus;
}

TrainOptions options(Index accumulate) {
  TrainOptions o;
  o.batch_tokens = 20, o.accumulate = accumulate;
  return o;
}

TEST(TrainingBatches, UpdatesTakeTheBatchesOfAnEpochInOrderAndTheLastTakesWhatIsLeft) {
  const EncodedCorpus corpus = corpus_of(40);
  TrainingBatches one(corpus, options(1));
  const Index all = one.in_epoch(0), many = all / 2 + 1;
  ASSERT_GT(all, 4);
  TrainingBatches accumulated(corpus, options(many));
  ASSERT_EQ(accumulated.in_epoch(0), all);
  Index done = 0;
  while (done < all) {
    const std::vector<Batch> batches = accumulated.of_update(0, done);
    ASSERT_EQ(static_cast<Index>(batches.size()), std::min(many, all - done));
    for (const Batch& batch : batches) EXPECT_EQ(batch.source, one.of_update(0, done++)[0].source);
  }
  EXPECT_EQ(done, all);
}

TEST(TrainingBatches, AnEpochIsTheSameWhateverWasAskedBefore) {
  const EncodedCorpus corpus = corpus_of(40);
  TrainingBatches straight(corpus, options(2)), resumed(corpus, options(2));
  straight.of_update(0, 0);
  EXPECT_EQ(straight.of_update(1, 2)[0].source, resumed.of_update(1, 2)[0].source);
  EXPECT_NE(straight.of_update(0, 0)[0].source, resumed.of_update(1, 0)[0].source);
}

}  // namespace
}  // namespace heed
