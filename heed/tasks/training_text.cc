#include "heed/tasks/training_text.h"

#include <algorithm>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "heed/base/check.h"
#include "heed/base/file.h"
#include "heed/io/fields.h"
#include "heed/tasks/model_folder.h"
#include "heed/text/sentencepiece_vocabulary.h"
#include "heed/text/whitespace_vocabulary.h"

namespace heed {
namespace {

std::shared_ptr<const Vocabulary> learn_vocabulary(const TrainOptions& options, std::span<const std::string> lines) {
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

// Throws unless the run that `file` describes is the one described by `now`, naming the first difference.
void check_same_run(const std::filesystem::path& file, const Json& now) {
  const Json before = read_json(file);
  if (before == now) return;
  const auto compare = [&](const Json& a, const Json& b) {
    for (const auto& [name, value] : b.members()) {
      HEED_CHECK(a.has(name) && a[name] == value,
                 "{}: this run was started with {} {}, not {}: continue it with that, or train into another folder",
                 file.string(), name, a.has(name) ? a[name].dump() : "unset", value.dump());
    }
  };
  compare(before["training"], now["training"]);
  HEED_CHECK(before["model"]["model"] == now["model"]["model"], "{}: this run trains a {}, not a {}", file.string(),
             before["model"]["model"].dump(), now["model"]["model"].dump());
  compare(before["model"]["config"], now["model"]["config"]);
  compare(before["text"], now["text"]);
  fail("{}: this run was started with other options", file.string());
}

void prepare_vocabularies(TrainingText& result, const std::filesystem::path& folder, const TrainOptions& options,
                          const ParallelCorpus& text) {
  const std::filesystem::path file = folder / "training" / "options.json";
  const Json description = run_description(options, text, result.validation);
  const std::filesystem::path state = folder / "training" / "state.safetensors";
  HEED_CHECK(file_exists(state) || !file_exists(folder / "model.safetensors"),
             "{}: holds a model already, and no training run that could be continued", folder.string());
  make_folder(folder / "training");
  result.lock = std::make_unique<FileLock>(folder / "training" / "lock");
  if (file_exists(state)) {
    check_same_run(file, description);
    load_vocabularies(folder, result.source_vocabulary, result.target_vocabulary);
    return;
  }
  if (options.shared_vocabulary) {
    std::vector<std::string> lines = text.source;
    lines.insert(lines.end(), text.target.begin(), text.target.end());
    result.source_vocabulary = result.target_vocabulary = learn_vocabulary(options, lines);
  } else {
    result.source_vocabulary = learn_vocabulary(options, text.source);
    result.target_vocabulary = learn_vocabulary(options, text.target);
  }
  save_vocabularies(folder, *result.source_vocabulary, *result.target_vocabulary);
  write_json(file, description);
}

}  // namespace

TrainingText prepare_training_text(const TrainPaths& paths, const TrainOptions& options) {
  const ParallelCorpus text = read_parallel_corpus(paths.source, paths.target);
  TrainingText result;
  result.validation = read_parallel_corpus(paths.valid_source, paths.valid_target);
  const std::size_t kept =
      std::min(result.validation.source.size(), static_cast<std::size_t>(options.validation_sentences));
  result.validation.source.resize(kept);
  result.validation.target.resize(kept);
  prepare_vocabularies(result, paths.folder, options, text);
  const Index longest = std::min(options.max_tokens, options.model.max_length() - 1);
  result.corpus = encode_corpus(text, *result.source_vocabulary, *result.target_vocabulary, longest);
  result.encoded_validation =
      encode_corpus(result.validation, *result.source_vocabulary, *result.target_vocabulary, longest);
  result.dropped_empty = text.dropped_empty + result.corpus.dropped_empty;
  return result;
}

}  // namespace heed
