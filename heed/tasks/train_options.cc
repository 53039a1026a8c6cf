#include "heed/tasks/train_options.h"

#include "heed/base/check.h"
#include "heed/io/fields.h"
#include "heed/layers/listed_parameters.h"
#include "heed/models/transformer.h"

namespace heed {

void check(const TrainOptions& options, const TrainLimits& limits) {
  check_ranges(options, "train");
  check_ranges(options.low_rank, "train");
  check_ranges(limits, "train");
  HEED_CHECK(options.shared_vocabulary || !options.model.share_embeddings(),
             "train: share_embeddings needs shared_vocabulary: one table cannot serve two vocabularies");
  const bool has_encoder = options.model.kind == ModelKind::rnn || options.model.transformer.has_encoder();
  HEED_CHECK(has_encoder == (options.task != Task::language_model), "train: {}",
             has_encoder ? "a language model is a Transformer without an encoder: encoder_layers must be 0"
                         : "translations and captions need an encoder, but encoder_layers is 0");
  HEED_CHECK(options.task != Task::caption || options.model.kind == ModelKind::transformer,
             "train: a model that captions is a Transformer");
  ModelConfig config = options.model;
  config.set_vocabularies(options.vocabulary_size, options.vocabulary_size);
  config.check();
  if (config.kind != ModelKind::transformer) return;
  HEED_CHECK(config.transformer.has_decoder(), "train: a model that writes needs a decoder, but decoder_layers is 0");
  HEED_CHECK(config.transformer.causal,
             "train: a decoder that sees what it must predict learns nothing: causal must be true");
  // What only its layers know, such as whether an attention fits their heads, before anything is read.
  ListedParameters listed;
  Transformer(listed, config.transformer);
}

}  // namespace heed
