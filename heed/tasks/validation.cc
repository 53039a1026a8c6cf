#include "heed/tasks/validation.h"

#include <algorithm>

#include "heed/metrics/bleu.h"
#include "heed/tasks/model_batch.h"
#include "heed/tasks/translate.h"
#include "heed/text/batching.h"

namespace heed {

Validation::Validation(const TrainingText& text, const TrainOptions& options, const TranslationModel& model)
    : text_(text), options_(options), model_(model) {}

ValidationScore Validation::measure() {
  ValidationScore score;
  score.loss = loss();
  const std::vector<std::string> translations = translate();
  // Text that was tokenised by somebody else must not be tokenised again.
  const BleuTokenizer tokenizer =
      options_.tokenizer == TokenizerKind::whitespace ? BleuTokenizer::none : BleuTokenizer::v13a;
  score.bleu = corpus_bleu(translations, std::vector<std::vector<std::string>>{text_.validation.target},
                           {.tokenizer = tokenizer})
                   .score;
  score.samples = samples(translations);
  return score;
}

double Validation::loss() {
  double nll = 0;
  Index tokens = 0;
  const Index budget = std::max(options_.batch_tokens, model_.max_length());
  const EncodedCorpus& corpus = text_.encoded_validation;
  for (const auto& pairs : plan_batches(padded_lengths(corpus), {.token_budget = budget}, /*seed=*/0, /*epoch=*/0)) {
    const Context context = Context::inference(workspace_);
    const LossResult result =
        model_.loss(context, make_translation_batch(make_batch(corpus, pairs)), {.ignore_index = Vocabulary::kPad});
    nll += result.nll_sum;
    tokens += result.tokens;
  }
  return nll / static_cast<double>(tokens);
}

std::vector<std::string> Validation::translate() const {
  Translator translator(model_, *text_.source_vocabulary, *text_.target_vocabulary, LongLines::empty);
  std::vector<std::string> texts;
  for (const auto& best : translator.translate(text_.validation.source, {.beam = 1}, "validation text")) {
    texts.push_back(best[0].text);
  }
  return texts;
}

// Spread over the whole text.
std::vector<SampleTranslation> Validation::samples(const std::vector<std::string>& translations) const {
  constexpr std::size_t kSamples = 3;
  std::vector<SampleTranslation> samples;
  for (std::size_t i = 0; i < std::min(kSamples, translations.size()); ++i) {
    const std::size_t at = i * translations.size() / kSamples;
    samples.push_back({text_.validation.source[at], text_.validation.target[at], translations[at]});
  }
  return samples;
}

}  // namespace heed
