#include "heed/tasks/train.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <limits>
#include <map>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/file_writer.h"
#include "heed/base/parallel.h"
#include "heed/base/text_lines.h"
#include "heed/corpus/corpus.h"
#include "heed/io/json.h"
#include "heed/io/safetensors.h"
#include "heed/tasks/generate.h"
#include "heed/tasks/perplexity.h"
#include "heed/tasks/score.h"
#include "heed/tasks/training_task.h"
#include "heed/tasks/translate.h"
#include "heed/testing/refusal.h"
#include "heed/testing/scratch_test.h"

namespace heed {
namespace {

class TrainTest : public testing::ScratchTest {
 protected:
  void SetUp() override {
    write_corpus(generate_corpus({.pairs = 300, .seed = 1, .validation = 12, .test = 8}), folder_);
    options_.vocabulary_size = 250;
    options_.batch_tokens = 600;
    options_.validate_every = 4;
    options_.average = 2;
    TransformerConfig& t = options_.model.transformer;
    t.width = 16, t.ffn_width = 32, t.heads = 2, t.encoder_layers = t.decoder_layers = 1;
  }

  TrainPaths paths(const std::string& model) const {
    return {.source = (folder_ / "train.de").string(),
            .target = (folder_ / "train.en").string(),
            .valid_source = (folder_ / "valid.de").string(),
            .valid_target = (folder_ / "valid.en").string(),
            .text = {},
            .valid = {},
            .folder = (folder_ / model).string()};
  }
  TrainingResult run(const std::string& model, Index updates) {
    return train(paths(model), options_, {.max_updates = updates}, monitor_, stop_);
  }
  std::string model_bytes(const std::string& model) const { return read_file(folder_ / model / "model.safetensors"); }
  std::string refusal(const std::string& model, Index updates) {
    try {
      run(model, updates);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }

  TrainOptions options_;
  TrainingMonitor monitor_;
  std::atomic<bool> stop_{false};
};

// Stops at a given update, as Ctrl-C would.
struct Interrupter : TrainingMonitor {
  Interrupter(std::atomic<bool>& flag, Index at) : stop(flag), update(at) {}
  void on_update(const UpdateReport& report) override { stop = stop || report.update == update; }
  std::atomic<bool>& stop;
  Index update;
};

// Keeps what a run says of itself.
struct Listener : TrainingMonitor {
  void on_update(const UpdateReport& report) override { updates.push_back(report); }
  void on_validation(const ValidationReport& report) override {
    tried.push_back({{report.update}, report.bleu.value_or(0), report.loss});
  }
  void on_candidate(const Candidate& candidate) override { tried.push_back(candidate); }
  std::vector<UpdateReport> updates;
  std::vector<Candidate> tried;
};

// The kept parameters of a run, and what else lies in its training folder.
std::vector<std::string> names_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const std::filesystem::path& file : files_in(folder)) names.push_back(file.filename().string());
  return names;
}

TEST_F(TrainTest, TheModelIsTheBestOfTheCheckpointsAndTheirMeans) {
  options_.average = 4;
  options_.warmup = 4;              // the first checkpoints are so bad that any mean with them is
  for (Index updates : {16, 18}) {  // with and without a validation at the very end
    Listener listener;
    const std::string name = "model" + std::to_string(updates);
    const TrainingResult result = train(paths(name), options_, {.max_updates = updates}, listener, stop_);
    ASSERT_EQ(listener.tried.size(), (updates == 16 ? 4u : 5u) + 3u);
    for (const Candidate& other : listener.tried) EXPECT_FALSE(better(other, result.model)) << describe(other);
    // The mean of all four is worse than the last one: shipping it would be a loss.
    EXPECT_TRUE(better(result.model, listener.tried.back()));
    // The folder holds what the result speaks of.
    const ModelFolder model = load_model_folder(folder_ / name);
    Workspace workspace;
    const ValidationScore score =
        make_training_task(paths(name), options_, nullptr, monitor_)->measure(*model.model, workspace);
    EXPECT_EQ(score.bleu, result.model.bleu);
    EXPECT_EQ(score.loss, result.model.loss);
  }
}

TEST_F(TrainTest, ARunThatIsLeftHasTheBestModelThatItHasSeen) {
  Interrupter interrupter(stop_, 10);
  train(paths("left"), options_, {.max_updates = 40}, interrupter, stop_);
  stop_ = false;
  Listener listener;
  train(paths("whole"), options_, {.max_updates = 8}, listener, stop_);
  ASSERT_TRUE(better(listener.tried[1], listener.tried[0]));  // update 8 is better than 4
  const std::string kept = read_file(folder_ / "whole" / "training" / "parameters-8.safetensors");
  EXPECT_EQ(model_bytes("left"), kept);
}

TEST_F(TrainTest, ARunThatStoppedBetweenValidationsGoesOnAsIfItHadNot) {
  run("stopped", 6);
  run("stopped", 12);
  run("straight", 12);
  EXPECT_EQ(model_bytes("stopped"), model_bytes("straight"));
  EXPECT_EQ(names_in(folder_ / "stopped" / "training"), names_in(folder_ / "straight" / "training"));
}

TEST_F(TrainTest, OnlyItsOwnFilesAreRemoved) {
  run("model", 8);
  const std::filesystem::path training = folder_ / "model" / "training";
  for (const char* name : {"parameters-best.safetensors", "parameters-007.safetensors", "parameters-7.safetensors.bak"})
    write_file(training / name, "precious");
  write_file(training / "parameters-1.safetensors", "left by a kill");
  options_.rate = 0.5;
  EXPECT_NE(refusal("model", 12), "no error");
  EXPECT_TRUE(file_exists(training / "parameters-1.safetensors"));  // a run that is refused touches nothing
  options_.rate = 0.003;
  run("model", 16);
  EXPECT_FALSE(file_exists(training / "parameters-1.safetensors"));
  for (const char* name : {"parameters-best.safetensors", "parameters-007.safetensors", "parameters-7.safetensors.bak"})
    EXPECT_EQ(read_file(training / name), "precious");
}

TEST_F(TrainTest, AFolderWithSomebodyElsesFilesIsRefused) {
  for (const char* name : {"vocabulary.spm", "source.vocab.txt", "target.spm", "config.json", "metrics.jsonl"}) {
    const std::filesystem::path folder = folder_ / ("with." + std::string(name));
    make_folder(folder);
    write_file(folder / name, "precious");
    EXPECT_NE(refusal(folder.filename().string(), 2).find("is not of a training run"), std::string::npos) << name;
    EXPECT_EQ(names_in(folder), std::vector<std::string>{name});
    EXPECT_EQ(read_file(folder / name), "precious");
  }
}

TEST_F(TrainTest, OptionsAreCheckedBeforeAnythingIsReadOrWritten) {
  const TrainOptions good = options_;
  const auto refused = [&](auto change) {
    options_ = good;
    change(options_);
    const std::string none = "no such file";
    const TrainPaths nowhere{none, none, none, none, none, none, (folder_ / "untouched").string()};
    const std::string message =
        testing::refusal([&] { train(nowhere, options_, {.max_updates = 2}, monitor_, stop_); });
    EXPECT_FALSE(file_exists(folder_ / "untouched"));
    return message;
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(refused([&](TrainOptions& o) { o.model.transformer.dropout = nan; }),
            "Transformer: dropout must be from 0 to below 1, but is nan");
  EXPECT_EQ(refused([&](TrainOptions& o) { o.model.transformer.max_length = -1; }),
            "Transformer: max_length must be from 2 to 16777216, but is -1");
  EXPECT_EQ(refused([](TrainOptions& o) { o.model.transformer.heads = 3; }),
            "Transformer: width 16 must be a multiple of heads 3");
  EXPECT_EQ(refused([&](TrainOptions& o) { o.model.kind = ModelKind::rnn, o.model.rnn.dropout = nan; }),
            "RnnTranslator: dropout must be from 0 to below 1, but is nan");
  EXPECT_EQ(refused([&](TrainOptions& o) { o.clip = nan; }), "train: clip must be from 0 up, but is nan");
  EXPECT_EQ(refused([&](TrainOptions& o) { o.model.transformer.decoder_layers = 0; }),
            "train: a model that writes needs a decoder, but decoder_layers is 0");
  EXPECT_EQ(refused([&](TrainOptions& o) { o.model.transformer.attention = AttentionChoice("rotary(width=3)"); }),
            "rotary: the width must be even and at least 2, but is 3");
}

TEST_F(TrainTest, TheLossThatIsReportedIsThatOfTheLastUpdatesTogether) {
  Listener listener;
  train(paths("model"), options_, {.max_updates = 6}, listener, stop_);
  double loss = 0, tokens = 0, before = 0;
  std::size_t update = 0;
  for (const std::string& line : read_text_lines(folder_ / "model" / "metrics.jsonl")) {
    const Json json = Json::parse(line, "line");
    EXPECT_GE(json["seconds"].number(), before);
    before = json["seconds"].number();
    if (!json.has("loss")) continue;  // a validation
    loss = 0.95 * loss + json["loss"].number() * json["target_tokens"].number();
    tokens = 0.95 * tokens + json["target_tokens"].number();
    EXPECT_NEAR(listener.updates[update++].loss, loss / tokens, 1e-9);
  }
  EXPECT_EQ(update, 6u);
}

TEST_F(TrainTest, LeavesAModelThatTranslates) {
  const TrainingResult result = run("model", 6);
  EXPECT_EQ(result.stop, TrainingStop::max_updates);
  EXPECT_EQ(result.updates, 6);
  const ModelFolder model = load_model_folder(folder_ / "model");
  Translator translator(model);
  const auto translations = translator.translate(read_text_lines(folder_ / "test.de"), {.beam = 2, .best = 2});
  ASSERT_EQ(translations.size(), 8u);
  for (const auto& best : translations) EXPECT_EQ(best.size(), 2u);
}

TEST_F(TrainTest, AStateThatIsNotFiniteIsRefusedByName) {
  run("model", 4);
  const std::filesystem::path state = folder_ / "model" / "training" / "state.safetensors";
  std::map<std::string, std::string> metadata;
  const std::map<std::string, Tensor> sound = read_safetensors(state, &metadata);
  const std::string parameter = "encoder.layers.0.linear1.weight";
  for (const char* kind : {"value:", "first_moment:", "second_moment:"}) {
    std::map<std::string, ConstView> tensors;
    for (const auto& [name, tensor] : sound) tensors[name] = tensor.view();
    const Tensor spoiled = sound.at(kind + parameter).clone();
    spoiled.at<float>({1, 2}) = std::numeric_limits<float>::quiet_NaN();
    tensors[kind + parameter] = spoiled.view();
    write_safetensors(state, tensors, metadata);
    EXPECT_EQ(refusal("model", 8),
              state.string() + ": " + kind + parameter + ": every element must be finite, but element 18 is nan");
  }
}

TEST_F(TrainTest, AStateWithCountsThatNoRunReachesIsRefusedByName) {
  run("model", 4);
  const std::filesystem::path file = folder_ / "model" / "training" / "state.safetensors";
  std::map<std::string, std::string> metadata;
  const std::map<std::string, Tensor> tensors = read_safetensors(file, &metadata);
  const Json sound = Json::parse(metadata["state"]);
  for (const char* count : {"update", "epoch", "batch", "since_better"}) {
    for (const Index bad : {std::numeric_limits<Index>::max(), Index{-1}}) {
      Json state = sound;
      state.set(count, bad);
      write_safetensors(file, {tensors.begin(), tensors.end()}, {{"state", state.dump()}});
      const std::string error = refusal("model", 8);
      EXPECT_TRUE(error.starts_with(file.string() + ": " + count + ": must be an integer from 0 to ")) << error;
    }
  }
}

TEST_F(TrainTest, AStateOfAnOlderHeedIsRefused) {
  run("model", 4);
  const std::filesystem::path file = folder_ / "model" / "training" / "state.safetensors";
  std::map<std::string, std::string> metadata;
  const std::map<std::string, Tensor> tensors = read_safetensors(file, &metadata);
  Json state = Json::parse(metadata["state"]);
  state.set("rng_position", 96);
  write_safetensors(file, {tensors.begin(), tensors.end()}, {{"state", state.dump()}});
  EXPECT_EQ(refusal("model", 8), file.string() +
                                     ": was saved by an older heed, whose dropout nobody draws again: go on with that, "
                                     "or train anew in another folder");
}

TEST_F(TrainTest, AnInterruptedRunContinuesToTheSameBits) {
  run("straight", 10);
  for (Index at : {1, 4, 7}) {  // before, at and after a validation
    stop_ = false;
    const std::string name = "interrupted" + std::to_string(at);
    Interrupter interrupter(stop_, at);
    const TrainingResult first = train(paths(name), options_, {.max_updates = 10}, interrupter, stop_);
    EXPECT_EQ(first.stop, TrainingStop::interrupted);
    EXPECT_EQ(first.updates, at);
    stop_ = false;
    run(name, 10);
    EXPECT_EQ(model_bytes(name), model_bytes("straight")) << at;
  }
}

TEST_F(TrainTest, TheSameBitsForAnyThreadCount) {
  const int before = thread_count();
  set_thread_count(1);
  run("one", 5);
  set_thread_count(3);
  run("three", 5);
  set_thread_count(before);
  EXPECT_EQ(model_bytes("one"), model_bytes("three"));
}

TEST_F(TrainTest, AccumulationAndSeedMatter) {
  run("one", 3);
  options_.accumulate = 2;
  run("two", 3);
  options_.accumulate = 1;
  options_.seed = 2;
  run("seed", 3);
  EXPECT_NE(model_bytes("one"), model_bytes("two"));
  EXPECT_NE(model_bytes("one"), model_bytes("seed"));
}

TEST_F(TrainTest, AFinishedRunIsLeftAsItIsAndMayGoOnUnderAHigherLimit) {
  run("model", 4);
  const std::string bytes = model_bytes("model");
  EXPECT_EQ(run("model", 4).stop, TrainingStop::finished_before);
  EXPECT_EQ(model_bytes("model"), bytes);
  EXPECT_EQ(run("model", 8).updates, 8);
  run("straight", 8);
  EXPECT_EQ(model_bytes("model"), model_bytes("straight"));
}

TEST_F(TrainTest, OtherOptionsAreRefusedByName) {
  run("model", 2);
  options_.rate = 0.5;
  EXPECT_NE(refusal("model", 4).find("this run was started with rate 0.003, not 0.5"), std::string::npos)
      << refusal("model", 4);
  options_.rate = 0.003;
  options_.model.transformer.ffn_width = 48;
  EXPECT_NE(refusal("model", 4).find("this run was started with ffn_width 32, not 48"), std::string::npos);
}

TEST_F(TrainTest, AMistakenOptionCanBeCorrectedInTheSameFolder) {
  options_.model.transformer.heads = 3;  // of a width of 16
  EXPECT_NE(refusal("model", 2).find("must be a multiple"), std::string::npos);
  options_.model.transformer.heads = 2;
  options_.shared_vocabulary = false;
  EXPECT_NE(refusal("model", 2).find("share_embeddings"), std::string::npos);
  options_.model.transformer.share_embeddings = false;
  EXPECT_EQ(run("model", 2).updates, 2);
  // The joint vocabulary of the first start is not found beside the two of the last.
  const ModelFolder model = load_model_folder(folder_ / "model");
  EXPECT_NE(model.source_vocabulary, model.target_vocabulary);
}

TEST_F(TrainTest, TwoRunsInOneFolderAreRefused) {
  struct Second : TrainingMonitor {
    void on_update(const UpdateReport&) override { message = start(); }
    std::function<std::string()> start;
    std::string message;
  } second;
  second.start = [this] { return refusal("model", 4); };
  train(paths("model"), options_, {.max_updates = 1}, second, stop_);
  EXPECT_NE(second.message.find("another process is at work"), std::string::npos) << second.message;
}

TEST_F(TrainTest, OtherTextIsRefused) {
  run("model", 2);
  write_file(folder_ / "train.de", read_file(folder_ / "train.de") + "Neu.\n");
  write_file(folder_ / "train.en", read_file(folder_ / "train.en") + "New.\n");
  EXPECT_NE(refusal("model", 4).find("this run was started with training_text \"300 lines, "), std::string::npos)
      << refusal("model", 4);
}

TEST_F(TrainTest, ALossThatIsNotFiniteNamesTheUpdateAndKeepsTheCheckpoint) {
  run("model", 4);
  const std::string state = read_file(folder_ / "model" / "training" / "state.safetensors");
  options_.rate = 1e30;
  options_.clip = 0;
  options_.warmup = 0;
  const std::string message = refusal("broken", 50);
  EXPECT_NE(message.find("train: at update "), std::string::npos) << message;
  EXPECT_NE(message.find("nothing was saved before"), std::string::npos) << message;
  EXPECT_EQ(read_file(folder_ / "model" / "training" / "state.safetensors"), state);
}

TEST_F(TrainTest, MetricsHaveALineForEachUpdateEvenAfterAnInterruption) {
  Interrupter interrupter(stop_, 3);
  train(paths("model"), options_, {.max_updates = 6}, interrupter, stop_);
  stop_ = false;
  // What a kill leaves: lines of updates that the saved state does not know, and half a line.
  const std::filesystem::path file = folder_ / "model" / "metrics.jsonl";
  write_file(file, read_file(file) + "{\"update\": 4, \"loss\": 1}\n{\"upda");
  run("model", 6);
  Index updates = 0;
  for (const std::string& line : read_text_lines(file)) {
    const Json json = Json::parse(line, "line");
    if (!json.has("loss")) continue;  // a validation
    EXPECT_EQ(json["update"].integer(), ++updates);
  }
  EXPECT_EQ(updates, 6);
}

// The last update's validation, which is for the model alone, is not the run's: whoever goes on from there, after the
// end or after a kill just before it, does not find it in the log.
TEST_F(TrainTest, MetricsOfARunThatGoesOnAreThoseOfOneThatNeverStopped) {
  run("stopped", 6);  // validates after update 4, and at the end
  run("stopped", 12);
  run("straight", 12);
  const auto lines = [&](const std::string& model) {
    std::vector<std::pair<Index, bool>> found;
    for (const std::string& line : read_text_lines(folder_ / model / "metrics.jsonl")) {
      const Json json = Json::parse(line, "line");
      found.emplace_back(json["update"].integer(), json.has("validation_loss"));
    }
    return found;
  };
  EXPECT_EQ(lines("stopped"), lines("straight"));
}

TEST_F(TrainTest, AFolderWithAModelThatWasNotTrainedThereIsNotOverwritten) {
  make_folder(folder_ / "other");
  write_file(folder_ / "other" / "model.safetensors", "precious");
  EXPECT_NE(refusal("other", 2).find("is there already, and is not of a training run"), std::string::npos);
  EXPECT_EQ(model_bytes("other"), "precious");
}

TEST_F(TrainTest, PatienceStopsARunThatGetsNoBetter) {
  options_.rate = 1e-12;  // nothing is learned
  const TrainingResult result = train(paths("model"), options_, {.max_updates = 400, .patience = 2}, monitor_, stop_);
  EXPECT_EQ(result.stop, TrainingStop::patience);
  EXPECT_EQ(result.updates, 12);  // a first validation, and two that are no better
}

class LanguageModelTrainTest : public TrainTest {
 protected:
  void SetUp() override {
    TrainTest::SetUp();
    options_.task = Task::language_model;
    options_.model.transformer.encoder_layers = 0;
    options_.model.transformer.positions = PositionKind::none;
    options_.model.transformer.attention = AttentionChoice("alibi");
    options_.rate = 0.01, options_.warmup = 10;
    const TrainPaths paths{.source = {},
                           .target = {},
                           .valid_source = {},
                           .valid_target = {},
                           .text = (folder_ / "train.en").string(),
                           .valid = (folder_ / "valid.en").string(),
                           .folder = (folder_ / "model").string()};
    train(paths, options_, {.max_updates = 60}, monitor_, stop_);
    model_ = load_model_folder(folder_ / "model");
    test_ = read_text_lines(folder_ / "test.en");
  }

  ModelFolder model_;
  std::vector<std::string> test_;
};

TEST_F(LanguageModelTrainTest, ItPredictsUnseenTextBetterThanFrequencies) {
  const Perplexity learned = measure_perplexity(model_, test_);
  const Perplexity counted =
      measure_ngram_perplexity(1, *model_.target_vocabulary, read_text_lines(folder_ / "train.en"), test_);
  EXPECT_EQ(learned.tokens, counted.tokens);
  EXPECT_EQ(learned.bytes, counted.bytes);
  EXPECT_LT(learned.perplexity(), counted.perplexity());
}

TEST_F(LanguageModelTrainTest, ALinesScoresHaveTheSameBitsInAnyBatch) {
  const std::vector<TokenScores> together = score_documents(model_, test_),
                                 in_small = score_documents(model_, test_, 1);
  for (std::size_t i = 0; i < test_.size(); ++i) {
    EXPECT_EQ(together[i].tokens.back(), kOwnSymbols.end);
    EXPECT_EQ(together[i].log_probabilities, in_small[i].log_probabilities) << i;
    EXPECT_EQ(score_documents(model_, {&test_[i], 1})[0].log_probabilities, together[i].log_probabilities) << i;
  }
}

TEST_F(LanguageModelTrainTest, AContinuationHasTheSameBitsWhateverIsContinuedBeside) {
  const std::vector<std::string> prompts{"The man", "", "A woman", "The man", "The old"};
  GenerateOptions options{.max_tokens = 12};
  const std::vector<Generated> together = generate(model_, prompts, options);
  options.rows = 2;  // a prompt enters when another has ended
  std::map<std::size_t, std::string> told;
  const std::vector<Generated> few =
      generate(model_, prompts, options, [&](const GeneratedPart& part) { told[part.prompt] = part.text; });
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    EXPECT_EQ(together[i].tokens, few[i].tokens) << i;
    EXPECT_EQ(together[i].token_scores, few[i].token_scores) << i;
    EXPECT_EQ(told[i], few[i].text);
    EXPECT_TRUE(few[i].text.starts_with(prompts[i])) << few[i].text;
  }
  // The same prompt, drawn for two places.
  EXPECT_NE(together[0].tokens, together[3].tokens);
}

TEST_F(LanguageModelTrainTest, WhatTranslatesIsRefused) {
  EXPECT_NE(testing::refusal([&] { Translator translator(model_); }).find("it continues text"), std::string::npos);
  EXPECT_NE(testing::refusal([&] { score_translations(model_, test_, test_); }).find("it continues text"),
            std::string::npos);
}

}  // namespace
}  // namespace heed
