#include "heed/tasks/training_limits.h"

#include <gtest/gtest.h>

namespace heed {
namespace {

TEST(TrainingLimits, NoneIsReachedWhereNoneIsSet) {
  const TrainingState state{.update = 1000000, .epoch = 1000, .seconds = 1e9, .since_better = 1000};
  EXPECT_FALSE(limit_reached({.patience = 0}, state));
  EXPECT_EQ(progress({.patience = 0}, state, 10), 0);
}

TEST(TrainingLimits, EachIsReachedAtItsNumberAndNotBefore) {
  struct Case {
    TrainLimits limits;
    TrainingState before, at;
    TrainingStop stop;
  };
  const Case cases[] = {
      {{.max_updates = 5, .patience = 0}, {.update = 4}, {.update = 5}, TrainingStop::max_updates},
      {{.max_epochs = 2, .patience = 0}, {.epoch = 1, .batch = 9}, {.epoch = 2}, TrainingStop::max_epochs},
      {{.max_minutes = 0.5, .patience = 0}, {.seconds = 29.9}, {.seconds = 30}, TrainingStop::max_minutes},
      {{.patience = 3}, {.since_better = 2}, {.since_better = 3}, TrainingStop::patience}};
  for (const Case& c : cases) {
    EXPECT_FALSE(limit_reached(c.limits, c.before));
    EXPECT_EQ(limit_reached(c.limits, c.at), c.stop);
  }
}

TEST(TrainingLimits, ProgressIsThatOfTheNearestLimitAndAtMostOne) {
  const TrainingState state{.update = 30, .epoch = 1, .batch = 5, .seconds = 12};
  EXPECT_DOUBLE_EQ(progress({.max_updates = 100}, state, 10), 0.3);
  EXPECT_DOUBLE_EQ(progress({.max_updates = 100, .max_epochs = 3}, state, 10), 0.5);
  EXPECT_DOUBLE_EQ(progress({.max_updates = 100, .max_epochs = 3, .max_minutes = 0.25}, state, 10), 0.8);
  EXPECT_DOUBLE_EQ(progress({.max_updates = 10}, state, 10), 1);
}

}  // namespace
}  // namespace heed
