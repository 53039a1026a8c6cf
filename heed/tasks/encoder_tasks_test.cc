// embed, fill and classify, of small models of random weights whose heads say what can be known beforehand.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "heed/base/file_writer.h"
#include "heed/layers/drawn_parameters.h"
#include "heed/models/rnn.h"
#include "heed/tasks/classify.h"
#include "heed/tasks/embed.h"
#include "heed/tasks/fill.h"
#include "heed/tasks/read_texts.h"
#include "heed/testing/gradient_check.h"
#include "heed/testing/refusal.h"
#include "heed/testing/scratch_test.h"
#include "heed/text/open_tokenizer.h"

namespace heed {
namespace {

using testing::refusal;
using testing::same_bits;

class EncoderTasksTest : public testing::ScratchTest {
 protected:
  static inline const std::vector<std::string> kLines{"the dog runs", "the dog", "a small dog runs and runs",
                                                      "a dog\tthe dog runs"};

  void SetUp() override {
    write_file(folder_ / "vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nthe\na\ndog\nruns\nsmall\nand\n.\n");
  }

  static TransformerConfig encoder() {
    TransformerConfig config;
    config.width = 16, config.heads = 2, config.ffn_width = 24, config.max_length = 16;
    config.encoder_layers = 2, config.decoder_layers = 0;
    config.norm_place = NormPlace::post;
    config.token_types = 2;
    return config;
  }
  static TransformerConfig with_classes(ClassifierKind kind, std::vector<std::string> labels) {
    TransformerConfig config = encoder();
    config.encoder_heads.classifier = kind;
    config.encoder_heads.labels = std::move(labels);
    return config;
  }

  ModelFolder model_of(TransformerConfig config) const {
    ModelFolder folder;
    folder.source_vocabulary = folder.target_vocabulary = open_tokenizer(folder_);
    config.source_vocabulary = config.target_vocabulary = folder.source_vocabulary->size();
    folder.templated = true;
    folder.config.transformer = config;
    DrawnParameters drawn(Rng(3));
    folder.model = make_model(drawn, folder.config);
    folder.parameters = drawn.list();
    return folder;
  }
};

// The model's own vectors of a text that is read alone.
Tensor hidden_of(const ModelFolder& folder, const EncodedText& text) {
  const auto& model = dynamic_cast<const Transformer&>(*folder.model);
  const Index length = std::ssize(text.ids);
  Workspace workspace;
  const TokenBatch batch{Tensor::from(text.ids, {1, length}),
                         Tensor::from(std::vector<std::int32_t>{static_cast<std::int32_t>(length)}, {1})};
  return model.encode(Context::inference(workspace), batch, Tensor::from(text.types, {1, length})).value();
}

TEST_F(EncoderTasksTest, AVectorIsTheMeanOfTheTokensVectorsOrOneOfThem) {
  const ModelFolder folder = model_of(encoder());
  const Tensor mean = embed(folder, kLines, {.pool = Pool::mean}), first = embed(folder, kLines, {.pool = Pool::first}),
               last = embed(folder, kLines, {.pool = Pool::last});
  for (std::size_t line = 0; line < kLines.size(); ++line) {
    const EncodedText text = line < 3 ? folder.source_vocabulary->encode_special(kLines[line])
                                      : folder.source_vocabulary->encode_special("a dog", "the dog runs");
    const Tensor hidden = hidden_of(folder, text);
    for (Index i = 0; i < 16; ++i) {
      double sum = 0;
      for (Index t = 0; t < hidden.dim(1); ++t) sum += static_cast<double>(hidden.at<float>({0, t, i}));
      const Index at = static_cast<Index>(line);
      EXPECT_NEAR(mean.at<float>({at, i}), sum / static_cast<double>(hidden.dim(1)), 1e-5);
      EXPECT_NEAR(first.at<float>({at, i}), hidden.at<float>({0, 0, i}), 1e-5);
      EXPECT_NEAR(last.at<float>({at, i}), hidden.at<float>({0, hidden.dim(1) - 1, i}), 1e-5);
    }
  }
}

TEST_F(EncoderTasksTest, VectorsAreTheSameInEveryBatch) {
  const ModelFolder folder = model_of(encoder());
  const Tensor together = embed(folder, kLines, {.pool = Pool::mean, .batch_tokens = 1000});
  EXPECT_TRUE(same_bits(embed(folder, kLines, {.pool = Pool::mean, .batch_tokens = 1}).view(), together.view()));
  EXPECT_TRUE(same_bits(embed(folder, kLines, {.pool = Pool::mean, .batch_tokens = 20}).view(), together.view()));
}

TEST_F(EncoderTasksTest, AVectorMayBeOfAnyLayer) {
  const ModelFolder folder = model_of(encoder());
  const Tensor states = hidden_states(folder, "the dog runs");
  const Index layers = states.dim(0) - 1, tokens = states.dim(1);
  ASSERT_EQ(layers, encoder().encoder_layers);
  const std::vector<std::string> lines{"a dog", "the dog runs"};
  for (Index layer = 0; layer <= layers; ++layer) {
    const Tensor first = embed(folder, lines, {.pool = Pool::first, .layer = layer}),
                 from_end = embed(folder, lines, {.pool = Pool::last, .layer = layer - layers - 1});
    for (Index i = 0; i < states.dim(2); ++i) {
      EXPECT_EQ(first.at<float>({1, i}), states.at<float>({layer, 0, i}));
      EXPECT_EQ(from_end.at<float>({1, i}), states.at<float>({layer, tokens - 1, i}));
    }
  }
  EXPECT_EQ(refusal([&] { embed(folder, lines, {.layer = layers + 1}); }),
            fmt::format("the model: has layers 0 to {0}, or -{1} to -1 from the end, and none of number {1}", layers,
                        layers + 1));
}

TEST_F(EncoderTasksTest, ALanguageModelHasVectorsToo) {
  TransformerConfig config = encoder();
  config.encoder_layers = 0, config.decoder_layers = 1, config.token_types = 0;
  const ModelFolder folder = model_of(config);
  const std::vector<std::string> lines{"the dog", "the dog runs"};
  const Tensor first = embed(folder, lines, {.pool = Pool::first}), last = embed(folder, lines, {.pool = Pool::last});
  EXPECT_EQ(first.at<float>({0, 3}), first.at<float>({1, 3}));  // what has seen [CLS] alone
  EXPECT_NE(last.at<float>({0, 3}), last.at<float>({1, 3}));
}

TEST_F(EncoderTasksTest, TheCosineOfAVectorWithItselfIsOne) {
  const Tensor vectors = Tensor::from(std::vector<float>{3, 4, -6, -8, 4, -3, 0, 0}, {4, 2});
  EXPECT_DOUBLE_EQ(cosine(vectors, 0, 0), 1);
  EXPECT_DOUBLE_EQ(cosine(vectors, 0, 1), -1);
  EXPECT_DOUBLE_EQ(cosine(vectors, 0, 2), 0);
  EXPECT_DOUBLE_EQ(cosine(vectors, 0, 3), 0);
  EXPECT_THROW(cosine(vectors, 0, 4), Error);
}

TEST_F(EncoderTasksTest, EveryMaskHasItsLikeliestWords) {
  TransformerConfig config = encoder();
  config.encoder_heads.masked_words = true;
  const ModelFolder folder = model_of(config);
  const std::vector<std::string> lines{"the [MASK] runs and [MASK]", "[MASK]"};
  const Index words = folder.source_vocabulary->size();
  const auto all = fill_masks(folder, lines, 100);
  ASSERT_EQ(all.size(), 2U);
  ASSERT_EQ(all[0].size(), 2U);
  ASSERT_EQ(all[1].size(), 1U);
  EXPECT_EQ(all[0][0].position, 2);
  EXPECT_EQ(all[0][1].position, 5);
  for (const auto& line : all) {
    for (const MaskedWord& mask : line) {
      ASSERT_EQ(std::ssize(mask.candidates), words);
      double sum = 0, before = 1;
      for (const auto& [token, probability] : mask.candidates) {
        EXPECT_LE(probability, before);
        sum += before = probability;
      }
      EXPECT_NEAR(sum, 1, 1e-6);
    }
  }
  const auto two = fill_masks(folder, lines, 2, "input", 1);  // each line a batch
  ASSERT_EQ(two[0][1].candidates.size(), 2U);
  EXPECT_EQ(two[0][1].candidates[0].token, all[0][1].candidates[0].token);
  EXPECT_EQ(two[0][1].candidates[0].probability, all[0][1].candidates[0].probability);
  EXPECT_EQ(filled_text(*folder.source_vocabulary, all[0][0], folder.source_vocabulary->id_of("dog")),
            "the dog runs and [MASK]");
  EXPECT_EQ(refusal([&] { fill_masks(folder, kLines); }), "input:1: has no [MASK]");
}

TEST_F(EncoderTasksTest, ProbabilitiesOfClassesSumToOneUnlessTheyAreIndependent) {
  TransformerConfig config = with_classes(ClassifierKind::sequence, {"yes", "no", "perhaps"});
  const ModelFolder exclusive = model_of(config);
  config.encoder_heads.independent = true;
  const ModelFolder independent = model_of(config);
  EXPECT_EQ(class_labels(exclusive), (std::vector<std::string>{"yes", "no", "perhaps"}));
  const auto shares = classify(exclusive, kLines), alone = classify(independent, kLines);
  ASSERT_EQ(shares.size(), kLines.size());
  for (std::size_t i = 0; i < kLines.size(); ++i) {
    const std::vector<double>& p = shares[i].probabilities;
    EXPECT_NEAR(std::accumulate(p.begin(), p.end(), 0.0), 1, 1e-6);
    EXPECT_EQ(shares[i].likeliest(), alone[i].likeliest());  // both grow with the same logits
    for (std::size_t c = 1; c < 3; ++c) {
      const double odds = std::log(alone[i].probabilities[c] / (1 - alone[i].probabilities[c])) -
                          std::log(alone[i].probabilities[0] / (1 - alone[i].probabilities[0]));
      EXPECT_NEAR(std::log(p[c] / p[0]), odds, 1e-5);
    }
  }
}

TEST_F(EncoderTasksTest, ARegressionsNumbersAreTheModelsOwn) {
  TransformerConfig config = with_classes(ClassifierKind::sequence, {"first", "second"});
  const ModelFolder classes = model_of(config);
  config.encoder_heads.regression = true;
  const auto numbers = classify(model_of(config), kLines), shares = classify(classes, kLines);
  for (std::size_t i = 0; i < kLines.size(); ++i) {
    const std::vector<double>&x = numbers[i].probabilities, &p = shares[i].probabilities;
    EXPECT_NEAR(x[1] - x[0], std::log(p[1] / p[0]), 1e-5);
    EXPECT_GT(std::abs(x[0] + x[1] - 1), 1e-3);
  }
}

TEST_F(EncoderTasksTest, EveryTokenOfTheTextHasAClassAndTheTemplatesHaveNone) {
  const ModelFolder folder = model_of(with_classes(ClassifierKind::tokens, {"noun", "other"}));
  EXPECT_TRUE(classifies_tokens(folder));
  const auto lines = classify_tokens(folder, kLines);
  for (std::size_t i = 0; i < 3; ++i) {
    std::vector<int> tokens;
    for (const ClassifiedToken& token : lines[i]) tokens.push_back(token.token);
    EXPECT_EQ(tokens, folder.source_vocabulary->encode(kLines[i]));
  }
  EXPECT_EQ(lines[3].size(), 5U);  // of both texts
}

TEST_F(EncoderTasksTest, AClassifierWithADecoderReadsTheTextAgainAndTakesItsLastToken) {
  TransformerConfig config = with_classes(ClassifierKind::sequence, {"no", "perhaps", "yes"});
  config.decoder_layers = 1, config.token_types = 0, config.has_output = false;
  config.share_embeddings = true;
  ModelFolder folder = model_of(config);
  folder.special.begin = -1;
  EXPECT_EQ(refusal([&] { classify(folder, kLines); }),
            "the model: its decoder begins with no token, so it cannot read the text again");
  folder.special.begin = 3;
  const auto& model = dynamic_cast<const Transformer&>(*folder.model);
  const std::vector<Classified> classified = classify(folder, kLines);
  for (std::size_t i = 0; i < kLines.size(); ++i) {
    const std::vector<int> ids = TextReader(folder).encode({&kLines[i], 1}, "line")[0].ids;
    const Index length = std::ssize(ids);
    std::vector<int> again = ids;
    again.insert(again.begin(), 3), again.pop_back();
    Workspace workspace;
    const Context context = Context::inference(workspace);
    const TokenBatch source{Tensor::from(ids, {1, length}),
                            Tensor::from(std::vector<std::int32_t>{static_cast<std::int32_t>(length)}, {1})};
    const Var hidden = model.features(context, {.source = source, .input = Tensor::from(again, {1, length})});
    const Tensor logits = model.heads().class_logits(context, hidden).value();
    EXPECT_EQ(classified[i].probabilities, class_probabilities(config.encoder_heads, logits)[0].probabilities) << i;
  }
}

TEST_F(EncoderTasksTest, WhatTheModelHasNotIsRefused) {
  const ModelFolder bare = model_of(encoder());
  const std::vector<std::string> mask{"[MASK]"};
  EXPECT_EQ(refusal([&] { fill_masks(bare, mask); }),
            "the model: guesses no masked words: it turns text into vectors (embed)");
  EXPECT_EQ(refusal([&] { classify(bare, kLines); }),
            "the model: tells the class of nothing: it turns text into vectors (embed)");
  const ModelFolder tokens = model_of(with_classes(ClassifierKind::tokens, {"noun", "other"}));
  EXPECT_EQ(refusal([&] { classify(tokens, kLines); }),
            "the model: tells the class of no whole text: it tells the class of each token (classify), turns text into "
            "vectors (embed)");
  ModelFolder recurrent = model_of(encoder());
  recurrent.config.kind = ModelKind::rnn;
  recurrent.config.set_vocabularies(12, 12);
  DrawnParameters drawn(Rng(3));
  recurrent.model = make_model(drawn, recurrent.config);
  EXPECT_EQ(refusal([&] { embed(recurrent, kLines, {.pool = Pool::mean}); }),
            "the model: gives no vectors of whole texts: it translates text (translate)");
}

TEST_F(EncoderTasksTest, ATextThatIsCutKeepsItsTemplate) {
  const ModelFolder folder = model_of(encoder());
  const std::vector<std::string> lines{"the dog runs and runs and runs and runs and runs and runs and runs", "the dog"};
  const TextReader reader(folder);
  const std::vector<EncodedText> cut = reader.encode(lines, "input", {.most = 5, .cut = true});
  EXPECT_EQ(cut, reader.encode(std::vector<std::string>{"the dog runs", "the dog"}, "input"));
  EXPECT_EQ(refusal([&] { reader.encode(lines, "input", {.most = 5}); }),
            "input:1: has 17 tokens, and its folder says at most 5");
  EXPECT_EQ(refusal([&] { reader.encode(lines, "input", {.most = 2, .cut = true}); }),
            "input:1: has 17 tokens, and its folder says at most 2");
  const std::vector<std::string> fits{"the dog runs and runs and runs and runs and runs and runs and", "the dog"};
  EXPECT_TRUE(same_bits(embed(folder, lines, {.cut = true}).view(), embed(folder, fits).view()));
}

TEST_F(EncoderTasksTest, AFolderSaysWhatIsReadOfATextForItsVectorAndItsHiddenStates) {
  ModelFolder folder = model_of(encoder());
  const std::vector<std::string> whole{"a small dog"}, rest{"dog"};
  const Tensor vector = embed(folder, whole), states = hidden_states(folder, whole[0]);
  write_file(folder_ / "config_sentence_transformers.json",
             R"({"prompts": {"query": "a small "}, "default_prompt_name": "query"})");
  folder.path = folder_;
  EXPECT_TRUE(same_bits(embed(folder, rest).view(), vector.view()));
  EXPECT_TRUE(same_bits(hidden_states(folder, rest[0]).view(), states.view()));
}

TEST_F(EncoderTasksTest, ATextThatDoesNotFitIsNamed) {
  const ModelFolder folder = model_of(encoder());
  const std::vector<std::string> long_line{"the dog",
                                           "the dog runs and runs and runs and runs and runs and runs and runs"};
  EXPECT_EQ(refusal([&] { embed(folder, long_line, {.pool = Pool::mean}, "some.txt"); }),
            "some.txt:2: has 17 tokens, and the model can hold 16");
  const std::vector<std::string> pair{long_line[1] + "\tthe dog"};
  EXPECT_EQ(refusal([&] { embed(folder, pair, {.cut = true}); }), "input:1: has 20 tokens, and the model can hold 16");
  const std::vector<std::string> tabs{"a\tb\tc"};
  EXPECT_EQ(refusal([&] { embed(folder, tabs, {.pool = Pool::mean}); }),
            "input:1: has several tabs, but one parts two texts");
}

}  // namespace
}  // namespace heed
