#include "heed/tasks/training_text.h"

#include <fmt/core.h>

#include <memory>
#include <utility>

#include "heed/base/fingerprint.h"
#include "heed/io/fields.h"
#include "heed/tasks/model_folder.h"
#include "heed/text/sentencepiece_vocabulary.h"
#include "heed/text/whitespace_vocabulary.h"

namespace heed {
namespace {

std::shared_ptr<const Vocabulary> learn_vocabulary(const TrainOptions& options, std::span<const std::string> lines,
                                                   TrainingMonitor& monitor) {
  monitor.on_vocabulary(std::ssize(lines), options.vocabulary_size);
  if (options.tokenizer == TokenizerKind::whitespace) {
    return std::make_shared<WhitespaceVocabulary>(
        WhitespaceVocabulary::build(lines, {.max_size = options.vocabulary_size}));
  }
  const SentencePieceModel model =
      options.tokenizer == TokenizerKind::bpe ? SentencePieceModel::bpe : SentencePieceModel::unigram;
  return std::make_shared<SentencePieceVocabulary>(
      SentencePieceVocabulary::train(lines, {.model = model, .vocabulary_size = options.vocabulary_size}));
}

std::string fingerprint(const Sides& sides) {
  Fingerprint print;
  for (const std::span<const std::string> side : sides) {
    for (const std::string& line : side) {
      print.add(line);
      print.add("\n");
    }
  }
  return fmt::format("{} lines, {:016x}", sides.front().size(), print.value());
}

Json run_description(const TrainOptions& options, const TrainingStart* start, const Sides& text,
                     const Sides& validation, const std::string& pictures) {
  Json texts = Json::object({{"training_text", fingerprint(text)}, {"validation_text", fingerprint(validation)}});
  if (!pictures.empty()) texts.set("pictures", pictures);
  Json description =
      Json::object({{"model", to_json(options.model)}, {"training", to_json(options)}, {"text", std::move(texts)}});
  if (start != nullptr) {
    description.set("start", Json::object({{"from", start->fingerprint}}));
    if (options.low_rank.rank > 0) description.set("low_rank", to_json(options.low_rank));
  }
  return description;
}

Vocabularies learn_vocabularies(const TrainOptions& options, const Sides& text, TrainingMonitor& monitor) {
  if (options.shared_vocabulary || text.size() == 1) {
    std::vector<std::string> lines;
    for (const std::span<const std::string> side : text) lines.insert(lines.end(), side.begin(), side.end());
    const std::shared_ptr<const Vocabulary> joint = learn_vocabulary(options, lines, monitor);
    return {joint, joint};
  }
  std::shared_ptr<const Vocabulary> source = learn_vocabulary(options, text.front(), monitor);
  return {source, learn_vocabulary(options, text.back(), monitor)};
}

}  // namespace

TextCodec prepare_text(const TrainingFolder& folder, const TrainOptions& options, const TrainingStart* start,
                       const Sides& text, const Sides& validation, TrainingMonitor& monitor,
                       const std::string& pictures) {
  const Json description = run_description(options, start, text, validation, pictures);
  const bool goes_on = folder.holds_run();
  if (goes_on) folder.check_same_run(description);
  TextCodec codec = start != nullptr ? static_cast<const TextCodec&>(start->model)
                    : goes_on        ? codec_of(load_vocabularies(folder.path()))
                                     : codec_of(learn_vocabularies(options, text, monitor));
  if (goes_on) return codec;
  folder.begin(description);
  if (options.low_rank.rank == 0) save_vocabularies(folder.path(), *codec.source_vocabulary, *codec.target_vocabulary);
  return codec;
}

}  // namespace heed
