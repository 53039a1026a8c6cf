#include "heed/tasks/translation_task.h"

#include <algorithm>

#include "heed/metrics/bleu.h"
#include "heed/tasks/model_batch.h"
#include "heed/tasks/translate.h"

namespace heed {

TranslationTask::TranslationTask(const TrainPaths& paths, const TrainOptions& options, const TrainingStart* start,
                                 TrainingMonitor& monitor)
    : options_(options) {
  const ParallelCorpus text = read_parallel_corpus(paths.source, paths.target);
  validation_ = read_parallel_corpus(paths.valid_source, paths.valid_target);
  const std::size_t kept = std::min(validation_.source.size(), static_cast<std::size_t>(options.validation_sentences));
  validation_.source.resize(kept);
  validation_.target.resize(kept);
  folder_ = std::make_unique<TrainingFolder>(paths.folder);
  codec_ = prepare_text(*folder_, options, start, {text.source, text.target}, {validation_.source, validation_.target},
                        monitor);
  config_ = config_for(options, start, codec_);
  longest_ = std::min({options.max_tokens, options.model.max_length() - 1, options.batch_tokens - 1});
  corpus_ = encode_corpus(text, codec_.source_encoding(), codec_.target_encoding(), longest_);
  lengths_ = padded_lengths(corpus_);
  encoded_validation_ = encode_corpus(validation_, codec_.source_encoding(), codec_.target_encoding(), longest_);
  dropped_empty_ = text.dropped_empty + corpus_.dropped_empty;
}

CorpusReport TranslationTask::report() const {
  return {.sequences = corpus_.size(),
          .dropped_empty = dropped_empty_,
          .dropped_long = corpus_.dropped_long,
          .source_vocabulary = codec_.source_vocabulary->size(),
          .target_vocabulary = codec_.target_vocabulary->size()};
}

BatchPlan TranslationTask::plan_epoch(Index epoch) const {
  return plan_batches(lengths_, {.token_budget = options_.batch_tokens}, static_cast<std::uint64_t>(options_.seed),
                      static_cast<std::uint64_t>(epoch));
}

TrainingBatch TranslationTask::batch(std::span<const Index> pairs) const {
  const Batch made = make_batch(corpus_, pairs);
  return {make_translation_batch(made), made.target_tokens};
}

ValidationScore TranslationTask::measure(const SequenceModel& model, Workspace& workspace) const {
  ValidationScore score{.loss = validation_loss(model, workspace)};
  const std::vector<std::string> translated = translations(model);
  // Text that was tokenised by somebody else must not be tokenised again.
  const BleuTokenizer tokenizer =
      codec_.target_vocabulary->kind() == "whitespace" ? BleuTokenizer::none : BleuTokenizer::v13a;
  score.bleu =
      corpus_bleu(translated, std::vector<std::vector<std::string>>{validation_.target}, {.tokenizer = tokenizer})
          .score;
  score.samples = samples(translated);
  return score;
}

double TranslationTask::validation_loss(const SequenceModel& model, Workspace& workspace) const {
  double nll = 0;
  Index tokens = 0;
  const Context context = Context::inference(workspace);
  const Index budget = std::max(options_.batch_tokens, longest_ + 1);
  for (const auto& pairs :
       plan_batches(padded_lengths(encoded_validation_), {.token_budget = budget}, /*seed=*/0, /*epoch=*/0)) {
    const LossResult result = model.loss(context, make_translation_batch(make_batch(encoded_validation_, pairs)),
                                         {.ignore_index = kNoTarget});
    nll += result.nll_sum;
    tokens += result.tokens;
  }
  return nll / static_cast<double>(tokens);
}

std::vector<std::string> TranslationTask::translations(const SequenceModel& model) const {
  Translator translator(model, codec_, LongLines::empty);
  std::vector<std::string> texts;
  for (const auto& best : translator.translate(validation_.source, {.beam = 1}, "validation text")) {
    texts.push_back(best[0].text);
  }
  return texts;
}

// Spread over the whole text.
std::vector<SampleTranslation> TranslationTask::samples(const std::vector<std::string>& translated) const {
  constexpr std::size_t kSamples = 3;
  std::vector<SampleTranslation> samples;
  for (std::size_t i = 0; i < std::min(kSamples, translated.size()); ++i) {
    const std::size_t at = i * translated.size() / kSamples;
    samples.push_back({validation_.source[at], validation_.target[at], translated[at]});
  }
  return samples;
}

}  // namespace heed
