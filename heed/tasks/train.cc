#include "heed/tasks/train.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <optional>

#include "heed/base/check.h"
#include "heed/base/file.h"
#include "heed/io/json.h"
#include "heed/metrics/bleu.h"
#include "heed/optim/schedule.h"
#include "heed/tasks/metrics_log.h"
#include "heed/tasks/model_batch.h"
#include "heed/tasks/model_folder.h"
#include "heed/tasks/training_state.h"
#include "heed/tasks/training_text.h"
#include "heed/tasks/translate.h"
#include "heed/text/batching.h"

namespace heed {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

class Trainer {
 public:
  Trainer(const TrainPaths& paths, const TrainOptions& options, const TrainLimits& limits, TrainingMonitor& monitor,
          const std::atomic<bool>& stop)
      : options_(options),
        limits_(limits),
        monitor_(monitor),
        stop_(stop),
        folder_(paths.folder),
        training_(folder_ / "training") {
    check_options();
    text_ = prepare_training_text(paths, options);
    lengths_ = padded_lengths(text_.corpus);
    make_new_model();
    adam_.emplace(AdamOptions{options.adam_beta1, options.adam_beta2, 1e-9, options.weight_decay}, vars_);
    const BatchPlan plan = plan_epoch(0);
    monitor.on_start({text_.corpus.size(), text_.dropped_empty, text_.corpus.dropped_long,
                      text_.source_vocabulary->size(), text_.target_vocabulary->size(), parameter_count(),
                      static_cast<Index>(plan.size())});
    resume();
  }

  TrainingResult run() {
    if (state_.finished && limit_reached()) return finish(TrainingResult::Stop::finished_before);
    state_.finished = false;
    log_.emplace(folder_ / "metrics.jsonl", state_.update);
    started_ = Clock::now();
    while (true) {
      const BatchPlan plan = plan_epoch(state_.epoch);
      while (state_.batch < static_cast<Index>(plan.size())) {
        if (const auto limit = limit_reached()) return finish_by(*limit);
        if (stop_.load()) return interrupt();
        update(plan);
        if (state_.update % options_.validate_every == 0) {
          validate_and_keep();
        } else if (limits_.save_every > 0 && state_.update % limits_.save_every == 0) {
          save_state();
        }
      }
      ++state_.epoch;
      state_.batch = 0;
    }
  }

 private:
  void check_options() const {
    const auto positive = [](Index value, std::string_view name) {
      HEED_CHECK(value >= 1, "train: {} must be at least 1, but is {}", name, value);
    };
    positive(options_.vocabulary_size, "vocabulary_size");
    positive(options_.max_tokens, "max_tokens");
    positive(options_.batch_tokens, "batch_tokens");
    positive(options_.accumulate, "accumulate");
    positive(options_.validate_every, "validate_every");
    positive(options_.validation_sentences, "validation_sentences");
    positive(options_.average, "average");
    for (Index limit : {limits_.max_updates, limits_.max_epochs, limits_.patience, limits_.save_every}) {
      HEED_CHECK(limit >= 0, "train: a limit must not be negative, but one is {}", limit);
    }
    HEED_CHECK(limits_.max_minutes >= 0 && std::isfinite(limits_.max_minutes),
               "train: max_minutes must not be negative, but is {}", limits_.max_minutes);
    HEED_CHECK(options_.shared_vocabulary || !options_.model.share_embeddings(),
               "train: share_embeddings needs shared_vocabulary: one table cannot serve two vocabularies");
    HEED_CHECK(options_.rate > 0 && std::isfinite(options_.rate), "train: rate must be positive, but is {}",
               options_.rate);
    HEED_CHECK(options_.warmup >= 0, "train: warmup must not be negative, but is {}", options_.warmup);
    HEED_CHECK(options_.weight_decay >= 0 && std::isfinite(options_.weight_decay),
               "train: weight_decay must not be negative, but is {}", options_.weight_decay);
    HEED_CHECK(options_.clip >= 0, "train: clip must not be negative, but is {}", options_.clip);
    HEED_CHECK(options_.label_smoothing >= 0 && options_.label_smoothing < 1,
               "train: label_smoothing must be from 0 to below 1, but is {}", options_.label_smoothing);
    for (double beta : {options_.adam_beta1, options_.adam_beta2}) {
      HEED_CHECK(beta >= 0 && beta < 1, "train: adam_beta1 and adam_beta2 must be from 0 to below 1, but one is {}",
                 beta);
    }
  }

  Index max_length() const { return options_.model.max_length(); }

  void make_new_model() {
    config_ = options_.model;
    config_.set_vocabularies(text_.source_vocabulary->size(), text_.target_vocabulary->size());
    Rng rng(seed(), /*stream=*/1);
    model_ = make_model(config_, rng);
    parameters_ = model_->parameters();
    for (const auto& [name, var] : parameters_) vars_.push_back(var);
  }

  void resume() {
    const std::filesystem::path file = training_ / "state.safetensors";
    if (file_exists(file)) {
      state_ = load_training_state(file, parameters_, *adam_);
      monitor_.on_resume(state_.update);
    }
    remove_forgotten_parameters();
    seconds_before_ = state_.seconds;
    last_saved_ = state_.update;
    rng_ = Rng(seed(), /*stream=*/2, state_.rng_position);
  }

  // A kill may leave kept parameters that no state names.
  void remove_forgotten_parameters() const {
    std::vector<std::filesystem::path> named, found;
    for (Index update : state_.averaged) named.push_back(kept_parameters_file(training_, update));
    for (const auto& entry : std::filesystem::directory_iterator(training_)) {
      if (entry.path().filename().string().starts_with("parameters-")) found.push_back(entry.path());
    }
    for (const std::filesystem::path& file : found) {
      if (std::find(named.begin(), named.end(), file) == named.end()) remove_file(file);
    }
  }

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
    if (limits_.patience > 0 && state_.since_best >= limits_.patience) return Stop::patience;
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
               number, loss, norm, last_saved_, training_.string());
    const double rate = inverse_square_root_rate(options_.rate, options_.warmup, number);
    adam_->step(rate, options_.clip > 0 && norm > options_.clip ? options_.clip / norm : 1.0);
    state_.update = number;
    state_.rng_position = rng_.position();
    report(loss, norm, rate, tokens, seconds_since(begin), static_cast<Index>(plan.size()));
  }

  void report(double loss, double norm, double rate, Index tokens, double seconds_taken, Index batches) {
    run_tokens_ += tokens;
    run_seconds_ += seconds_taken;
    recent_tokens_ = 0.95 * recent_tokens_ + static_cast<double>(tokens);
    recent_seconds_ = 0.95 * recent_seconds_ + seconds_taken;
    UpdateReport r{state_.update, state_.epoch + 1, loss, rate, norm, recent_tokens_ / recent_seconds_, 0, 0};
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
                              {"target_tokens_per_second", static_cast<double>(tokens) / seconds_taken}}));
  }

  double validation_loss() {
    double nll = 0;
    Index tokens = 0;
    std::vector<PairLength> lengths = padded_lengths(text_.encoded_validation);
    for (const auto& pairs :
         plan_batches(lengths, {.token_budget = std::max(options_.batch_tokens, max_length())}, 0, 0)) {
      const Context context{.workspace = workspace_, .rng = rng_};
      const LossResult result =
          model_->loss(context, make_translation_batch(make_batch(text_.encoded_validation, pairs)),
                       {.ignore_index = Vocabulary::kPad});
      nll += result.nll_sum;
      tokens += result.tokens;
    }
    return nll / static_cast<double>(tokens);
  }

  // Greedy translations of the validation text; lines longer than the model can hold count as translated to nothing.
  std::vector<std::string> translate_validation() {
    Translator translator(*model_, *text_.source_vocabulary, *text_.target_vocabulary);
    std::vector<std::string> lines = text_.validation.source;
    for (std::string& line : lines) {
      if (static_cast<Index>(text_.source_vocabulary->encode(line).size()) + 1 > max_length()) line.clear();
    }
    std::vector<std::string> texts;
    for (const auto& best : translator.translate(lines, {.beam = 1}, "validation text")) texts.push_back(best[0].text);
    return texts;
  }

  double bleu_of(const std::vector<std::string>& translations) const {
    // Text that was tokenised by somebody else must not be tokenised again.
    const BleuTokenizer tokenizer =
        options_.tokenizer == TokenizerKind::whitespace ? BleuTokenizer::none : BleuTokenizer::v13a;
    return corpus_bleu(translations, std::vector<std::vector<std::string>>{text_.validation.target},
                       {.tokenizer = tokenizer})
        .score;
  }

  void validate_and_keep() {
    ValidationReport report;
    report.update = state_.update;
    report.epoch = state_.epoch + 1;
    report.loss = validation_loss();
    HEED_CHECK(std::isfinite(report.loss),
               "train: after update {} the validation loss is {}; the last good checkpoint is that of update {} in {}",
               state_.update, report.loss, last_saved_, training_.string());
    const std::vector<std::string> translations = translate_validation();
    report.bleu = bleu_of(translations);
    report.best = report.bleu > state_.best_bleu;
    state_.since_best = report.best ? 0 : state_.since_best + 1;
    state_.best_bleu = std::max(state_.best_bleu, report.bleu);
    for (std::size_t i = 0; i < translations.size() && i < 3; ++i) {
      const std::size_t at = i * translations.size() / 3;
      report.sources.push_back(text_.validation.source[at]);
      report.references.push_back(text_.validation.target[at]);
      report.translations.push_back(translations[at]);
    }
    log_->write(
        Json::object({{"update", report.update}, {"validation_loss", report.loss}, {"validation_bleu", report.bleu}}));
    monitor_.on_validation(report);
    keep_parameters();
  }

  // Adds the parameters to those that are averaged. Files that the saved state names are removed only after a newer
  // state is in place: a kill at any moment leaves a state whose files are all there.
  void keep_parameters() {
    save_parameters(kept_parameters_file(training_, state_.update), parameters_);
    state_.averaged.push_back(state_.update);
    std::vector<Index> dropped;
    while (static_cast<Index>(state_.averaged.size()) > options_.average) {
      dropped.push_back(state_.averaged.front());
      state_.averaged.erase(state_.averaged.begin());
    }
    save_state();
    for (Index update : dropped) remove_file(kept_parameters_file(training_, update));
    write_model();
  }

  void save_state() {
    state_.seconds = seconds();
    save_training_state(training_ / "state.safetensors", state_, parameters_, *adam_);
    last_saved_ = state_.update;
    monitor_.on_save(state_.update);
  }

  // Writes the model: the mean of the kept parameters. The parameters being trained stay as they are.
  void write_model() {
    std::vector<Tensor> trained;
    for (const Var& var : vars_) trained.push_back(var.value().clone());
    become_model();
    for (std::size_t i = 0; i < vars_.size(); ++i) vars_[i].set_value(trained[i].view());
  }

  // Sets the parameters to the mean of the kept ones, and writes them as the model.
  void become_model() {
    std::vector<std::filesystem::path> files;
    for (Index update : state_.averaged) files.push_back(kept_parameters_file(training_, update));
    set_to_mean(files, parameters_);
    save_parameters(folder_ / "model.safetensors", parameters_);
    save_model_config(folder_, config_);
  }

  TrainingResult result(TrainingResult::Stop stop) const {
    return {.stop = stop,
            .updates = state_.update,
            .epochs = state_.epoch,
            .seconds = state_.seconds,
            .target_tokens_per_second = run_seconds_ > 0 ? static_cast<double>(run_tokens_) / run_seconds_ : 0};
  }

  TrainingResult interrupt() {
    save_state();
    return result(TrainingResult::Stop::interrupted);
  }

  TrainingResult finish_by(TrainingResult::Stop stop) {
    if (state_.averaged.empty() || state_.averaged.back() != state_.update) validate_and_keep();
    state_.finished = true;
    save_state();
    return finish(stop);
  }

  TrainingResult finish(TrainingResult::Stop stop) {
    TrainingResult r = result(stop);
    become_model();
    r.bleu = bleu_of(translate_validation());
    return r;
  }

  TrainOptions options_;
  TrainLimits limits_;
  TrainingMonitor& monitor_;
  const std::atomic<bool>& stop_;
  std::filesystem::path folder_, training_;

  TrainingText text_;
  std::vector<PairLength> lengths_;

  ModelConfig config_;
  std::unique_ptr<TranslationModel> model_;
  ParameterList parameters_;
  std::vector<Var> vars_;
  std::optional<Adam> adam_;
  Workspace workspace_;
  Rng rng_{0};

  TrainingState state_;
  std::optional<MetricsLog> log_;
  Index last_saved_ = 0;
  Clock::time_point started_ = Clock::now();
  double seconds_before_ = 0;
  Index run_tokens_ = 0;
  double run_seconds_ = 0, recent_tokens_ = 0, recent_seconds_ = 0;
};

}  // namespace

TrainingResult train(const TrainPaths& paths, const TrainOptions& options, const TrainLimits& limits,
                     TrainingMonitor& monitor, const std::atomic<bool>& stop) {
  return Trainer(paths, options, limits, monitor, stop).run();
}

}  // namespace heed
