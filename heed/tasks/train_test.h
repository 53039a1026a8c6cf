// What tests of training runs share: a fixture with a small corpus, and monitors.
//
//   TEST_F(TrainTest, LeavesAModel) { run("model", 6); load_model_folder(folder_ / "model"); }
#pragma once

#include <atomic>
#include <filesystem>
#include <string>
#include <vector>

#include "heed/base/file.h"
#include "heed/corpus/corpus.h"
#include "heed/tasks/train.h"
#include "heed/testing/refusal.h"
#include "heed/testing/scratch_test.h"

namespace heed::testing {

// Runs of a small translator over its corpus, each in the folder of its name.
class TrainTest : public ScratchTest {
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
    return testing::refusal([&] { run(model, updates); });
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
inline std::vector<std::string> names_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const std::filesystem::path& file : files_in(folder)) names.push_back(file.filename().string());
  return names;
}

}  // namespace heed::testing
