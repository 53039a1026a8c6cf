// Training as one sees it: a bar that redraws on a terminal, plain lines anywhere else. All on standard error.
#pragma once

#include <string>

#include "heed/tasks/train.h"
#include "progress_line.h"

namespace heed::cli {

// "loss 1.234  BLEU 56.78", or a perplexity.
std::string quality(Task task, double bleu, double loss);

class TrainingDisplay : public TrainingMonitor {
 public:
  // Of a run with this task.
  explicit TrainingDisplay(Task task);
  void on_vocabulary(Index lines, Index most_pieces) override;
  void on_start(const CorpusReport& report) override;
  void on_resume(Index update) override;
  void on_update(const UpdateReport& report) override;
  void on_validation(const ValidationReport& report) override;
  void on_candidate(const Candidate& candidate) override;

 private:
  Task task_;
  PacedLines lines_;
};

}  // namespace heed::cli
