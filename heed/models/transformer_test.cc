#include "heed/models/transformer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <memory>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/layers/drawn_parameters.h"
#include "heed/layers/listed_parameters.h"
#include "heed/models/model_config.h"
#include "heed/models/small_batch.h"
#include "heed/testing/gradient_check.h"
#include "heed/testing/refusal.h"

namespace heed {
namespace {

using Ids = std::vector<std::int32_t>;

TransformerConfig small_config() {
  TransformerConfig config;
  config.source_vocabulary = config.target_vocabulary = 11;
  config.width = 8, config.heads = 2, config.ffn_width = 10;
  config.encoder_layers = 1, config.decoder_layers = 2;
  config.max_length = 12;
  config.activation = Activation::gelu;
  config.dropout = config.attention_dropout = config.activation_dropout = 0.1;
  return config;
}

// Kinds of attention, with numbers that leave keys out in sentences as short as small_batch's, and other choices.
std::map<std::string, TransformerConfig> variants() {
  std::map<std::string, TransformerConfig> all;
  const auto add = [&](const std::string& name, auto change) {
    TransformerConfig config = small_config();
    config.decoder_layers = 1;
    change(config);
    all.emplace(name, config);
  };
  for (const char* attention :
       {"window(1)", "strided(1)", "fixed(block=2)", "bigbird(block=2, global=0, random=0)", "elu", "cosine + alibi",
        "squared_distance + relative(buckets=4) + sigmoid", "additive + rotary + sinks", "soft_cap(3) + entmax15"}) {
    add(attention, [&](TransformerConfig& c) { c.attention = AttentionChoice(attention); });
  }
  add("sparse alignments", [](TransformerConfig& c) { c.cross_attention = AttentionChoice("cosine + sparsemax"); });
  add("no positions", [](TransformerConfig& c) { c.positions = PositionKind::none; });
  add("gated, rms, both", [](TransformerConfig& c) {
    c.gated = true, c.activation = Activation::silu, c.norm = NormKind::rms, c.norm_place = NormPlace::both;
  });
  add("projections apart, narrow heads", [](TransformerConfig& c) {
    c.separate_projections = true, c.head_width = 2, c.attention_out_bias = c.ffn_bias = false;
  });
  add("norms of queries and keys", [](TransformerConfig& c) {
    c.query_key_norm = c.separate_projections = true, c.kv_heads = 1, c.attention_bias = false;
    c.attention = AttentionChoice("rotary_linear(4)");
    c.norm_epsilon = 1e-3;
  });
  add("alternating", [](TransformerConfig& c) {
    c.decoder_layers = 2, c.alternate = true;
    c.alternate_attention = AttentionChoice("dot(0.3) + window(1)");
  });
  add("embeddings normed and scaled, logits scaled with a bias", [](TransformerConfig& c) {
    c.embedding_norm = c.output_bias = true, c.embedding_scale = 1.5, c.logit_scale = 0.3;
  });
  add("normed at the end again",
      [](TransformerConfig& c) { c.norm_place = NormPlace::post, c.final_norm = FinalNorm::always; });
  add("grouped", [](TransformerConfig& c) { c.heads = 4, c.kv_heads = 2; });
  add("multi-query", [](TransformerConfig& c) { c.kv_heads = 1; });
  return all;
}

void check_gradients(const TransformerConfig& config) {
  DrawnParameters drawn(Rng(1));
  const Transformer model(drawn, config);
  const ParameterList& parameters = drawn.list();
  for (const auto& [name, var] : parameters) var.convert(DType::f64);
  const SequenceBatch batch = small_batch();
  const CrossEntropyOptions options{.label_smoothing = 0.1, .gradient_scale = 0.5};
  Workspace workspace;
  const auto loss = [&](Tape* tape) {
    DropoutCalls dropout({.seed = 7});
    return 0.5 * model.loss({.tape = tape, .workspace = workspace, .dropout = &dropout}, batch, options).loss_sum;
  };
  Tape tape;
  loss(&tape);
  tape.backward();
  for (const auto& [name, var] : parameters) {
    ASSERT_TRUE(var.has_grad()) << name;
    EXPECT_LT(testing::gradient_error([&] { return loss(nullptr); }, var.value(), var.grad().view()), 5e-7) << name;
  }
}

TEST(Transformer, GradientsAgreeWithFiniteDifferences) {
  TransformerConfig config = small_config();
  check_gradients(config);
  config.norm_place = NormPlace::post;
  config.positions = PositionKind::learned;
  config.share_embeddings = config.tie_output = false;
  check_gradients(config);
}

TEST(Transformer, GradientsOfEverySelfAttentionAgreeWithFiniteDifferences) {
  for (const auto& [name, config] : variants()) {
    SCOPED_TRACE(name);
    check_gradients(config);
  }
}

TEST(Transformer, GradientsOfALanguageModelsParallelBlocksAgreeWithFiniteDifferences) {
  TransformerConfig config = small_config();
  config.encoder_layers = 0, config.norm_place = NormPlace::parallel;
  DrawnParameters drawn(Rng(1));
  const Transformer model(drawn, config);
  for (const auto& [name, var] : drawn.list()) var.convert(DType::f64);
  SequenceBatch batch = small_batch();
  batch.source = {};
  Workspace workspace;
  const auto loss = [&](Tape* tape) {
    return model.loss({.tape = tape, .workspace = workspace}, batch, CrossEntropyOptions{}).loss_sum;
  };
  Tape tape;
  loss(&tape);
  tape.backward();
  for (const auto& [name, var] : drawn.list()) {
    EXPECT_LT(testing::gradient_error([&] { return loss(nullptr); }, var.value(), var.grad().view()), 5e-7) << name;
  }
}

TEST(Transformer, LayersThatAlternateAreLayers) {
  TransformerConfig config = small_config();
  config.alternate = true, config.alternate_layers = {config.decoder_layers - 1};
  config.check();
  for (const Index wrong : {Index{-1}, std::max(config.encoder_layers, config.decoder_layers)}) {
    config.alternate_layers = {wrong};
    EXPECT_THROW(config.check(), Error) << wrong;
  }
}

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

TEST(Transformer, ParametersHaveTheNamesOfAPyTorchStateDict) {
  TransformerConfig config = small_config();
  config.decoder_layers = 1;
  config.share_embeddings = config.tie_output = false;
  config.positions = PositionKind::learned;
  ListedParameters listed;
  const Transformer model(listed, config);
  constexpr bool kWeight = true;
  const auto attention = [](const std::string& path) {
    return std::vector<ParameterShape>{{path + ".in_proj_weight", {24, 8}, kWeight},
                                       {path + ".in_proj_bias", {24}},
                                       {path + ".out_proj.weight", {8, 8}, kWeight},
                                       {path + ".out_proj.bias", {8}}};
  };
  std::vector<ParameterShape> expected{{"source_embedding.weight", {11, 8}, kWeight},
                                       {"target_embedding.weight", {11, 8}, kWeight},
                                       {"source_positions.weight", {12, 8}},
                                       {"target_positions.weight", {12, 8}}};
  const auto append = [&](const std::vector<ParameterShape>& more) {
    expected.insert(expected.end(), more.begin(), more.end());
  };
  const auto append_rest_of_layer = [&](const std::string& path, int norms) {
    append({{path + ".linear1.weight", {10, 8}, kWeight},
            {path + ".linear1.bias", {10}},
            {path + ".linear2.weight", {8, 10}, kWeight},
            {path + ".linear2.bias", {8}}});
    for (int norm = 1; norm <= norms; ++norm) {
      const std::string name = path + ".norm" + std::to_string(norm);
      append({{name + ".weight", {8}}, {name + ".bias", {8}}});
    }
  };
  append(attention("encoder.layers.0.self_attn"));
  append_rest_of_layer("encoder.layers.0", 2);
  append(attention("decoder.layers.0.self_attn"));
  append(attention("decoder.layers.0.multihead_attn"));
  append_rest_of_layer("decoder.layers.0", 3);
  append({{"encoder.norm.weight", {8}}, {"encoder.norm.bias", {8}}});
  append({{"decoder.norm.weight", {8}}, {"decoder.norm.bias", {8}}});
  append({{"generator.weight", {11, 8}, kWeight}});
  EXPECT_EQ(listed.shapes(), expected);
}

TEST(Transformer, ListsTheParametersThatItDraws) {
  for (const auto& [name, config] : variants()) {
    ListedParameters listed;
    DrawnParameters drawn(Rng(1));
    const Transformer of_no_use(listed, config), model(drawn, config);
    EXPECT_EQ(listed.shapes(), drawn.shapes()) << name;
    EXPECT_EQ(drawn.list().size(), drawn.shapes().size()) << name;
  }
}

// Petabytes, had they to be made: tables of positions too.
TEST(Transformer, ListsTheParametersOfAModelThatNoMachineHolds) {
  for (const PositionKind positions : {PositionKind::sinusoidal, PositionKind::learned}) {
    TransformerConfig config = small_config();
    config.width = config.ffn_width = config.source_vocabulary = config.target_vocabulary = Index{1} << 24;
    config.encoder_layers = config.decoder_layers = 1024;
    config.max_length = 1 << 16;
    config.positions = positions;
    ListedParameters listed;
    const Transformer of_no_use(listed, config);
    const std::vector<Index> table{Index{1} << 24, Index{1} << 24};
    EXPECT_EQ(listed.shapes().front().shape, table);
    EXPECT_GT(listed.shapes().size(), 30u * 1024);
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

TEST(Transformer, ANarrowCacheRoundsKeysAndValues) {
  TransformerConfig config = small_config();
  config.width = 32, config.heads = 4, config.ffn_width = 64;
  config.attention = AttentionChoice("rotary");
  const auto logits_of = [&](const TransformerConfig& shape, Precision cache) {
    DrawnParameters drawn(Rng(1));
    const Transformer model(drawn, shape);
    Workspace workspace;
    const Context context = Context::inference(workspace);
    const auto state = admitted(model, context, small_batch().source, cache);
    Tensor logits;
    for (std::int32_t token : {2, 9, 4, 6}) logits = model.step(context, *state, Ids{5, token});
    return logits;
  };
  for (const Index encoders : {1, 0}) {
    config.encoder_layers = encoders;
    const Tensor exact = logits_of(config, Precision::f32);
    // Half a unit in the last place of numbers of about 1, and half a hundred-and-twenty-seventh of the largest.
    for (const auto& [cache, rounding] : {std::pair(Precision::bf16, 1.0 / 256), std::pair(Precision::f16, 1.0 / 2048),
                                          std::pair(Precision::int8, 1.0 / 127)}) {
      const double difference = testing::largest_difference(logits_of(config, cache), exact);
      EXPECT_GT(difference, 0) << enum_name(cache);
      EXPECT_LT(difference, rounding) << enum_name(cache);
    }
  }
}

TEST(Transformer, EverySelfAttentionReadsANarrowCache) {
  for (const auto& [name, config] : variants()) {
    DrawnParameters drawn(Rng(1));
    const Transformer model(drawn, config);
    Workspace workspace;
    const Context context = Context::inference(workspace);
    const TokenBatch source = small_batch().source;
    for (const auto& [type, cache] : kPrecisionNames) {
      const auto exact = admitted(model, context, source), state = admitted(model, context, source, cache);
      for (std::int32_t token : {2, 9, 4, 6}) {
        const Tensor logits = model.step(context, *state, Ids{5, token});
        EXPECT_LT(testing::largest_difference(logits, model.step(context, *exact, Ids{5, token})), 0.05)
            << name << ", " << type;
      }
    }
  }
}

TEST(Transformer, ADecoderThatKeepsNoKeysRefusesToKeepThemNarrow) {
  TransformerConfig config = small_config();
  config.causal = false;
  DrawnParameters drawn(Rng(1));
  const Transformer model(drawn, config);
  EXPECT_NE(testing::refusal([&] { model.start(Precision::int8); }).find("none to keep in int8"), std::string::npos);
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

TEST(Transformer, RefusesConfigurationsThatMakeNoSense) {
  const auto refused = [](auto change) {
    TransformerConfig config = small_config();
    change(config);
    ListedParameters listed;
    EXPECT_THROW(Transformer(listed, config), Error);
  };
  refused([](TransformerConfig& c) { c.heads = 3; });
  refused([](TransformerConfig& c) { c.heads = 0; });
  refused([](TransformerConfig& c) { c.decoder_layers = c.encoder_layers = 0; });
  refused([](TransformerConfig& c) { c.norm_place = NormPlace::parallel; });
  refused([](TransformerConfig& c) { c.dropout = 1; });
  refused([](TransformerConfig& c) { c.target_vocabulary = 12; });
  refused([](TransformerConfig& c) { c.max_length = Index{1} << 40; });
  refused([](TransformerConfig& c) { c.kv_heads = 3; });
  refused([](TransformerConfig& c) { c.kv_heads = -1; });
  refused([](TransformerConfig& c) { c.attention = AttentionChoice("fixed(block=8, summary=9)"); });
  refused([](TransformerConfig& c) { c.attention = AttentionChoice("rotary(width=16)"); });
  refused([](TransformerConfig& c) { c.cross_attention = AttentionChoice("window(2)"); });
}

TEST(ModelConfig, SurvivesJson) {
  ModelConfig config;
  config.transformer = small_config();
  config.transformer.positions = PositionKind::learned;
  const Json json = to_json(config);
  EXPECT_EQ(to_json(model_config_from_json(Json::parse(json.dump(2)))), json);
}

TEST(ModelConfig, KeepsEverySelfAttention) {
  for (const auto& [name, chosen] : variants()) {
    ModelConfig config;
    config.transformer = chosen;
    const ModelConfig read = model_config_from_json(to_json(config));
    EXPECT_EQ(to_json(read), to_json(config)) << name;
    ListedParameters listed, expected;
    make_model(listed, read);
    make_model(expected, config);
    EXPECT_EQ(listed.shapes(), expected.shapes()) << name;
  }
}

// Folders that earlier versions wrote: of the first, and of one with kinds of self-attention.
TEST(ModelConfig, OfEarlierVersionsIsReadAsWhatItWas) {
  ModelConfig config;
  config.transformer = small_config();
  config.transformer.norm_place = NormPlace::post;
  Json earlier = Json::object({{"norm_first", false}});
  for (const auto& [name, value] : to_json(config)["config"].members()) {
    const bool later = name == "kv_heads" || name == "norm" || name == "norm_place" || name == "gated" ||
                       name == "attention" || name == "cross_attention";
    if (!later) earlier.set(name == "ffn_width" ? "hidden" : name, value);
  }
  const auto read = [&] {
    return to_json(model_config_from_json(Json::object({{"model", "transformer"}, {"config", earlier}})));
  };
  EXPECT_EQ(read(), to_json(config));
  for (const char* name : {"attention_window", "attention_stride", "attention_block", "attention_summary",
                           "attention_global", "attention_random"}) {
    earlier.set(name, 3);
  }
  earlier.set("key_value_heads", 1);
  config.transformer.kv_heads = 1;
  for (const auto& [kind, attention] : std::map<std::string, std::string>{{"softmax", "scaled_dot"},
                                                                          {"local", "window(3)"},
                                                                          {"strided", "strided(3)"},
                                                                          {"fixed", "fixed(3, 3)"},
                                                                          {"bigbird", "bigbird(3, 3, 3, 3)"},
                                                                          {"linear", "elu"}}) {
    earlier.set("attention", kind);
    config.transformer.attention = AttentionChoice(attention);
    EXPECT_EQ(read(), to_json(config)) << kind;
  }
  earlier.set("heads", Json());
  EXPECT_THROW(model_config_from_json(Json::object({{"model", "transformer"}, {"config", earlier}})), Error);
}

}  // namespace
}  // namespace heed
