// Everything that decides a training run. The command line, the saved options and the documentation come from
// visit_fields.
#pragma once

#include <string>

#include "heed/base/index.h"
#include "heed/layers/low_rank.h"
#include "heed/models/model_config.h"

namespace heed {

enum class TokenizerKind { bpe, unigram, whitespace };
inline constexpr std::pair<std::string_view, TokenizerKind> kTokenizerKindNames[] = {
    {"bpe", TokenizerKind::bpe}, {"unigram", TokenizerKind::unigram}, {"whitespace", TokenizerKind::whitespace}};
inline std::span<const std::pair<std::string_view, TokenizerKind>> enum_names(TokenizerKind) {
  return kTokenizerKindNames;
}

enum class Task {
  translation,     // pairs of sentences
  language_model,  // documents, one a line
  caption,         // pictures and what they show
};
inline constexpr std::pair<std::string_view, Task> kTaskNames[] = {
    {"translation", Task::translation}, {"language-model", Task::language_model}, {"caption", Task::caption}};
inline std::span<const std::pair<std::string_view, Task>> enum_names(Task) { return kTaskNames; }

// Where the text is, and where the model goes.
struct TrainPaths {
  std::string source, target;              // translation: training text, one sentence a line; captions: a list of
                                           // pictures (heed/tasks/picture_list.h), and a caption for each
  std::string valid_source, valid_target;  // and validation text
  std::string text, valid;                 // language model: the same of documents
  std::string folder;                      // the model's folder
  std::string from = {};                   // the model that the run goes on from; none: it begins at random numbers
};

// What a run that is continued must have been started with.
struct TrainOptions {
  ModelConfig model;
  Task task = Task::translation;
  TokenizerKind tokenizer = TokenizerKind::bpe;
  Index vocabulary_size = 4000;
  bool shared_vocabulary = true;
  Index max_tokens = 120;
  Index patch = 8;
  Index batch_tokens = 4096;
  Index accumulate = 1;
  double rate = 0.003;
  Index warmup = 400;
  double label_smoothing = 0.1;
  double clip = 1.0;
  double adam_beta1 = 0.9;
  double adam_beta2 = 0.98;
  double weight_decay = 0;
  Index validate_every = 250;
  Index validation_sentences = 500;
  Index average = 5;
  Index seed = 1;
  LowRankOptions low_rank = {};  // of a run that goes on from a model

  template <typename V>
  friend void visit_fields(TrainOptions& o, V&& visit) {
    visit("task", o.task,
          "What the model learns: translation; language-model, which continues text; or caption, which tells what a "
          "picture shows.");
    visit("tokenizer", o.tokenizer,
          "How text becomes tokens: bpe, unigram (both learned from the training text) or whitespace.");
    visit("vocabulary_size", o.vocabulary_size, "Pieces of each vocabulary, at most.", NumberRange::at_least(1));
    visit("shared_vocabulary", o.shared_vocabulary, "One vocabulary for source and target.");
    visit("max_tokens", o.max_tokens, "Translation and captions: training pairs with a longer side are left out.",
          NumberRange::at_least(1));
    visit("patch", o.patch, "Captions: rows and columns of a picture's patch, which divide the picture's.",
          NumberRange::from(1, 1 << 16));
    visit("batch_tokens", o.batch_tokens, "Tokens of a batch, source (or patches) and target each, padding counted.",
          NumberRange::at_least(2));
    visit("accumulate", o.accumulate, "Batches whose gradients are added up for one update.", NumberRange::at_least(1));
    visit("rate", o.rate, "Peak learning rate.", NumberRange::above(0));
    visit("warmup", o.warmup,
          "Updates of linear warm-up to the peak; then the rate falls with the inverse square root.",
          NumberRange::at_least(0));
    visit("label_smoothing", o.label_smoothing, "Probability spread over all pieces.", NumberRange::from_below(0, 1));
    visit("clip", o.clip, "Greatest norm of the gradient; 0: no limit.", NumberRange::at_least(0));
    visit("adam_beta1", o.adam_beta1, "Adam's decay of the first moment.", NumberRange::from_below(0, 1));
    visit("adam_beta2", o.adam_beta2, "Adam's decay of the second moment.", NumberRange::from_below(0, 1));
    visit("weight_decay", o.weight_decay, "Decoupled weight decay.", NumberRange::at_least(0));
    visit("validate_every", o.validate_every, "Updates between validations; each leaves a checkpoint.",
          NumberRange::at_least(1));
    visit("validation_sentences", o.validation_sentences, "Validation pairs that are scored, from the first.",
          NumberRange::at_least(1));
    visit("average", o.average,
          "Checkpoints, the last ones, whose mean may become the model: at the end the means of 2 to this many and the "
          "best "
          "single one are tried on the validation text.",
          NumberRange::at_least(1));
    visit("seed", o.seed, "Seed of initial parameters, batches and dropout.");
  }
};

// When a run stops; a continued run may have other limits. 0: no limit.
struct TrainLimits {
  Index max_updates = 0;
  Index max_epochs = 0;
  double max_minutes = 0;
  Index patience = 10;
  Index save_every = 0;

  template <typename V>
  friend void visit_fields(TrainLimits& l, V&& visit) {
    visit("max_updates", l.max_updates, "Stop after this many updates; 0: no limit.", NumberRange::at_least(0));
    visit("max_epochs", l.max_epochs, "Stop after this many passes over the training text; 0: no limit.",
          NumberRange::at_least(0));
    visit("max_minutes", l.max_minutes, "Stop after this many minutes of training, earlier runs counted; 0: no limit.",
          NumberRange::at_least(0));
    visit("patience", l.patience,
          "Stop after this many validations without a better one (by BLEU; a language model by its loss); 0: no limit.",
          NumberRange::at_least(0));
    visit("save_every", l.save_every, "Updates between saves of the training state; 0: only at validations.",
          NumberRange::at_least(0));
  }
};

// Why a run stopped: a limit; or a request; or it had reached its limit before it was begun again.
enum class TrainingStop { max_updates, max_epochs, max_minutes, patience, interrupted, finished_before };

// Throws heed::Error naming the option that makes no sense.
void check(const TrainOptions& options, const TrainLimits& limits);

}  // namespace heed
