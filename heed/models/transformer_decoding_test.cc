// A Transformer's steps: they give what a pass over the whole sentence gives, and each row keeps what is its own.
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

#include "heed/layers/drawn_parameters.h"
#include "heed/models/small_batch.h"
#include "heed/models/small_transformers_test.h"
#include "heed/models/transformer.h"
#include "heed/tensor/precision.h"
#include "heed/testing/gradient_check.h"

namespace heed {
namespace {

using testing::small_config;
using testing::variants;
using Ids = std::vector<std::int32_t>;

// The same sentence once as a whole under the decoder's mask and once position by position with a cache.
TEST(Transformer, SteppingGivesTheLossOfTeacherForcingInEverySelfAttention) {
  const Ids input{2, 9, 10, 5, 7, 4, 6, 8}, output{9, 10, 5, 7, 4, 6, 8, 3};
  const TokenBatch source{Tensor::from(Ids{4, 5, 6, 8, 7, 3}, {1, 6}), Tensor::from(Ids{6}, {1})};
  for (const auto& [name, config] : variants()) {
    Rng rng(1);
    DrawnParameters drawn(rng);
    const Transformer model(drawn, config);
    for (const auto& [parameter, var] : drawn.list()) var.convert(DType::f64);
    Workspace workspace;
    const Context context = Context::inference(workspace);
    const SequenceBatch batch{source, Tensor::from(input, {1, 8}), Tensor::from(output, {1, 8})};
    const double whole = model.loss(context, batch, {}).loss_sum;
    const auto state = admitted(model, context, source);
    double stepped = 0;
    for (std::size_t t = 0; t < input.size(); ++t) {
      const Tensor logits = model.step(context, *state, Ids{input[t]});
      double sum = 0;
      for (Index i = 0; i < logits.size(); ++i) sum += std::exp(logits.data<double>()[i]);
      stepped += std::log(sum) - logits.data<double>()[output[t]];
    }
    EXPECT_NEAR(stepped, whole, 1e-10 * whole) << name;
  }
}

TEST(Transformer, SteppingGivesTheBitsOfTeacherForcingInAnyBatch) {
  TransformerConfig config = small_config();
  config.width = 32, config.heads = 4, config.ffn_width = 64;
  Rng rng(1);
  DrawnParameters drawn(rng);
  const Transformer model(drawn, config);
  Workspace workspace;
  const Context context = Context::inference(workspace);
  const TokenBatch both{Tensor::from(Ids{4, 5, 6, 3, 7, 8, 3, 0}, {2, 4}), Tensor::from(Ids{4, 3}, {2})};
  const TokenBatch second{Tensor::from(Ids{7, 8, 3}, {1, 3}), Tensor::from(Ids{3}, {1})};
  for (const auto& [name, cache] : kPrecisionNames) {
    const auto state = admitted(model, context, both, cache), alone = admitted(model, context, second, cache);
    for (std::int32_t token : {2, 9, 4, 6}) {
      const Tensor logits = model.step(context, *state, Ids{5, token}),
                   of_second = model.step(context, *alone, Ids{token});
      EXPECT_TRUE(testing::same_bits(slice(logits.view(), 0, 1, 2), of_second)) << name << ", token " << token;
    }
  }
}

// A decoder that sees what comes later reads all again at each step: the last row of a pass over what there is so far.
TEST(Transformer, SteppingADecoderThatIsNotCausalGivesTheLastRowOfAWholePass) {
  for (const Index encoder_layers : {0, 1}) {
    TransformerConfig config = small_config();
    config.causal = false, config.encoder_layers = encoder_layers;
    DrawnParameters drawn(Rng(1));
    const Transformer model(drawn, config);
    Workspace workspace;
    const Context context = Context::inference(workspace);
    const TokenBatch sources{Tensor::from(Ids{4, 5, 3, 6, 7, 3}, {2, 3}), Tensor::from(Ids{3, 3}, {2})};
    const Ids input{2, 9, 10, 5};
    const bool translates = encoder_layers > 0;
    const TokenBatch nothing{Tensor::zeros(DType::i32, {2, 1}), Tensor::zeros(DType::i32, {2})};
    const auto state = admitted(model, context, translates ? sources : nothing);
    state->select_rows(std::vector<Index>{1});
    for (Index read = 1; read <= std::ssize(input); ++read) {
      const Tensor step = model.step(context, *state, Ids{input[static_cast<std::size_t>(read - 1)]});
      SequenceBatch batch;
      if (translates) batch.source = {sources.ids.rows(1, 2), sources.lengths.rows(1, 2)};
      batch.input = Tensor::from(Ids(input.begin(), input.begin() + read), {1, read});
      const Tensor whole = model.logits(context, batch).value();
      EXPECT_TRUE(testing::same_bits(step, slice(whole.reshape({read, 11}).view(), 0, read - 1, read))) << read;
    }
  }
}

// What the pattern leaves out changes nothing.
TEST(Transformer, ALocalDecoderSeesItsWindowAlone) {
  TransformerConfig config = small_config();
  config.attention = AttentionChoice("window(1)");
  Rng rng(1);
  DrawnParameters drawn(rng);
  const Transformer model(drawn, config);
  Workspace workspace;
  const Context context = Context::inference(workspace);
  const TokenBatch source{Tensor::from(Ids{4, 5, 3}, {1, 3}), Tensor::from(Ids{3}, {1})};
  const auto logits_after = [&](const Ids& tokens) {
    const auto state = admitted(model, context, source);
    Tensor logits;
    for (std::int32_t token : tokens) logits = model.step(context, *state, Ids{token});
    return logits;
  };
  // Two layers of a window of one position: two positions back.
  EXPECT_TRUE(testing::same_bits(logits_after({2, 9, 5, 6}), logits_after({7, 9, 5, 6})));
  EXPECT_FALSE(testing::same_bits(logits_after({2, 9, 5, 6}), logits_after({2, 7, 5, 6})));
}

// Whatever the first token is; each later one counts.
TEST(Transformer, ADecoderThatBeginsWithZerosReadsNoFirstToken) {
  TransformerConfig config = small_config();
  config.zero_start = true;
  DrawnParameters drawn(Rng(1));
  const Transformer model(drawn, config);
  Workspace workspace;
  const Context context = Context::inference(workspace);
  const TokenBatch source{Tensor::from(Ids{4, 5, 3}, {1, 3}), Tensor::from(Ids{3}, {1})};
  const auto logits_after = [&](const Ids& tokens) {
    return model.logits(context, {source, Tensor::from(tokens, {1, std::ssize(tokens)})}).value();
  };
  EXPECT_TRUE(testing::same_bits(logits_after({2, 9, 5}), logits_after({7, 9, 5})));
  EXPECT_FALSE(testing::same_bits(logits_after({2, 9, 5}), logits_after({2, 7, 5})));
}

TEST(Transformer, SelectingRowsMovesEverythingThatBelongsToThem) {
  Rng rng(1);
  DrawnParameters drawn(rng);
  const Transformer model(drawn, small_config());
  Workspace workspace;
  const Context context = Context::inference(workspace);
  const TokenBatch source = small_batch().source;
  const auto straight = admitted(model, context, source), swapped = admitted(model, context, source);
  model.step(context, *straight, Ids{2, 2});
  model.step(context, *swapped, Ids{2, 2});
  swapped->select_rows(std::vector<Index>{1, 0, 1});
  const Tensor a = model.step(context, *straight, Ids{9, 5}), b = model.step(context, *swapped, Ids{5, 9, 5});
  EXPECT_TRUE(testing::same_bits(slice(a.view(), 0, 1, 2), slice(b.view(), 0, 0, 1)));
  EXPECT_TRUE(testing::same_bits(slice(a.view(), 0, 0, 1), slice(b.view(), 0, 1, 2)));
  EXPECT_TRUE(testing::same_bits(slice(a.view(), 0, 1, 2), slice(b.view(), 0, 2, 3)));
}

}  // namespace
}  // namespace heed
