// What a training run says of itself while it runs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "heed/base/index.h"
#include "heed/tasks/candidate.h"

namespace heed {

struct CorpusReport {
  Index sequences, dropped_empty, dropped_long;  // pairs of sentences, or documents
  Index source_vocabulary, target_vocabulary;
  Index parameters = 0;
  Index batches_per_epoch = 0;
};

struct UpdateReport {
  Index update, epoch;
  double loss;  // label-smoothed cross-entropy of a target token, in nats, lately
  double rate;
  double gradient_norm;
  double tokens_per_second;  // target tokens, lately
  double progress;           // of the nearest limit, from 0 to 1; 0 where there is none
  double seconds_left;       // to that limit; 0 where there is none
};

struct SampleTranslation {
  std::string source, reference, translation;
};

struct ValidationReport {
  Index update = 0, epoch = 0;
  double loss = 0;  // without label smoothing
  // Of greedy translations; 13a tokens, or none where the text is tokenised already; of captions, by characters. A
  // language model has none.
  std::optional<double> bleu = {};
  // Of greedy captions: the share, from 0 to 1, that is the reference to the letter.
  std::optional<double> exact = {};
  bool best = false;
  std::vector<SampleTranslation> samples;
};

// Told what happens; the library itself prints nothing.
class TrainingMonitor {
 public:
  virtual ~TrainingMonitor() = default;
  // A vocabulary is about to be learned from so many lines, of at most so many pieces: it may take a while.
  virtual void on_vocabulary(Index /*lines*/, Index /*most_pieces*/) {}
  virtual void on_start(const CorpusReport&) {}
  virtual void on_resume(Index /*update*/) {}
  virtual void on_update(const UpdateReport&) {}
  virtual void on_validation(const ValidationReport&) {}
  // At the end: a mean of checkpoints that may become the model.
  virtual void on_candidate(const Candidate&) {}
  virtual void on_save(Index /*update*/) {}
};

}  // namespace heed
