// Runs that go on from a model: all of its parameters, or low-rank factors for them.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "heed/base/file.h"
#include "heed/base/file_writer.h"
#include "heed/base/text_lines.h"
#include "heed/io/json.h"
#include "heed/io/safetensors.h"
#include "heed/layers/drawn_parameters.h"
#include "heed/layers/saved_parameters.h"
#include "heed/tasks/convert.h"
#include "heed/tasks/generate.h"
#include "heed/tasks/perplexity.h"
#include "heed/tasks/score.h"
#include "heed/tasks/train.h"
#include "heed/tasks/train_test.h"
#include "heed/testing/data_folder.h"
#include "heed/testing/refusal.h"

namespace heed {
namespace {

class TrainFromTest : public testing::TrainTest {
 protected:
  void SetUp() override {
    TrainTest::SetUp();
    options_.label_smoothing = 0;
    options_.model.transformer.dropout = options_.model.transformer.attention_dropout = 0.1;
  }

  std::string file(const std::string& name) const { return (folder_ / name).string(); }
  TrainPaths paths(const std::string& out, const std::string& from) const {
    TrainPaths all;
    if (options_.task == Task::translation) {
      all.source = file("train.de"), all.target = file("train.en");
      all.valid_source = file("valid.de"), all.valid_target = file("valid.en");
    } else {
      all.text = file("train.en"), all.valid = file("valid.en");
    }
    all.folder = file(out);
    all.from = from.empty() || from.starts_with('/') ? from : file(from);
    return all;
  }
  TrainingResult run(const std::string& out, const std::string& from, Index updates) {
    return train(paths(out, from), options_, {.max_updates = updates}, monitor_, stop_);
  }
  std::string refused(const std::string& out, const std::string& from) {
    return testing::refusal([&] { run(out, from, 4); });
  }
  void become_language_model() {
    options_.task = Task::language_model;
    options_.model.transformer.encoder_layers = 0;
  }
  std::string bytes(const std::string& name) const { return read_file(folder_ / name); }
  double perplexity(const std::string& model) const {
    return measure_perplexity(load_model_folder(folder_ / model), read_text_lines(folder_ / "valid.en")).perplexity();
  }
};

TEST_F(TrainFromTest, AModelGoesOnWithItsOwnVocabularyAndShape) {
  for (const Task task : {Task::translation, Task::language_model}) {
    if (task == Task::language_model) become_language_model();
    const std::string base = "base" + std::to_string(static_cast<int>(task)), out = base + "-tuned";
    const double before = run(base, "", 8).model.loss;
    TrainOptions given = options_;
    options_.model.transformer.width = 128;  // of no consequence
    options_.vocabulary_size = 100;
    const double after = run(out, base, 24).model.loss;
    EXPECT_LT(after, before);
    options_ = given;
    std::string vocabulary = "vocabulary.spm";
    EXPECT_EQ(bytes(base + "/" + vocabulary), bytes(out + "/" + vocabulary));
    EXPECT_EQ(bytes(base + "/config.json"), bytes(out + "/config.json"));
    EXPECT_NE(bytes(base + "/model.safetensors"), bytes(out + "/model.safetensors"));
  }
}

TEST_F(TrainFromTest, ARunBeginsWithTheModelsAnswers) {
  become_language_model();
  const double before = run("base", "", 8).model.loss;
  options_.rate = 1e-30;  // no step that f32 would notice
  EXPECT_NEAR(run("all", "base", 1).model.loss, before, 1e-9);
  options_.low_rank.rank = 2;
  EXPECT_NEAR(run("factors", "base", 1).model.loss, before, 1e-9);
}

TEST_F(TrainFromTest, ARunThatStoppedGoesOnAsIfItHadNot) {
  become_language_model();
  run("base", "", 4);
  for (const Index rank : {0, 2}) {
    options_.low_rank.rank = rank;
    const std::string stopped = "stopped" + std::to_string(rank), straight = "straight" + std::to_string(rank);
    run(stopped, "base", 6);
    run(stopped, "base", 12);
    run(straight, "base", 12);
    EXPECT_EQ(bytes(stopped + "/model.safetensors"), bytes(straight + "/model.safetensors"));
    EXPECT_EQ(bytes(stopped + "/config.json"), bytes(straight + "/config.json"));
  }
}

TEST_F(TrainFromTest, AnAdapterHoldsItsFactorsAloneAndAnswersAsTheModelThatItIsMergedInto) {
  for (const Task task : {Task::translation, Task::language_model}) {
    if (task == Task::language_model) become_language_model();
    const std::string base = "base" + std::to_string(static_cast<int>(task)), adapter = base + "-adapter";
    options_.low_rank = {};
    const double before = run(base, "", 8).model.loss;
    const std::string weights = bytes(base + "/model.safetensors");
    options_.low_rank = {.rank = 2, .alpha = 4, .targets = LowRankTargets::all};
    const TrainingResult result = run(adapter, base, 24);
    EXPECT_LT(result.model.loss, before);
    EXPECT_EQ(bytes(base + "/model.safetensors"), weights);
    for (const auto& [name, tensor] : read_safetensors(folder_ / adapter / "model.safetensors")) {
      EXPECT_TRUE(name.ends_with(".lora_A") || name.ends_with(".lora_B")) << name;
    }
    EXPECT_FALSE(file_exists(folder_ / adapter / "vocabulary.spm"));
    convert_model(folder_ / adapter, {Precision::f32}, folder_ / (adapter + "-merged"));
    const ModelFolder one = load_model_folder(folder_ / adapter);
    const ModelFolder other = load_model_folder(folder_ / (adapter + "-merged"));
    EXPECT_EQ(to_json(one.config), to_json(other.config));
    const std::vector<std::string> source = read_text_lines(folder_ / "test.de");
    const std::vector<std::string> target = read_text_lines(folder_ / "test.en");
    const std::vector<TokenScores> scores =
        task == Task::translation ? score_translations(one, source, target) : score_documents(one, target);
    const std::vector<TokenScores> of_merged =
        task == Task::translation ? score_translations(other, source, target) : score_documents(other, target);
    for (std::size_t i = 0; i < scores.size(); ++i) {
      EXPECT_EQ(scores[i].log_probabilities, of_merged[i].log_probabilities);
    }
    if (task == Task::language_model) {
      EXPECT_NEAR(std::log(perplexity(adapter)), result.model.loss, 1e-4);
    }
  }
}

TEST_F(TrainFromTest, NarrowModelsAreTrainedInF32) {
  become_language_model();
  run("base", "", 8);
  convert_model(folder_ / "base", {Precision::bf16}, folder_ / "narrow");
  const double before = perplexity("narrow");
  run("all", "narrow", 16);
  EXPECT_LT(perplexity("all"), before);
  options_.low_rank.rank = 2;
  run("factors", "narrow", 16);
  EXPECT_LT(perplexity("factors"), before);
  for (const auto& [name, tensor] : read_safetensors(folder_ / "all" / "model.safetensors")) {
    EXPECT_EQ(tensor.dtype(), DType::f32) << name;
  }
}

TEST_F(TrainFromTest, OthersModelsLearnTheUsersText) {
  HEED_DATA_OR_SKIP(models, "models");
  options_.rate = 0.01, options_.warmup = 4;
  for (const char* name : {"bloom-tiny", "t5-tiny-d8"}) {
    SCOPED_TRACE(name);
    options_.task = std::string_view(name) == "t5-tiny-d8" ? Task::translation : Task::language_model;
    const std::string from = (models / name).string(), out = name;
    options_.low_rank = {};
    const double first = run(out, from, 4).model.loss;
    const double last = run(out, from, 24).model.loss;
    EXPECT_LT(last, first);
    const ModelFolder before = load_model_folder(from), after = load_model_folder(folder_ / out);
    EXPECT_TRUE(after.templated);
    EXPECT_EQ(before.source_ids("The dog runs."), after.source_ids("The dog runs."));
    EXPECT_EQ(before.special.ends, after.special.ends);
    options_.low_rank = {.rank = 2, .targets = LowRankTargets::all};
    const std::string adapter = out + "-adapter";
    run(adapter, from, 8);
    EXPECT_EQ(load_model_folder(folder_ / adapter).source_ids("The dog runs."), before.source_ids("The dog runs."));
  }
}

TEST_F(TrainFromTest, RefusesBeforeAnythingStarts) {
  run("translator", "", 4);
  EXPECT_TRUE(refused("out", "nowhere").starts_with(file("nowhere") + ": "));
  options_.low_rank.rank = 2;
  EXPECT_EQ(refused("out", ""), "train: lora adapts a model that there is, so it needs one to go on from");
  options_.low_rank.rank = -1;
  EXPECT_NE(refused("out", "translator").find("lora must be"), std::string::npos);
  options_.low_rank = {};
  become_language_model();
  EXPECT_EQ(refused("out", "translator"),
            file("translator") + ": translates: train it with the task translation and pairs of sentences");
  run("writer", "", 4);
  options_.task = Task::translation;
  EXPECT_EQ(refused("out", "writer"),
            file("writer") + ": continues text: train it with the task language-model and documents");
  options_.task = Task::language_model;
  const std::string config = bytes("writer/config.json");
  const auto with = [&](const std::string& text, const std::string& other) {
    std::string changed = config;
    changed.replace(changed.find(text), text.size(), other);
    write_file(folder_ / "writer" / "config.json", changed);
    return refused("out", "writer");
  };
  EXPECT_EQ(with("\"logit_soft_cap\": 0", "\"logit_soft_cap\": 30"),
            file("writer") + ": its logits are bounded (logit_soft_cap 30), and heed's loss has no gradient of that");
  EXPECT_EQ(with("\"causal\": true", "\"causal\": false"),
            file("writer") + ": its decoder sees the tokens that it would learn to predict (causal is false)");
  write_file(folder_ / "writer" / "config.json", config);
  EXPECT_FALSE(file_exists(folder_ / "out"));
  HEED_DATA_OR_SKIP(models, "models");
  EXPECT_EQ(refused("out", (models / "bert-tiny-classifier").string()),
            (models / "bert-tiny-classifier").string() +
                ": is an encoder alone: heed trains translators and language models");
}

TEST_F(TrainFromTest, ARunGoesOnOnlyFromWhatItBeganWith) {
  become_language_model();
  run("base", "", 4);
  run("tuned", "base", 4);
  run("plain", "", 4);
  options_.seed = 2;
  run("other", "", 4);
  options_.seed = 1;
  EXPECT_NE(refused("tuned", "other").find("this run was started with from"), std::string::npos);
  EXPECT_NE(refused("tuned", "").find("was started with --from, and would go on without"), std::string::npos);
  EXPECT_NE(refused("plain", "base").find("was started without --from, and would go on with"), std::string::npos);
  options_.low_rank.rank = 2;
  EXPECT_NE(refused("tuned", "base").find("was started without --lora, and would go on with"), std::string::npos);
  run("adapter", "base", 4);
  options_.low_rank.rank = 3;
  EXPECT_NE(refused("adapter", "base").find("this run was started with lora 2, not 3"), std::string::npos);
}

TEST_F(TrainFromTest, AnAdapterKnowsItsBase) {
  become_language_model();
  run("base", "", 4);
  options_.low_rank.rank = 2;
  run("adapter", "base", 4);
  const std::string where = file("adapter/config.json");
  EXPECT_NE(refused("second", "adapter").find("is an adapter itself"), std::string::npos);
  // What is merged can be adapted again.
  convert_model(folder_ / "adapter", {Precision::f32}, folder_ / "merged");
  run("second", "merged", 4);
  std::filesystem::rename(folder_ / "base", folder_ / "away");
  EXPECT_EQ(testing::refusal([&] { load_model_folder(folder_ / "adapter"); }),
            where + ": its base " + file("base") + " is not there");
  std::filesystem::copy(folder_ / "merged", folder_ / "base", std::filesystem::copy_options::recursive);
  EXPECT_EQ(testing::refusal([&] { load_model_folder(folder_ / "adapter"); }),
            where + ": its base " + file("base") + " has not the parameters that the adapter was trained with");
  std::filesystem::remove_all(folder_ / "base");
  std::filesystem::rename(folder_ / "away", folder_ / "base");
  const std::string config = read_file(where);
  const auto with = [&](const std::string& text, const std::string& other) {
    std::string changed = config;
    changed.replace(changed.find(text), text.size(), other);
    write_file(where, changed);
    return testing::refusal([&] { load_model_folder(folder_ / "adapter"); });
  };
  EXPECT_NE(with("\"lora\": 2", "\"lora\": 99999999").find("lora must be"), std::string::npos);
  EXPECT_NE(with("\"lora\": 2", "\"lora\": 3").find("model.safetensors: "), std::string::npos);
  EXPECT_NE(with("\"lora\": 2", "\"lora\": 0").find("must be at least 1"), std::string::npos);
  // Its base would be itself.
  EXPECT_NE(with(file("base"), file("adapter")).find("is an adapter itself"), std::string::npos);
  write_file(where, config);
  EXPECT_EQ(testing::refusal([&] { load_model_folder(folder_ / "adapter"); }), "no error");
}

}  // namespace
}  // namespace heed
