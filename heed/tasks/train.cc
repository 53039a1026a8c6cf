#include "heed/tasks/train.h"

#include <chrono>
#include <cmath>
#include <memory>
#include <optional>

#include "heed/base/check.h"
#include "heed/tasks/checkpoints.h"
#include "heed/tasks/trained_model.h"
#include "heed/tasks/training_batches.h"
#include "heed/tasks/training_limits.h"
#include "heed/tasks/training_log.h"
#include "heed/tasks/training_start.h"
#include "heed/tasks/training_task.h"
#include "heed/tasks/training_update.h"

namespace heed {
namespace {

// Seconds, going on from those of earlier runs.
class Stopwatch {
 public:
  explicit Stopwatch(double before = 0) : before_(before) {}
  double seconds() const { return before_ + std::chrono::duration<double>(Clock::now() - begin_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  double before_;
  Clock::time_point begin_ = Clock::now();
};

Index element_count(const ParameterList& parameters) {
  Index count = 0;
  for (const auto& [name, var] : parameters) count += var.value().size();
  return count;
}

std::optional<TrainingStart> open_start(const TrainPaths& paths, const TrainOptions& options) {
  HEED_CHECK(options.low_rank.rank == 0 || !paths.from.empty(),
             "train: lora adapts a model that there is, so it needs one to go on from");
  if (paths.from.empty()) return std::nullopt;
  return open_training_start(paths.from, options);
}

class TrainingLoop {
 public:
  TrainingLoop(const TrainPaths& paths, const TrainOptions& options, const TrainLimits& limits,
               TrainingMonitor& monitor, const std::atomic<bool>& stop, const TrainingStart* start)
      : options_(options),
        limits_(limits),
        monitor_(monitor),
        stop_(stop),
        task_(make_training_task(paths, options_, start, monitor)),
        trained_(make_trained_model(options_, task_->config(), task_->codec(), start)),
        batches_(*task_, options_.accumulate),
        update_(*trained_.model, trained_.parameters, options_),
        checkpoints_(task_->folder(), trained_.config, trained_.parameters, update_.adam(), options_.average, monitor) {
    if (start == nullptr) task_->begin(trained_.parameters);
    CorpusReport report = task_->report();
    report.parameters = element_count(trained_.parameters);
    report.batches_per_epoch = batches_.in_epoch(0);
    monitor.on_start(report);
    state_ = checkpoints_.resume();
  }

  TrainingResult run() {
    if (state_.finished && limit_reached(limits_, state_)) return result(TrainingStop::finished_before);
    state_.finished = false;
    log_.emplace(task_->folder().path() / "metrics.jsonl", state_, monitor_);
    stopwatch_ = Stopwatch(state_.seconds);
    while (true) {
      while (state_.batch < batches_.in_epoch(state_.epoch)) {
        state_.seconds = stopwatch_.seconds();
        if (const auto limit = limit_reached(limits_, state_)) return finish(*limit);
        if (stop_.load()) return interrupt();
        update();
        if (state_.update % options_.validate_every == 0) {
          checkpoints_.keep(state_, validate());
        } else if (limits_.save_every > 0 && state_.update % limits_.save_every == 0) {
          checkpoints_.save(state_);
        }
      }
      ++state_.epoch;
      state_.batch = 0;
    }
  }

 private:
  void update() {
    const std::vector<TrainingBatch> batches = batches_.of_update(state_.epoch, state_.batch);
    const UpdateResult result = update_.run(state_.update + 1, batches);
    HEED_CHECK(result.finite(), "train: at update {} the loss is {} and the gradient's norm {}: {}", state_.update + 1,
               result.loss, result.gradient_norm, last_good());
    ++state_.update;
    state_.batch += static_cast<Index>(batches.size());
    const double before = state_.seconds;
    state_.seconds = stopwatch_.seconds();
    log_->on_update(state_, result, state_.seconds - before,
                    progress(limits_, state_, batches_.in_epoch(state_.epoch)));
  }

  // What is left of a run whose numbers went wrong.
  std::string last_good() const {
    if (checkpoints_.last_saved() == 0) return "nothing was saved before; a lower rate or a longer warmup may help";
    return fmt::format("the last good checkpoint is that of update {} in {}", checkpoints_.last_saved(),
                       checkpoints_.place().string());
  }

  ValidationScore measure() {
    ValidationScore score = task_->measure(*trained_.model, workspace_);
    state_.seconds = stopwatch_.seconds();
    return score;
  }

  Candidate validate() {
    const ValidationScore score = measure();
    HEED_CHECK(std::isfinite(score.loss), "train: after update {} the validation loss is {}: {}", state_.update,
               score.loss, last_good());
    const Candidate checkpoint{{state_.update}, score.bleu.value_or(0), score.loss};
    log_->on_validation(state_, score, better(checkpoint, state_.best));
    return checkpoint;
  }

  TrainingResult result(TrainingStop stop) const {
    return {.stop = stop,
            .updates = state_.update,
            .epochs = state_.epoch,
            .seconds = state_.seconds,
            .target_tokens_per_second = log_ ? log_->target_tokens_per_second() : 0,
            .model = state_.model};
  }

  TrainingResult interrupt() {
    checkpoints_.save(state_);
    return result(TrainingStop::interrupted);
  }

  TrainingResult finish(TrainingStop stop) {
    std::optional<Candidate> last;
    if (!state_.validated()) last = validate();
    checkpoints_.finish(state_, last, [&] { return measure(); });
    return result(stop);
  }

  const TrainOptions& options_;
  const TrainLimits& limits_;
  TrainingMonitor& monitor_;
  const std::atomic<bool>& stop_;

  std::unique_ptr<TrainingTask> task_;
  TrainedModel trained_;

  TrainingBatches batches_;
  TrainingUpdate update_;
  Workspace workspace_;  // of validations
  Checkpoints checkpoints_;

  TrainingState state_;
  Stopwatch stopwatch_;
  std::optional<TrainingLog> log_;
};

}  // namespace

TrainingResult train(const TrainPaths& paths, const TrainOptions& options, const TrainLimits& limits,
                     TrainingMonitor& monitor, const std::atomic<bool>& stop) {
  std::optional<TrainingStart> start = open_start(paths, options);
  const TrainOptions all = start ? options_from(options, *start) : options;
  check(all, limits);
  TrainingLoop loop(paths, all, limits, monitor, stop, start ? &*start : nullptr);
  start.reset();
  return loop.run();
}

}  // namespace heed
