#include "heed/tasks/train.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <optional>

#include "heed/base/check.h"
#include "heed/io/json.h"
#include "heed/optim/schedule.h"
#include "heed/tasks/checkpoints.h"
#include "heed/tasks/metrics_log.h"
#include "heed/tasks/model_batch.h"
#include "heed/tasks/model_folder.h"
#include "heed/tasks/training_state.h"
#include "heed/tasks/training_text.h"
#include "heed/tasks/validation.h"
#include "heed/text/batching.h"

namespace heed {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

// What the last updates were like, each counting for less the longer ago it was: one batch's loss jumps too much to be
// seen falling.
class RecentUpdates {
 public:
  void add(double loss, double tokens, double seconds) {
    loss_ = kDecay * loss_ + loss * tokens;
    tokens_ = kDecay * tokens_ + tokens;
    seconds_ = kDecay * seconds_ + seconds;
  }
  double loss() const { return loss_ / tokens_; }
  double tokens_per_second() const { return tokens_ / seconds_; }

 private:
  static constexpr double kDecay = 0.95;
  double loss_ = 0, tokens_ = 0, seconds_ = 0;
};

class Trainer {
 public:
  Trainer(const TrainPaths& paths, const TrainOptions& options, const TrainLimits& limits, TrainingMonitor& monitor,
          const std::atomic<bool>& stop)
      : options_(options),
        limits_(limits),
        monitor_(monitor),
        stop_(stop),
        text_(prepare_training_text(paths, options, monitor)),
        lengths_(padded_lengths(text_.corpus)),
        config_(config_of(options, text_)),
        model_(new_model(config_, seed())),
        parameters_(model_->parameters()),
        vars_(vars_of(parameters_)),
        adam_(AdamOptions{options.adam_beta1, options.adam_beta2, 1e-9, options.weight_decay}, vars_),
        validation_(text_, options_, *model_),
        checkpoints_(text_.folder->training(), parameters_) {
    const BatchPlan plan = plan_epoch(0);
    monitor.on_start({text_.corpus.size(), text_.dropped_empty, text_.corpus.dropped_long,
                      text_.source_vocabulary->size(), text_.target_vocabulary->size(), parameter_count(),
                      static_cast<Index>(plan.size())});
    resume();
  }

  TrainingResult run() {
    if (state_.finished && limit_reached()) return result(TrainingResult::Stop::finished_before);
    state_.finished = false;
    log_.emplace(text_.folder->path() / "metrics.jsonl", state_.update, validated());
    started_ = Clock::now();
    while (true) {
      const BatchPlan plan = plan_epoch(state_.epoch);
      while (state_.batch < static_cast<Index>(plan.size())) {
        if (const auto limit = limit_reached()) return finish(*limit);
        if (stop_.load()) return interrupt();
        update(plan);
        if (state_.update % options_.validate_every == 0) {
          keep_checkpoint(validate());
        } else if (limits_.save_every > 0 && state_.update % limits_.save_every == 0) {
          save_state();
        }
      }
      ++state_.epoch;
      state_.batch = 0;
    }
  }

 private:
  static ModelConfig config_of(const TrainOptions& options, const TrainingText& text) {
    ModelConfig config = options.model;
    config.set_vocabularies(text.source_vocabulary->size(), text.target_vocabulary->size());
    return config;
  }

  static std::unique_ptr<TranslationModel> new_model(const ModelConfig& config, std::uint64_t seed) {
    Rng rng(seed, /*stream=*/1);
    return make_model(config, rng);
  }

  static std::vector<Var> vars_of(const ParameterList& parameters) {
    std::vector<Var> vars;
    for (const auto& [name, var] : parameters) vars.push_back(var);
    return vars;
  }

  void resume() {
    if (text_.folder->holds_run()) {
      state_ = load_training_state(text_.folder->state_file(), parameters_, adam_);
      monitor_.on_resume(state_.update);
    }
    checkpoints_.remove_all_but(kept_updates());  // a kill may leave some that no state names
    seconds_before_ = state_.seconds;
    last_saved_ = state_.update;
    rng_ = Rng(seed(), /*stream=*/2, state_.rng_position);
  }

  // Whether the last update's parameters are among those of the validations that the run keeps.
  bool validated() const { return !state_.recent.empty() && state_.recent.back() == state_.update; }

  std::uint64_t seed() const { return static_cast<std::uint64_t>(options_.seed); }

  Index parameter_count() const {
    Index count = 0;
    for (const Var& var : vars_) count += var.value().size();
    return count;
  }

  BatchPlan plan_epoch(Index epoch) const {
    return plan_batches(lengths_, {.token_budget = options_.batch_tokens}, seed(), static_cast<std::uint64_t>(epoch));
  }

  double seconds() const { return seconds_before_ + seconds_since(started_); }

  std::optional<TrainingResult::Stop> limit_reached() const {
    using Stop = TrainingResult::Stop;
    if (limits_.max_updates > 0 && state_.update >= limits_.max_updates) return Stop::max_updates;
    if (limits_.max_epochs > 0 && state_.epoch >= limits_.max_epochs) return Stop::max_epochs;
    if (limits_.max_minutes > 0 && seconds() >= limits_.max_minutes * 60) return Stop::max_minutes;
    if (limits_.patience > 0 && state_.since_better_bleu >= limits_.patience) return Stop::patience;
    return {};
  }

  void update(const BatchPlan& plan) {
    const auto begin = Clock::now();
    std::vector<Batch> batches;
    Index tokens = 0;
    for (; static_cast<Index>(batches.size()) < options_.accumulate && state_.batch < static_cast<Index>(plan.size());
         ++state_.batch) {
      batches.push_back(make_batch(text_.corpus, plan[state_.batch]));
      tokens += batches.back().target_tokens;
    }
    for (const Var& var : vars_) var.zero_grad();
    double loss = 0;
    for (const Batch& batch : batches) {
      Tape tape;
      const Context context{.tape = &tape, .workspace = workspace_, .rng = rng_, .training = true};
      const CrossEntropyOptions loss_options{.label_smoothing = options_.label_smoothing,
                                             .ignore_index = Vocabulary::kPad,
                                             .gradient_scale = 1.0 / static_cast<double>(tokens)};
      loss += model_->loss(context, make_translation_batch(batch), loss_options).loss_sum;
      tape.backward();
    }
    loss /= static_cast<double>(tokens);
    const double norm = gradient_norm(vars_);
    const Index number = state_.update + 1;
    HEED_CHECK(std::isfinite(loss) && std::isfinite(norm),
               "train: at update {} the loss is {} and the gradient's norm {}; the last good checkpoint is that of "
               "update {} in {}",
               number, loss, norm, last_saved_, text_.folder->training().string());
    const double rate = inverse_square_root_rate(options_.rate, options_.warmup, number);
    adam_.step(rate, options_.clip > 0 && norm > options_.clip ? options_.clip / norm : 1.0);
    state_.update = number;
    state_.rng_position = rng_.position();
    report(loss, norm, rate, tokens, seconds_since(begin), static_cast<Index>(plan.size()));
  }

  void report(double loss, double norm, double rate, Index tokens, double seconds_taken, Index batches) {
    run_tokens_ += tokens;
    run_seconds_ += seconds_taken;
    recent_.add(loss, static_cast<double>(tokens), seconds_taken);
    UpdateReport r{state_.update, state_.epoch + 1, recent_.loss(), rate, norm, recent_.tokens_per_second(), 0, 0};
    const double epochs =
        static_cast<double>(state_.epoch) + static_cast<double>(state_.batch) / static_cast<double>(batches);
    if (limits_.max_updates > 0)
      r.progress = static_cast<double>(state_.update) / static_cast<double>(limits_.max_updates);
    if (limits_.max_epochs > 0) r.progress = std::max(r.progress, epochs / static_cast<double>(limits_.max_epochs));
    if (limits_.max_minutes > 0) r.progress = std::max(r.progress, seconds() / (60 * limits_.max_minutes));
    r.progress = std::min(r.progress, 1.0);
    if (r.progress > 0) r.seconds_left = seconds() * (1 - r.progress) / r.progress;
    monitor_.on_update(r);
    log_->write(Json::object({{"update", r.update},
                              {"epoch", r.epoch},
                              {"loss", loss},
                              {"rate", rate},
                              {"gradient_norm", norm},
                              {"target_tokens", tokens},
                              {"target_tokens_per_second", static_cast<double>(tokens) / seconds_taken},
                              {"seconds", seconds()}}));
  }

  Candidate validate() {
    const ValidationScore score = validation_.measure();
    HEED_CHECK(std::isfinite(score.loss),
               "train: after update {} the validation loss is {}; the last good checkpoint is that of update {} in {}",
               state_.update, score.loss, last_saved_, text_.folder->training().string());
    const Candidate checkpoint{{state_.update}, score.bleu, score.loss};
    ValidationReport report;
    report.update = state_.update;
    report.epoch = state_.epoch + 1;
    report.loss = score.loss;
    report.bleu = score.bleu;
    report.best = better(checkpoint, state_.best);
    for (std::size_t i = 0; i < score.translations.size() && i < 3; ++i) {
      const std::size_t at = i * score.translations.size() / 3;
      report.sources.push_back(text_.validation.source[at]);
      report.references.push_back(text_.validation.target[at]);
      report.translations.push_back(score.translations[at]);
    }
    log_->write(Json::object({{"update", report.update},
                              {"validation_loss", report.loss},
                              {"validation_bleu", report.bleu},
                              {"seconds", seconds()}}));
    monitor_.on_validation(report);
    return checkpoint;
  }

  // Keeps the parameters among those of the last validations, and as the model if they are the best so far: a run that
  // is left at any moment has the best model that it has seen. Files that the saved state names are removed only after
  // a newer state is in place: a kill at any moment leaves a state whose files are all there.
  void keep_checkpoint(const Candidate& checkpoint) {
    const bool best = better(checkpoint, state_.best);
    state_.since_better_bleu = checkpoint.bleu > state_.best.bleu ? 0 : state_.since_better_bleu + 1;
    if (best) state_.best = state_.model = checkpoint;
    state_.recent.push_back(state_.update);
    if (static_cast<Index>(state_.recent.size()) > options_.average) state_.recent.erase(state_.recent.begin());
    checkpoints_.write(state_.update);
    save_state();
    if (best) write_model();
    checkpoints_.remove_all_but(kept_updates());
  }

  std::vector<Index> kept_updates() const {
    std::vector<Index> updates = state_.recent;
    updates.insert(updates.end(), state_.best.updates.begin(), state_.best.updates.end());
    return updates;
  }

  void save_state() {
    state_.seconds = seconds();
    save_training_state(text_.folder->state_file(), state_, parameters_, adam_);
    last_saved_ = state_.update;
    monitor_.on_save(state_.update);
  }

  void write_model() const {
    save_parameters(text_.folder->path() / "model.safetensors", parameters_);
    save_model_config(text_.folder->path(), config_);
  }

  // Makes the model of the best that there is: the best single checkpoint, or the mean of the last 2, 3, ... of
  // `recent`. The parameters stay as they are.
  void choose_model(const Candidate& best, const std::vector<Index>& recent) {
    std::vector<Tensor> trained;
    for (const Var& var : vars_) trained.push_back(var.value().clone());
    state_.model = best;
    const Index most = std::min(options_.average, static_cast<Index>(recent.size()));
    for (Index count = 2; count <= most; ++count) {
      Candidate mean{.updates = {recent.end() - count, recent.end()}};
      checkpoints_.set_to_mean(mean.updates);
      const ValidationScore score = validation_.measure();
      mean.bleu = score.bleu, mean.loss = score.loss;
      monitor_.on_candidate(mean);
      if (better(mean, state_.model)) state_.model = mean;
    }
    checkpoints_.set_to_mean(state_.model.updates);
    write_model();
    for (std::size_t i = 0; i < vars_.size(); ++i) vars_[i].set_value(trained[i].view());
  }

  TrainingResult result(TrainingResult::Stop stop) const {
    return {.stop = stop,
            .updates = state_.update,
            .epochs = state_.epoch,
            .seconds = state_.seconds,
            .target_tokens_per_second = run_seconds_ > 0 ? static_cast<double>(run_tokens_) / run_seconds_ : 0,
            .model = state_.model};
  }

  TrainingResult interrupt() {
    save_state();
    return result(TrainingResult::Stop::interrupted);
  }

  // The last parameters are validated too. They count for the model, but not for a run that goes on from here: it is to
  // end as one that never stopped here.
  TrainingResult finish(TrainingResult::Stop stop) {
    Candidate best = state_.best;
    std::vector<Index> recent = state_.recent;
    if (!validated()) {
      const Candidate last = validate();
      checkpoints_.write(state_.update);
      recent.push_back(state_.update);
      if (better(last, best)) best = last;
    }
    choose_model(best, recent);
    state_.finished = true;
    save_state();
    checkpoints_.remove_all_but(kept_updates());
    return result(stop);
  }

  const TrainOptions& options_;
  const TrainLimits& limits_;
  TrainingMonitor& monitor_;
  const std::atomic<bool>& stop_;

  TrainingText text_;
  std::vector<PairLength> lengths_;

  ModelConfig config_;
  std::unique_ptr<TranslationModel> model_;
  ParameterList parameters_;
  std::vector<Var> vars_;
  Adam adam_;
  Validation validation_;
  Checkpoints checkpoints_;
  Workspace workspace_;
  Rng rng_{0};

  TrainingState state_;
  std::optional<MetricsLog> log_;
  Index last_saved_ = 0;
  Clock::time_point started_ = Clock::now();
  double seconds_before_ = 0;
  Index run_tokens_ = 0;
  double run_seconds_ = 0;
  RecentUpdates recent_;
};

}  // namespace

TrainingResult train(const TrainPaths& paths, const TrainOptions& options, const TrainLimits& limits,
                     TrainingMonitor& monitor, const std::atomic<bool>& stop) {
  check(options, limits);
  return Trainer(paths, options, limits, monitor, stop).run();
}

}  // namespace heed
