#include "heed/tasks/training_text.h"

#include <algorithm>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "heed/base/check.h"
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
std::string fingerprint(const ParallelCorpus& text) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  const auto add = [&](unsigned char byte) { hash = (hash ^ byte) * 0x100000001b3u; };
  for (const std::vector<std::string>* side : {&text.source, &text.target}) {
    for (const std::string& line : *side) {
      for (char c : line) add(static_cast<unsigned char>(c));
      add('\n');
    }
  }
  return fmt::format("{} pairs, {:016x}", text.size(), hash);
}

Json run_description(const TrainOptions& options, const ParallelCorpus& text, const ParallelCorpus& validation) {
  return Json::object(
      {{"model", to_json(options.model)},
       {"training", to_json(options)},
       {"text", Json::object({{"training_text", fingerprint(text)}, {"validation_text", fingerprint(validation)}})}});
}

void prepare_vocabularies(TrainingText& result, const TrainOptions& options, const ParallelCorpus& text,
                          TrainingMonitor& monitor) {
  const TrainingFolder& folder = *result.folder;
  const Json description = run_description(options, text, result.validation);
  if (folder.holds_run()) {
    folder.check_same_run(description);
    load_vocabularies(folder.path(), result.source_vocabulary, result.target_vocabulary);
    return;
  }
  if (options.shared_vocabulary) {
    std::vector<std::string> lines = text.source;
    lines.insert(lines.end(), text.target.begin(), text.target.end());
    result.source_vocabulary = result.target_vocabulary = learn_vocabulary(options, lines, monitor);
  } else {
    result.source_vocabulary = learn_vocabulary(options, text.source, monitor);
    result.target_vocabulary = learn_vocabulary(options, text.target, monitor);
  }
  folder.begin(description);
  save_vocabularies(folder.path(), *result.source_vocabulary, *result.target_vocabulary);
}

}  // namespace

TrainingText prepare_training_text(const TrainPaths& paths, const TrainOptions& options, TrainingMonitor& monitor) {
  const ParallelCorpus text = read_parallel_corpus(paths.source, paths.target);
  TrainingText result;
  result.validation = read_parallel_corpus(paths.valid_source, paths.valid_target);
  const std::size_t kept =
      std::min(result.validation.source.size(), static_cast<std::size_t>(options.validation_sentences));
  result.validation.source.resize(kept);
  result.validation.target.resize(kept);
  result.folder = std::make_unique<TrainingFolder>(paths.folder);
  prepare_vocabularies(result, options, text, monitor);
  const Index longest = std::min(options.max_tokens, options.model.max_length() - 1);
  result.corpus = encode_corpus(text, *result.source_vocabulary, *result.target_vocabulary, longest);
  result.encoded_validation =
      encode_corpus(result.validation, *result.source_vocabulary, *result.target_vocabulary, longest);
  result.dropped_empty = text.dropped_empty + result.corpus.dropped_empty;
  return result;
}

}  // namespace heed
