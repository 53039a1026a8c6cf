#include "heed/tasks/train_options.h"

#include <cmath>

#include "heed/base/check.h"
#include "heed/io/fields.h"

namespace heed {

void check(const TrainOptions& options, const TrainLimits& limits) {
  const auto positive = [](Index value, std::string_view name) {
    HEED_CHECK(value >= 1, "train: {} must be at least 1, but is {}", name, value);
  };
  positive(options.vocabulary_size, "vocabulary_size");
  positive(options.max_tokens, "max_tokens");
  positive(options.batch_tokens, "batch_tokens");
  positive(options.accumulate, "accumulate");
  positive(options.validate_every, "validate_every");
  positive(options.validation_sentences, "validation_sentences");
  positive(options.average, "average");
  check_ranges(options.low_rank, "train");
  for (Index limit : {limits.max_updates, limits.max_epochs, limits.patience, limits.save_every}) {
    HEED_CHECK(limit >= 0, "train: a limit must not be negative, but one is {}", limit);
  }
  HEED_CHECK(limits.max_minutes >= 0 && std::isfinite(limits.max_minutes),
             "train: max_minutes must not be negative, but is {}", limits.max_minutes);
  HEED_CHECK(options.shared_vocabulary || !options.model.share_embeddings(),
             "train: share_embeddings needs shared_vocabulary: one table cannot serve two vocabularies");
  HEED_CHECK(options.rate > 0 && std::isfinite(options.rate), "train: rate must be positive, but is {}", options.rate);
  HEED_CHECK(options.warmup >= 0, "train: warmup must not be negative, but is {}", options.warmup);
  HEED_CHECK(options.weight_decay >= 0 && std::isfinite(options.weight_decay),
             "train: weight_decay must not be negative, but is {}", options.weight_decay);
  HEED_CHECK(options.clip >= 0, "train: clip must not be negative, but is {}", options.clip);
  HEED_CHECK(options.label_smoothing >= 0 && options.label_smoothing < 1,
             "train: label_smoothing must be from 0 to below 1, but is {}", options.label_smoothing);
  for (double beta : {options.adam_beta1, options.adam_beta2}) {
    HEED_CHECK(beta >= 0 && beta < 1, "train: adam_beta1 and adam_beta2 must be from 0 to below 1, but one is {}",
               beta);
  }
  const bool has_encoder = options.model.kind == ModelKind::rnn || options.model.transformer.has_encoder();
  HEED_CHECK(has_encoder == (options.task != Task::language_model), "train: {}",
             has_encoder ? "a language model is a Transformer without an encoder: encoder_layers must be 0"
                         : "translations and captions need an encoder, but encoder_layers is 0");
  HEED_CHECK(options.task != Task::caption || options.model.kind == ModelKind::transformer,
             "train: a model that captions is a Transformer");
  positive(options.patch, "patch");
  ModelConfig config = options.model;
  config.set_vocabularies(options.vocabulary_size, options.vocabulary_size);
  config.check();
}

}  // namespace heed
