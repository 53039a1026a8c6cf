// What becomes of a Transformer's logits.
#include <gtest/gtest.h>

#include <cmath>

#include "heed/base/error.h"
#include "heed/layers/drawn_parameters.h"
#include "heed/models/small_batch.h"
#include "heed/models/small_transformers_test.h"
#include "heed/models/transformer.h"

namespace heed {
namespace {

using testing::small_config;

TEST(Transformer, BoundedLogitsAreWithinTheirCapAndAreNotTrained) {
  TransformerConfig config = small_config();
  Workspace workspace;
  const Context context = Context::inference(workspace);
  DrawnParameters drawn(Rng(1)), again(Rng(1));
  const Tensor free = Transformer(drawn, config).logits(context, small_batch()).value();
  config.logit_soft_cap = 0.5;
  const Transformer capped(again, config);
  const Tensor bounded = capped.logits(context, small_batch()).value();
  for (Index i = 0; i < free.size(); ++i) {
    EXPECT_NEAR(bounded.data<float>()[i], 0.5 * std::tanh(free.data<float>()[i] / 0.5), 1e-6);
  }
  EXPECT_THROW(capped.loss(context, small_batch(), {}), Error);
}

}  // namespace
}  // namespace heed
