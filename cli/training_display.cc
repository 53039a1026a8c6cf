#include "training_display.h"

#include <fmt/core.h>

#include <cmath>

#include "output.h"

namespace heed::cli {
namespace {

void line(const std::string& text) { print_progress(text + "\n"); }

}  // namespace

std::string quality(Task task, double bleu, double loss) {
  return task == Task::language_model ? fmt::format("loss {:.3f}  perplexity {:.2f}", loss, std::exp(loss))
                                      : fmt::format("loss {:.3f}  BLEU {:.2f}", loss, bleu);
}

TrainingDisplay::TrainingDisplay(Task task) : task_(task) {}

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
  if (!lines_.is_due()) return;
  std::string text =
      fmt::format("update {}  epoch {}  loss {:.3f}  {:.0f} tokens/s", r.update, r.epoch, r.loss, r.tokens_per_second);
  if (r.seconds_left > 0) text += fmt::format("  {} left", duration(r.seconds_left));
  lines_.show(r.progress, text);
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
