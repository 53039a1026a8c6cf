#include "heed/models/encoder_heads.h"

#include <gtest/gtest.h>

#include "heed/base/error.h"
#include "heed/layers/drawn_parameters.h"
#include "heed/layers/listed_parameters.h"
#include "heed/models/model_config.h"
#include "heed/models/small_batch.h"
#include "heed/testing/gradient_check.h"

namespace heed {
namespace {

using Ids = std::vector<std::int32_t>;

// An encoder like ALBERT's: narrow embeddings, types of tokens, all heads.
TransformerConfig small_config(PoolerKind pooler, ClassifierKind classifier) {
  TransformerConfig config;
  config.source_vocabulary = config.target_vocabulary = 11;
  config.width = 8, config.heads = 2, config.ffn_width = 10;
  config.encoder_layers = 1, config.decoder_layers = 0;
  config.max_length = 12;
  config.activation = Activation::gelu;
  config.norm_place = NormPlace::post;
  config.positions = PositionKind::learned;
  config.embedding_norm = true;
  config.token_types = 2;
  config.factorised_embedding = 6;
  config.dropout = config.attention_dropout = 0;
  config.encoder_heads.pooler = pooler;
  config.encoder_heads.classifier = classifier;
  if (classifier != ClassifierKind::none) config.encoder_heads.labels = {"yes", "no"};
  config.encoder_heads.masked_words = true;
  return config;
}

const Tensor kTypes = Tensor::from(Ids{0, 0, 1, 1, 0, 1, 1, 0}, {2, 4});

// Gradients of a weighted sum of what a head computes, by every parameter that it hangs on.
template <typename Head>
void check_gradients(const TransformerConfig& config, Head head) {
  DrawnParameters drawn(Rng(1));
  const Transformer model(drawn, config);
  for (const auto& [name, var] : drawn.list()) var.convert(DType::f64);
  Workspace workspace;
  const auto forward = [&](Tape* tape) {
    const Context context{.tape = tape, .workspace = workspace, .dropout = nullptr};
    return head(model.heads(), context, model.encode(context, small_batch().source, kTypes));
  };
  Tape tape;
  const Var y = forward(&tape);
  const Tensor weights = Tensor::empty_like(y.value().view());
  for (Index i = 0; i < weights.size(); ++i) weights.data<double>()[i] = 0.1 * static_cast<double>(i % 7) - 0.2;
  y.add_grad(weights);
  tape.backward();
  int with_gradient = 0;
  for (const auto& [name, var] : drawn.list()) {
    if (!var.has_grad()) continue;
    ++with_gradient;
    const auto loss = [&] { return testing::weighted_sum(forward(nullptr).value(), weights); };
    EXPECT_LT(testing::gradient_error(loss, var.value(), var.grad().view()), 5e-7) << name;
  }
  EXPECT_GT(with_gradient, 20);  // those of the encoder and the head's own
}

TEST(EncoderHeads, GradientsAgreeWithFiniteDifferences) {
  const auto classes = [](const EncoderHeads& heads, const Context& context, const Var& hidden) {
    return heads.class_logits(context, hidden);
  };
  const auto words = [](const EncoderHeads& heads, const Context& context, const Var& hidden) {
    return heads.masked_word_logits(context, hidden);
  };
  for (PoolerKind pooler : {PoolerKind::none, PoolerKind::tanh, PoolerKind::relu, PoolerKind::gelu}) {
    check_gradients(small_config(pooler, ClassifierKind::sequence), classes);
  }
  check_gradients(small_config(PoolerKind::none, ClassifierKind::tokens), classes);
  TransformerConfig config = small_config(PoolerKind::none, ClassifierKind::none);
  check_gradients(config, words);
  config.tie_output = false;
  check_gradients(config, words);
}

TEST(EncoderHeads, HaveARowForEachSequenceOrForEachToken) {
  Workspace workspace;
  const Context context = Context::inference(workspace);
  const auto shape = [&](ClassifierKind kind) {
    DrawnParameters drawn(Rng(1));
    const Transformer model(drawn, small_config(PoolerKind::tanh, kind));
    return describe(
        model.heads().class_logits(context, model.encode(context, small_batch().source, kTypes)).value().view());
  };
  EXPECT_EQ(shape(ClassifierKind::sequence), "f32 [2, 2]");
  EXPECT_EQ(shape(ClassifierKind::next_sentence), "f32 [2, 2]");
  EXPECT_EQ(shape(ClassifierKind::tokens), "f32 [2, 4, 2]");
  EXPECT_EQ(shape(ClassifierKind::spans), "f32 [2, 4, 2]");
}

TEST(EncoderHeads, PaddingChangesNoClass) {
  DrawnParameters drawn(Rng(1));
  const Transformer model(drawn, small_config(PoolerKind::tanh, ClassifierKind::sequence));
  Workspace workspace;
  const Context context = Context::inference(workspace);
  const TokenBatch alone{Tensor::from(Ids{7, 8, 3}, {1, 3}), Tensor::from(Ids{3}, {1})};
  const TokenBatch padded{Tensor::from(Ids{7, 8, 3, 0, 0}, {1, 5}), Tensor::from(Ids{3}, {1})};
  const auto classes = [&](const TokenBatch& batch) {
    return model.heads().class_logits(context, model.encode(context, batch)).value();
  };
  EXPECT_LT(testing::largest_difference(classes(padded).view(), classes(alone).view()), 1e-6);
}

// The last token of each of a decoder's sequences, whatever is behind it.
TEST(EncoderHeads, ADecodersLastTokenStandsForItsSequence) {
  TransformerConfig config = small_config(PoolerKind::tanh, ClassifierKind::sequence);
  config.encoder_layers = 0, config.decoder_layers = 1;
  config.factorised_embedding = config.token_types = 0;
  config.encoder_heads.masked_words = false;
  config.has_output = false;
  DrawnParameters drawn(Rng(1));
  const Transformer model(drawn, config);
  Workspace workspace;
  const Context context = Context::inference(workspace);
  const auto classes = [&](const Ids& ids, const Tensor& lengths) {
    const Tensor input = Tensor::from(ids, {1, std::ssize(ids)});
    return model.heads().class_logits(context, model.features(context, {.input = input}), lengths).value();
  };
  const Tensor whole = classes({7, 8, 3}, {});
  EXPECT_LT(testing::largest_difference(classes({7, 8, 3, 0, 0}, Tensor::from(Ids{3}, {1})).view(), whole.view()),
            1e-6);
  EXPECT_GT(testing::largest_difference(classes({7, 8, 4}, {}).view(), whole.view()), 1e-3);
  EXPECT_THROW(classes({7, 8}, Tensor::from(Ids{3}, {1})), Error);
  EXPECT_THROW(model.logits(context, {.input = Tensor::from(Ids{7}, {1, 1})}), Error) << "it has no output";
}

TEST(EncoderHeads, ADistilledClassifierIsOfAPictureThatIs) {
  TransformerConfig config = small_config(PoolerKind::none, ClassifierKind::sequence);
  config.encoder_heads.masked_words = false;
  config.encoder_heads.distilled = true;
  EXPECT_THROW(config.check(), Error);
  config.factorised_embedding = config.token_types = 0;
  config.signal = {.kind = SignalKind::picture, .channels = 1, .height = 4, .width = 4, .patch = 2, .distilled = true};
  config.check();
}

TEST(EncoderHeads, RefuseWhatTheModelHasNot) {
  DrawnParameters drawn(Rng(1));
  TransformerConfig config = small_config(PoolerKind::none, ClassifierKind::none);
  config.encoder_heads.masked_words = false;
  const Transformer model(drawn, config);
  Workspace workspace;
  const Context context = Context::inference(workspace);
  const Var hidden = model.encode(context, small_batch().source);
  EXPECT_THROW(model.heads().pooled(context, hidden), Error);
  EXPECT_THROW(model.heads().class_logits(context, hidden), Error);
  EXPECT_THROW(model.heads().masked_word_logits(context, hidden), Error);
}

TEST(EncoderHeads, RefuseConfigurationsThatMakeNoSense) {
  const auto refused = [](auto change) {
    TransformerConfig config = small_config(PoolerKind::tanh, ClassifierKind::sequence);
    change(config);
    ListedParameters listed;
    EXPECT_THROW(Transformer(listed, config), Error);
  };
  refused([](TransformerConfig& c) { c.encoder_heads.labels.clear(); });
  refused([](TransformerConfig& c) { c.encoder_heads.classifier = ClassifierKind::none; });
  refused([](TransformerConfig& c) {
    c.encoder_heads.classifier = ClassifierKind::spans;
    c.encoder_heads.labels.push_back("neither");
  });
  refused([](TransformerConfig& c) { c.decoder_layers = 1, c.factorised_embedding = 0; });  // masked words
  refused([](TransformerConfig& c) { c.decoder_layers = 1, c.encoder_heads = {}; });
}

TEST(EncoderHeads, SurviveJson) {
  ModelConfig config;
  config.transformer = small_config(PoolerKind::relu, ClassifierKind::tokens);
  const ModelConfig read = model_config_from_json(Json::parse(to_json(config).dump(2)));
  EXPECT_EQ(to_json(read), to_json(config));
  ListedParameters listed, expected;
  make_model(listed, read);
  make_model(expected, config);
  EXPECT_EQ(listed.shapes(), expected.shapes());
}

}  // namespace
}  // namespace heed
