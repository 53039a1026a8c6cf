#include "heed/tasks/training_log.h"

#include "heed/io/json.h"

namespace heed {
namespace {

constexpr double kDecay = 0.95;

}  // namespace

TrainingLog::TrainingLog(const std::filesystem::path& file, const TrainingState& state, TrainingMonitor& monitor)
    : monitor_(monitor), metrics_(file, state.update, state.validated()) {}

void TrainingLog::on_update(const TrainingState& state, const UpdateResult& result, double seconds, double progress) {
  const double tokens = static_cast<double>(result.target_tokens);
  all_ = {all_.loss + result.loss * tokens, all_.tokens + tokens, all_.seconds + seconds};
  lately_ = {kDecay * lately_.loss + result.loss * tokens, kDecay * lately_.tokens + tokens,
             kDecay * lately_.seconds + seconds};
  monitor_.on_update({.update = state.update,
                      .epoch = state.epoch + 1,
                      .loss = lately_.loss / lately_.tokens,
                      .rate = result.rate,
                      .gradient_norm = result.gradient_norm,
                      .tokens_per_second = lately_.tokens / lately_.seconds,
                      .progress = progress,
                      .seconds_left = progress > 0 ? state.seconds * (1 - progress) / progress : 0});
  metrics_.write(Json::object({{"update", state.update},
                               {"epoch", state.epoch + 1},
                               {"loss", result.loss},
                               {"rate", result.rate},
                               {"gradient_norm", result.gradient_norm},
                               {"target_tokens", result.target_tokens},
                               {"target_tokens_per_second", tokens / seconds},
                               {"seconds", state.seconds}}));
}

void TrainingLog::on_validation(const TrainingState& state, const ValidationScore& score, bool best) {
  Json line = Json::object({{"update", state.update}, {"validation_loss", score.loss}, {"seconds", state.seconds}});
  if (score.bleu) line.set("validation_bleu", *score.bleu);
  if (score.exact) line.set("validation_exact", *score.exact);
  metrics_.write(line);
  monitor_.on_validation({.update = state.update,
                          .epoch = state.epoch + 1,
                          .loss = score.loss,
                          .bleu = score.bleu,
                          .exact = score.exact,
                          .best = best,
                          .samples = score.samples});
}

}  // namespace heed
