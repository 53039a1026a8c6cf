#include "training_display.h"

#include <fmt/core.h>

#include <cmath>

#include "output.h"
#include "progress_line.h"

namespace heed::cli {

std::string quality(Task task, double bleu, double loss) {
  return task == Task::language_model ? fmt::format("loss {:.3f}  perplexity {:.2f}", loss, std::exp(loss))
                                      : fmt::format("loss {:.3f}  BLEU {:.2f}", loss, bleu);
}

TrainingDisplay::TrainingDisplay(Task task)
    : task_(task), terminal_(error_is_terminal()), last_shown_(std::chrono::steady_clock::now()) {}

void TrainingDisplay::line(const std::string& text) {
  finish();
  print_progress(text + "\n");
}

void TrainingDisplay::finish() {
  if (bar_shown_) print_progress("\n");
  bar_shown_ = false;
}

void TrainingDisplay::on_vocabulary(Index lines, Index most_pieces) {
  line(fmt::format("learning a vocabulary of at most {} pieces from {} lines", most_pieces, lines));
}

void TrainingDisplay::on_start(const CorpusReport& r) {
  const double millions = static_cast<double>(r.parameters) / 1e6;
  if (task_ == Task::language_model) {
    line(fmt::format("{} training documents ({} empty left out), {} batches an epoch", r.sequences, r.dropped_empty,
                     r.batches_per_epoch));
    line(fmt::format("{} pieces, {:.2f} M parameters", r.target_vocabulary, millions));
    return;
  }
  if (task_ == Task::caption) {
    line(fmt::format(
        "{} training pictures ({} with an empty caption and {} with a long one left out), {} batches an epoch",
        r.sequences, r.dropped_empty, r.dropped_long, r.batches_per_epoch));
    line(fmt::format("{} pieces, {:.2f} M parameters", r.target_vocabulary, millions));
    return;
  }
  line(fmt::format("{} training pairs ({} empty and {} long left out), {} batches an epoch", r.sequences,
                   r.dropped_empty, r.dropped_long, r.batches_per_epoch));
  line(fmt::format("{} source pieces, {} target pieces, {:.2f} M parameters", r.source_vocabulary, r.target_vocabulary,
                   millions));
}

void TrainingDisplay::on_resume(Index update) { line(fmt::format("continuing after update {}", update)); }

void TrainingDisplay::on_update(const UpdateReport& r) {
  const auto now = std::chrono::steady_clock::now();
  const double waited = std::chrono::duration<double>(now - last_shown_).count();
  if (waited < seconds_between_lines(terminal_)) return;
  last_shown_ = now;
  std::string text =
      fmt::format("update {}  epoch {}  loss {:.3f}  {:.0f} tokens/s", r.update, r.epoch, r.loss, r.tokens_per_second);
  if (r.seconds_left > 0) text += fmt::format("  {} left", duration(r.seconds_left));
  if (!terminal_) return line(text);
  print_progress(fmt::format("\r\033[K{} {}", r.progress > 0 ? progress_bar(r.progress) : "", text));
  bar_shown_ = true;
}

void TrainingDisplay::on_validation(const ValidationReport& r) {
  const std::string exact = r.exact ? fmt::format("  exact {:.1f} %", 100 * *r.exact) : "";
  line(fmt::format("validation at update {}: {}{}{}", r.update, quality(task_, r.bleu.value_or(0), r.loss), exact,
                   r.best ? "  (best)" : ""));
  for (const SampleTranslation& sample : r.samples) {
    line(fmt::format("    {}\n      = {}\n      > {}", sample.source, sample.reference, sample.translation));
  }
}

void TrainingDisplay::on_candidate(const Candidate& c) {
  line(fmt::format("{}: {}", describe(c), quality(task_, c.bleu, c.loss)));
}

}  // namespace heed::cli
