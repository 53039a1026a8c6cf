#include "heed/tasks/train.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/parallel.h"
#include "heed/base/text_lines.h"
#include "heed/corpus/corpus.h"
#include "heed/io/json.h"
#include "heed/tasks/translate.h"

namespace heed {
namespace {

class TrainTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(::testing::TempDir()) / "heed_train_test" /
              ::testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(folder_);
    write_corpus(generate_corpus({.pairs = 300, .seed = 1, .validation = 12, .test = 8}), folder_);
    options_.vocabulary_size = 250;
    options_.batch_tokens = 600;
    options_.validate_every = 4;
    options_.average = 2;
    TransformerConfig& t = options_.model.transformer;
    t.width = 16, t.hidden = 32, t.heads = 2, t.encoder_layers = t.decoder_layers = 1;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  TrainPaths paths(const std::string& model) const {
    return {(folder_ / "train.de").string(), (folder_ / "train.en").string(), (folder_ / "valid.de").string(),
            (folder_ / "valid.en").string(), (folder_ / model).string()};
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

  std::filesystem::path folder_;
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

TEST_F(TrainTest, LeavesAModelThatTranslates) {
  const TrainingResult result = run("model", 6);
  EXPECT_EQ(result.stop, TrainingResult::Stop::max_updates);
  EXPECT_EQ(result.updates, 6);
  const ModelFolder model = load_model_folder(folder_ / "model");
  Translator translator(model);
  const auto translations = translator.translate(read_text_lines(folder_ / "test.de"), {.beam = 2, .best = 2});
  ASSERT_EQ(translations.size(), 8u);
  for (const auto& best : translations) EXPECT_EQ(best.size(), 2u);
}

TEST_F(TrainTest, AnInterruptedRunContinuesToTheSameBits) {
  run("straight", 10);
  for (Index at : {1, 4, 7}) {  // before, at and after a validation
    stop_ = false;
    const std::string name = "interrupted" + std::to_string(at);
    Interrupter interrupter(stop_, at);
    const TrainingResult first = train(paths(name), options_, {.max_updates = 10}, interrupter, stop_);
    EXPECT_EQ(first.stop, TrainingResult::Stop::interrupted);
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
  EXPECT_EQ(run("model", 4).stop, TrainingResult::Stop::finished_before);
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
  options_.model.transformer.hidden = 48;
  EXPECT_NE(refusal("model", 4).find("this run was started with hidden 32, not 48"), std::string::npos);
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
  EXPECT_NE(refusal("model", 4).find("this run was started with training_text \"300 pairs, "), std::string::npos)
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
  EXPECT_NE(message.find("the last good checkpoint is that of update "), std::string::npos) << message;
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

TEST_F(TrainTest, AFolderWithAModelThatWasNotTrainedThereIsNotOverwritten) {
  make_folder(folder_ / "other");
  write_file(folder_ / "other" / "model.safetensors", "precious");
  EXPECT_NE(refusal("other", 2).find("holds a model already"), std::string::npos);
  EXPECT_EQ(model_bytes("other"), "precious");
}

TEST_F(TrainTest, PatienceStopsARunThatGetsNoBetter) {
  options_.rate = 1e-12;  // nothing is learned
  const TrainingResult result = train(paths("model"), options_, {.max_updates = 400, .patience = 2}, monitor_, stop_);
  EXPECT_EQ(result.stop, TrainingResult::Stop::patience);
  EXPECT_EQ(result.updates, 12);  // a first validation, and two that are no better
}

}  // namespace
}  // namespace heed
