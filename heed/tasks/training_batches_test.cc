#include "heed/tasks/training_batches.h"

#include <gtest/gtest.h>

namespace heed {
namespace {

// 11 batches an epoch, whose order is the epoch's; a batch's number is the first id that it reads.
class CountingTask : public TrainingTask {
 public:
  const TrainingFolder& folder() const override { throw Error("CountingTask: has no folder"); }
  ModelConfig config() const override { return {}; }
  const TextCodec& codec() const override { throw Error("CountingTask: has no text"); }
  CorpusReport report() const override { return {}; }
  BatchPlan plan_epoch(Index epoch) const override {
    BatchPlan plan;
    for (Index b = 0; b < 11; ++b) plan.push_back({(b + 3 * epoch) % 11});
    return plan;
  }
  TrainingBatch batch(std::span<const Index> sequences) const override {
    return {{.input = Tensor::from(std::vector<std::int32_t>{static_cast<std::int32_t>(sequences[0])}, {1, 1})}, 1};
  }
  ValidationScore measure(const SequenceModel&, Workspace&) const override { return {}; }
};

Index number_of(const TrainingBatch& batch) { return batch.batch.input.at<std::int32_t>({0, 0}); }

TEST(TrainingBatches, UpdatesTakeTheBatchesOfAnEpochInOrderAndTheLastTakesWhatIsLeft) {
  const CountingTask task;
  TrainingBatches batches(task, /*accumulate=*/4);
  ASSERT_EQ(batches.in_epoch(1), 11);
  Index done = 0;
  for (const Index size : {4, 4, 3}) {
    const std::vector<TrainingBatch> some = batches.of_update(1, done);
    ASSERT_EQ(std::ssize(some), size);
    for (const TrainingBatch& batch : some) EXPECT_EQ(number_of(batch), (done++ + 3) % 11);
  }
}

TEST(TrainingBatches, AnEpochIsTheSameWhateverWasAskedBefore) {
  const CountingTask task;
  TrainingBatches straight(task, 2), resumed(task, 2);
  straight.of_update(0, 0);
  EXPECT_EQ(number_of(straight.of_update(1, 2)[0]), number_of(resumed.of_update(1, 2)[0]));
  EXPECT_NE(number_of(straight.of_update(0, 0)[0]), number_of(resumed.of_update(1, 0)[0]));
}

}  // namespace
}  // namespace heed
