#include "heed/tasks/training_update.h"

#include "heed/optim/schedule.h"
#include "heed/text/vocabulary.h"

namespace heed {
namespace {

std::vector<Var> vars_of(const ParameterList& parameters) {
  std::vector<Var> vars;
  for (const auto& [name, var] : parameters) vars.push_back(var);
  return vars;
}

Index target_tokens(std::span<const TrainingBatch> batches) {
  Index tokens = 0;
  for (const TrainingBatch& batch : batches) tokens += batch.target_tokens;
  return tokens;
}

}  // namespace

TrainingUpdate::TrainingUpdate(const SequenceModel& model, const ParameterList& parameters, const TrainOptions& options)
    : model_(model),
      options_(options),
      parameters_(vars_of(parameters)),
      adam_(AdamOptions{options.adam_beta1, options.adam_beta2, 1e-9, options.weight_decay}, parameters_) {}

// Processes that share an update would add up their tokens before the gradients are scaled by them, and the loss and
// the gradients before the norm is taken; everything else each does by itself.
UpdateResult TrainingUpdate::run(Index number, std::span<const TrainingBatch> batches) {
  UpdateResult result{.target_tokens = target_tokens(batches)};
  result.loss = accumulate(number, batches, result.target_tokens) / static_cast<double>(result.target_tokens);
  result.gradient_norm = gradient_norm(parameters_);
  result.rate = inverse_square_root_rate(options_.rate, options_.warmup, number);
  if (!result.finite()) return result;
  const bool too_long = options_.clip > 0 && result.gradient_norm > options_.clip;
  adam_.step(result.rate, too_long ? options_.clip / result.gradient_norm : 1.0);
  return result;
}

// Leaves the gradients of the mean loss of `tokens` target tokens, and returns the sum of the losses.
double TrainingUpdate::accumulate(Index number, std::span<const TrainingBatch> batches, Index tokens) {
  for (const Var& parameter : parameters_) parameter.zero_grad();
  const CrossEntropyOptions options{.label_smoothing = options_.label_smoothing,
                                    .ignore_index = kNoTarget,
                                    .gradient_scale = 1.0 / static_cast<double>(tokens)};
  double loss = 0;
  for (std::size_t b = 0; b < batches.size(); ++b) {
    DropoutCalls dropout({static_cast<std::uint64_t>(options_.seed), number, static_cast<Index>(b)});
    Tape tape;
    const Context context = Context::training(tape, workspace_, dropout);
    loss += model_.loss(context, batches[b].batch, options).loss_sum;
    tape.backward();
  }
  return loss;
}

}  // namespace heed
