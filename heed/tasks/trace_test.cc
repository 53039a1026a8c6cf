#include "heed/tasks/trace.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "heed/layers/drawn_parameters.h"
#include "heed/observe/trace_file.h"
#include "heed/pretrained/pretrained_model.h"
#include "heed/tasks/light_traces.h"
#include "heed/tasks/model_batch.h"
#include "heed/tasks/picture_classifier.h"
#include "heed/tasks/trace_signal.h"
#include "heed/tasks/translate.h"
#include "heed/testing/data_folder.h"
#include "heed/testing/refusal.h"
#include "heed/text/whitespace_vocabulary.h"

namespace heed {
namespace {

// What the weights of a map are by its scores: softmax(scale q . k + bias) over the keys whose weight is not 0.
void expect_weights_of_scores(const AttentionTrace::Map& map) {
  ASSERT_FALSE(map.q.empty()) << map.path;
  const Index d = map.q.shape[2], group = map.heads / map.k.shape[0];
  const auto at = [](const TraceArray& array, Index a, Index b, Index c) {
    return static_cast<double>(array.values[static_cast<std::size_t>((a * array.shape[1] + b) * array.shape[2] + c)]);
  };
  for (Index h = 0; h < map.heads; ++h) {
    for (Index i = 0; i < map.queries; ++i) {
      std::vector<double> scores(static_cast<std::size_t>(map.keys));
      double sum = 0;
      for (Index j = 0; j < map.keys; ++j) {
        double& score = scores[static_cast<std::size_t>(j)];
        for (Index f = 0; f < d; ++f) score += at(map.q, h, i, f) * at(map.k, h / group, j, f);
        score = map.scale * score + (map.bias.empty() ? 0 : at(map.bias, map.bias.shape[0] == 1 ? 0 : h, i, j));
        if (map.weight(h, i, j) > 0) sum += std::exp(score);
      }
      for (Index j = 0; j < map.keys; ++j) {
        if (map.weight(h, i, j) == 0) continue;
        ASSERT_NEAR(std::exp(scores[static_cast<std::size_t>(j)]) / sum, map.weight(h, i, j), 2e-5)
            << map.path << " " << h << " " << i << " " << j;
      }
    }
  }
}

void expect_sound(const AttentionTrace& trace) {
  EXPECT_EQ(testing::refusal([&] { validate(trace, "trace"); }), "no error");
  EXPECT_EQ(parse_traces(traces_to_text({&trace, 1}), "t")[0], trace);
  EXPECT_FALSE(trace.maps.empty());
  for (const AttentionTrace::Map& map : trace.maps) {
    for (Index h = 0; h < map.heads; ++h) {
      for (Index i = 0; i < map.queries; ++i) {
        double sum = 0;
        for (Index j = 0; j < map.keys; ++j) sum += double{map.weight(h, i, j)};
        EXPECT_NEAR(sum, 1, 1e-4) << map.path;
      }
    }
  }
}

const TraceParts kAll{.scores = true, .embeddings = true};

// A model of random numbers over a few words.
ModelFolder folder_of(ModelConfig config) {
  const std::string line = "der die Hund Katze läuft schl@@ äft . the dog cat runs sleeps";
  ModelFolder folder;
  auto vocabulary = std::make_shared<const WhitespaceVocabulary>(WhitespaceVocabulary::build({&line, 1}));
  static_cast<TextCodec&>(folder) = codec_of({vocabulary, vocabulary});
  config.transformer.source_vocabulary = config.transformer.target_vocabulary = vocabulary->size();
  config.rnn.source_vocabulary = config.rnn.target_vocabulary = vocabulary->size();
  folder.config = config;
  DrawnParameters drawn(Rng(7));
  folder.model = make_model(drawn, config);
  folder.parameters = drawn.list();
  return folder;
}

ModelConfig transformer(const char* attention = "scaled_dot") {
  ModelConfig config;
  config.kind = ModelKind::transformer;
  TransformerConfig& t = config.transformer;
  t.width = 16, t.heads = 4, t.kv_heads = 2, t.ffn_width = 24, t.max_length = 32;
  t.encoder_layers = t.decoder_layers = 2;
  t.attention = AttentionChoice(attention);
  return config;
}

const std::string kGerman = "der Hund läuft .", kEnglish = "the dog runs .";

TEST(Trace, WeightsOfATransformerAreThoseOfItsScores) {
  for (const char* attention : {"scaled_dot", "rotary", "alibi", "relative + window(3)"}) {
    const ModelFolder folder = folder_of(transformer(attention));
    const AttentionTrace trace = trace_pair(folder, kGerman, folder.target_ids(kEnglish), {.parts = kAll});
    expect_sound(trace);
    ASSERT_EQ(trace.maps.size(), 6u);
    for (const AttentionTrace::Map& map : trace.maps) expect_weights_of_scores(map);
    EXPECT_EQ(trace.maps[0].k.shape[0], 2);
    EXPECT_EQ(trace.source_embeddings.before.shape, (std::vector<Index>{5, 16}));
    EXPECT_EQ(trace.decoder_embeddings.after.shape, (std::vector<Index>{5, 16}));
  }
}

TEST(Trace, ScoresThatAreNoProductsAreNotThere) {
  const ModelFolder folder = folder_of(transformer("cosine"));
  const AttentionTrace trace = trace_pair(folder, kGerman, folder.target_ids(kEnglish), {.parts = kAll});
  expect_sound(trace);
  for (const AttentionTrace::Map& map : trace.maps) {
    EXPECT_EQ(map.q.empty(), map.kind != AttentionKind::cross) << map.path;  // which has a choice of its own
  }
}

TEST(Trace, NothingIsRecordedThatWasNotAskedFor) {
  const ModelFolder folder = folder_of(transformer());
  const AttentionTrace trace = trace_pair(folder, kGerman, folder.target_ids(kEnglish));
  EXPECT_TRUE(trace.source_embeddings.empty() && trace.decoder_embeddings.empty());
  for (const AttentionTrace::Map& map : trace.maps) EXPECT_TRUE(map.q.empty() && map.k.empty() && map.bias.empty());
}

TEST(Trace, ARecurrentDecoderIsOneHead) {
  for (const RnnScore score : {RnnScore::dot, RnnScore::general, RnnScore::additive}) {
    ModelConfig config;
    config.kind = ModelKind::rnn;
    config.rnn.style = RnnStyle::luong, config.rnn.cell = CellKind::lstm, config.rnn.score = score;
    config.rnn.embedding_width = config.rnn.state_width = config.rnn.attention_width = 8;
    const ModelFolder folder = folder_of(config);
    const AttentionTrace trace = trace_pair(folder, kGerman, folder.target_ids(kEnglish), {.parts = kAll});
    expect_sound(trace);
    ASSERT_EQ(trace.maps.size(), 1u);
    EXPECT_EQ(trace.maps[0].heads, 1);
    if (score == RnnScore::additive) {
      EXPECT_TRUE(trace.maps[0].q.empty());
    } else {
      expect_weights_of_scores(trace.maps[0]);
    }
  }
}

TEST(Trace, WordsOfBothSidesAreThoseOfTheTexts) {
  const ModelFolder folder = folder_of(transformer());
  const AttentionTrace trace = trace_pair(folder, "die Katze schläft .", folder.target_ids("the cat sleeps ."));
  EXPECT_EQ(trace.source.words, (std::vector<Index>{0, 1, 2, 3, -1}));
  EXPECT_EQ(trace.decoder.words, (std::vector<Index>{-1, 0, 1, 2, 3}));
  EXPECT_EQ(trace.target.words, (std::vector<Index>{0, 1, 2, 3, -1}));
  EXPECT_EQ(trace.target.word_texts, (std::vector<std::string>{"the", "cat", "sleeps", "."}));
}

TEST(Trace, GoldLinksAreOfWords) {
  const ModelFolder folder = folder_of(transformer());
  const AttentionTrace trace =
      trace_aligned_pair(folder, kGerman, kEnglish, {.sure = {{0, 0}}, .possible = {{0, 0}, {3, 3}}});
  EXPECT_EQ(trace.gold, (std::vector<AttentionTrace::GoldLink>{{0, 0, true}, {3, 3, false}}));
  expect_sound(trace);
  EXPECT_EQ(testing::refusal([&] {
              trace_aligned_pair(folder, kGerman, kEnglish, {.sure = {}, .possible = {{4, 0}}});
            }),
            "the alignment links word 4 to word 0, but the sentences have 4 and 4 words, counted from 0");
}

TEST(Trace, TheSearchLeadsToTheTranslation) {
  const ModelFolder folder = folder_of(transformer());
  const BeamOptions beam{.beam = 3, .max_ratio = 1};
  const Translation best = Translator(folder).translate({&kGerman, 1}, beam)[0][0];
  AttentionTrace trace = trace_pair(folder, kGerman, best.tokens);
  trace.steps = trace_search(folder, kGerman, beam);
  expect_sound(trace);
  // Some path spells the tokens that were found.
  bool is_there = false;
  const std::size_t last = trace.target.tokens.size() - 1;
  ASSERT_LT(last, trace.steps.size());
  for (std::size_t end = 0; end < trace.steps[last].hypotheses.size(); ++end) {
    std::vector<std::string> tokens;
    Index at = static_cast<Index>(end);
    for (std::size_t step = last + 1; step-- > 0;) {
      const AttentionTrace::Hypothesis& hypothesis = trace.steps[step].hypotheses[static_cast<std::size_t>(at)];
      tokens.insert(tokens.begin(), hypothesis.token);
      at = hypothesis.parent;
    }
    is_there = is_there || tokens == trace.target.tokens;
  }
  EXPECT_TRUE(is_there);
}

TEST(Trace, ALanguageModelsTextIsReadAndAnswered) {
  ModelConfig config = transformer();
  config.transformer.encoder_layers = 0;
  const ModelFolder folder = folder_of(config);
  const AttentionTrace trace = trace_text(folder, folder.target_ids(kEnglish), {.parts = kAll});
  expect_sound(trace);
  EXPECT_EQ(trace.source, TraceSide());
  EXPECT_EQ(trace.decoder.words, (std::vector<Index>{-1, 0, 1, 2, 3}));
  for (const AttentionTrace::Map& map : trace.maps) expect_weights_of_scores(map);
}

TEST(Trace, AnEncoderReadsASourceAlone) {
  ModelConfig config = transformer();
  config.transformer.decoder_layers = 0;
  const ModelFolder folder = folder_of(config);
  const AttentionTrace trace = trace_encoded(folder, kGerman, std::nullopt, kAll);
  expect_sound(trace);
  EXPECT_EQ(trace.target, TraceSide());
  EXPECT_TRUE(trace.source.segments.empty());
  for (const AttentionTrace::Map& map : trace.maps) {
    EXPECT_EQ(map.kind, AttentionKind::encoder);
    expect_weights_of_scores(map);
  }
}

TEST(Trace, APicturesPatchesHaveTheirPlaces) {
  TransformerConfig config = transformer().transformer;
  config.decoder_layers = 0, config.max_length = 7;
  config.source_vocabulary = config.target_vocabulary = 1;
  config.signal = {.kind = SignalKind::picture, .channels = 3, .height = 8, .width = 12, .patch = 4};
  DrawnParameters drawn(Rng(5));
  const Transformer model(drawn, config);
  Rng rng(2);
  const Tensor pixels = Tensor::empty(DType::f32, {1, 3, 8, 12});
  for (Index i = 0; i < pixels.size(); ++i) pixels.data<float>()[i] = static_cast<float>(rng.normal());
  AttentionTrace trace = trace_signal(model, pixels, picture_side(config.signal), kAll);
  trace.image = picture_uri({2, 1, {1, 2, 3, 4, 5, 6}});
  expect_sound(trace);
  EXPECT_EQ(trace.source.grid, (TraceGrid{2, 3}));
  EXPECT_EQ(trace.source.tokens, (std::vector<std::string>{"[CLS]", "0,0", "0,1", "0,2", "1,0", "1,1", "1,2"}));
  EXPECT_EQ(trace.source.words, (std::vector<Index>{-1, 0, 1, 2, 3, 4, 5}));
  for (const AttentionTrace::Map& map : trace.maps) expect_weights_of_scores(map);
  config.signal.distilled = true;
  const TraceSide distilled = picture_side(config.signal);
  EXPECT_EQ(distilled.tokens, (std::vector<std::string>{"[CLS]", "[DIST]", "0,0", "0,1", "0,2", "1,0", "1,1", "1,2"}));
  EXPECT_EQ(distilled.words, (std::vector<Index>{-1, -1, 0, 1, 2, 3, 4, 5}));
}

TEST(Trace, SoundsFramesHaveTheirLength) {
  TransformerConfig config = transformer().transformer;
  config.source_vocabulary = config.target_vocabulary = 10;
  config.signal = {.kind = SignalKind::sound, .channels = 2, .frames = 8};
  DrawnParameters drawn(Rng(5));
  const Transformer model(drawn, config);
  const std::string line = "a b c";
  const WhitespaceVocabulary vocabulary = WhitespaceVocabulary::build({&line, 1});
  const std::vector<std::int32_t> ids = {vocabulary.begin(), vocabulary.id_of("a"), vocabulary.id_of("c"),
                                         vocabulary.end()};
  const AttentionTrace trace =
      trace_signal(model, Tensor::zeros(DType::f32, {1, 8, 2}), sound_side(4, 0.02), vocabulary, ids, "a c", kAll);
  expect_sound(trace);
  EXPECT_EQ(trace.source.tokens.back(), "0.06");
  EXPECT_EQ(trace.source.seconds, 0.02);
  EXPECT_EQ(trace.decoder.tokens, (std::vector<std::string>{"<s>", "a", "c"}));
  EXPECT_EQ(trace.target.tokens, (std::vector<std::string>{"a", "c", "</s>"}));
  for (const AttentionTrace::Map& map : trace.maps) expect_weights_of_scores(map);
}

// Others' models: whatever their positions, biases, norms and heads are, the scores that are shown give the weights.
TEST(TraceOfOthers, WeightsOfEveryFamilyAreThoseOfItsScores) {
  for (const char* name : {"bert-tiny-classifier", "bloom-tiny", "gpt2-tiny-random", "llama-stories260k-hf",
                           "llama-stories260k-hf/stories260K.gguf", "stories260K/stories260K.bin", "t5-tiny-d8",
                           "aren-transliteration", "pytorch-encoder-decoder"}) {
    HEED_DATA_OR_SKIP(folder, std::filesystem::path("models") / name);
    const PretrainedModel opened = open_pretrained(folder);
    const TransformerConfig& config = opened.family.config;
    const std::vector<std::int32_t> ids = {5, 9, 20, 7, 11};
    const Tensor tokens = Tensor::from(ids, {1, 5});
    AttentionRecorder recorder(
        {.row = 0, .source_length = config.has_encoder() ? 5 : 0, .target_length = config.has_decoder() ? 5 : 0}, kAll);
    Workspace workspace;
    const Context context = Context::inference(workspace, &recorder);
    const TokenBatch source{.ids = tokens, .lengths = Tensor::from(std::vector<std::int32_t>{5}, {1})};
    if (!config.has_decoder()) {
      opened.model->encode(context, source);
    } else {
      opened.model->features(context, {.source = config.has_encoder() ? source : TokenBatch(), .input = tokens});
    }
    const std::vector<AttentionTrace::Map> maps = recorder.take_maps();
    EXPECT_EQ(std::ssize(maps), config.encoder_layers + (config.has_encoder() ? 2 : 1) * config.decoder_layers) << name;
    for (const AttentionTrace::Map& map : maps) {
      SCOPED_TRACE(name);
      expect_weights_of_scores(map);
    }
  }
}

TEST(TraceOfOthers, BertReadsTwoSentences) {
  HEED_DATA_OR_SKIP(path, "models/bert-tiny-classifier");
  const ModelFolder folder = load_model_folder(path);
  const AttentionTrace trace = trace_encoded(folder, "The dog runs.", "It is tired.", kAll);
  expect_sound(trace);
  EXPECT_EQ(trace.source.tokens.front(), "[CLS]");
  EXPECT_EQ(trace.source.words.front(), -1);
  EXPECT_EQ(trace.source.segments.front(), 0);
  EXPECT_EQ(trace.source.segments.back(), 1);
  EXPECT_EQ(trace.source.word_texts, (std::vector<std::string>{"The", "dog", "runs", ".", "It", "is", "tired", "."}));
  EXPECT_EQ(trace.source.word_count(), 8);
}

TEST(TraceOfOthers, BytesInDisguiseAreReadable) {
  HEED_DATA_OR_SKIP(path, "models/bloom-tiny");
  const ModelFolder folder = load_model_folder(path);
  const std::string text = "Das ist grün, und 我喜欢猫。";
  const AttentionTrace trace = trace_text(folder, folder.target_ids(text), {.parts = kAll});
  expect_sound(trace);
  EXPECT_EQ(trace.target.text, text);
  std::string joined;
  for (const std::string& token : trace.decoder.tokens) {
    EXPECT_EQ(token.find("\xC4\xA0"), std::string::npos) << token;  // "Ġ"
    joined += token;
  }
  EXPECT_NE(joined.find("\xE2\x96\x81ist"), std::string::npos) << joined;
}

TEST(TraceOfOthers, TranslatorsOfOthersHaveThreeSides) {
  for (const char* name : {"t5-tiny-d8", "aren-transliteration"}) {
    HEED_DATA_OR_SKIP(path, std::filesystem::path("models") / name);
    const ModelFolder folder = load_model_folder(path);
    const std::vector<int> target = {5, 9, 20};
    const std::string source = std::string(name).starts_with("t5") ? "a house" : "م ح م د";
    const AttentionTrace trace = trace_pair(folder, source, target, {.parts = kAll});
    SCOPED_TRACE(name);
    expect_sound(trace);
    EXPECT_EQ(trace.decoder.size(), trace.target.size());
    EXPECT_EQ(trace.decoder.words.front(), -1);
    EXPECT_EQ(trace.target.words.back(), -1);
  }
}

TEST(LightTraces, WhatIsTooMuchForAPageGoesScoresFirst) {
  const auto numbers = [](Index count) {
    return TraceArray{{1, count, 1}, std::vector<float>(static_cast<std::size_t>(count))};
  };
  AttentionTrace one, other;
  one.maps.emplace_back().q = numbers(1'500'000);
  other.maps.emplace_back().k = numbers(400'000);
  other.source_embeddings.before = numbers(100'000);
  AttentionTrace* const both[] = {&one, &other};
  EXPECT_EQ(lighten(both), "");
  EXPECT_EQ(one.maps[0].q.values.size(), 1'500'000u);
  one.maps[0].k = numbers(1);
  EXPECT_EQ(lighten(both), "queries and keys are 1900001 numbers, too many for a page to open fast, and were left out");
  EXPECT_TRUE(one.maps[0].q.values.empty());
  EXPECT_EQ(other.source_embeddings.before.values.size(), 100'000u);
  other.source_embeddings.after = numbers(2'000'000);
  EXPECT_NE(lighten(both), "");
  EXPECT_TRUE(other.source_embeddings.before.values.empty());
}

}  // namespace
}  // namespace heed
