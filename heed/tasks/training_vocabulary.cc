#include "heed/tasks/training_vocabulary.h"

#include <fmt/core.h>

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

// FNV-1a over all lines: enough to notice that a run would be continued on other text.
std::string fingerprint(const Sides& sides) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  const auto add = [&](unsigned char byte) { hash = (hash ^ byte) * 0x100000001b3u; };
  for (const std::span<const std::string> side : sides) {
    for (const std::string& line : side) {
      for (char c : line) add(static_cast<unsigned char>(c));
      add('\n');
    }
  }
  return fmt::format("{} lines, {:016x}", sides.front().size(), hash);
}

Json run_description(const TrainOptions& options, const Sides& text, const Sides& validation) {
  return Json::object(
      {{"model", to_json(options.model)},
       {"training", to_json(options)},
       {"text", Json::object({{"training_text", fingerprint(text)}, {"validation_text", fingerprint(validation)}})}});
}

}  // namespace

Vocabularies prepare_vocabularies(const TrainingFolder& folder, const TrainOptions& options, const Sides& text,
                                  const Sides& validation, TrainingMonitor& monitor) {
  const Json description = run_description(options, text, validation);
  Vocabularies made;
  if (folder.holds_run()) {
    folder.check_same_run(description);
    load_vocabularies(folder.path(), made.source, made.target);
    return made;
  }
  if (options.shared_vocabulary || text.size() == 1) {
    std::vector<std::string> lines;
    for (const std::span<const std::string> side : text) lines.insert(lines.end(), side.begin(), side.end());
    made.source = made.target = learn_vocabulary(options, lines, monitor);
  } else {
    made.source = learn_vocabulary(options, text.front(), monitor);
    made.target = learn_vocabulary(options, text.back(), monitor);
  }
  folder.begin(description);
  save_vocabularies(folder.path(), *made.source, *made.target);
  return made;
}

}  // namespace heed
