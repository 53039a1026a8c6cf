// heed corpus
#include <fmt/core.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "commands.h"
#include "heed/base/check.h"
#include "heed/base/file.h"
#include "heed/corpus/corpus.h"
#include "heed/tasks/picture_corpus.h"
#include "numbers.h"
#include "output.h"
#include "output_files.h"
#include "progress_line.h"

namespace heed::cli {
namespace {

struct CorpusCommand {
  std::string kind = "sentences", folder;
  CorpusOptions options;
  std::optional<Index> pairs;
};

// A folder with files of both kinds is neither.
void refuse_other_corpus(const std::filesystem::path& folder, const char* file, const char* kind) {
  HEED_CHECK(!file_exists(folder / file), "{}: is of a corpus of {}: name another folder", (folder / file).string(),
             kind);
}

void write_pictures(const CorpusCommand& command) {
  PictureCorpusOptions options{
      .seed = command.options.seed, .validation = command.options.validation, .test = command.options.test};
  options.pictures = command.pairs.value_or(options.pictures);
  std::vector<OptionFile> outputs;
  for (const std::filesystem::path& file : picture_corpus_files(options, command.folder)) {
    outputs.push_back({"--out", file});
  }
  check_outputs(outputs, {});
  refuse_other_corpus(command.folder, "train.align", "sentences");
  ProgressLine progress("pictures", options.pictures + options.validation + options.test);
  write_picture_corpus(options, command.folder, progress.listener());
  print_line(
      fmt::format("{}: {} pictures to train on, {} for validation, {} for testing, with captions in English, "
                  "German and Chinese",
                  shown(command.folder), options.pictures, options.validation, options.test));
}

void write_sentences(const CorpusCommand& command) {
  CorpusOptions options = command.options;
  options.pairs = command.pairs.value_or(options.pairs);
  std::vector<OptionFile> outputs;
  for (const std::filesystem::path& file : corpus_files(command.folder)) outputs.push_back({"--out", file});
  check_outputs(outputs, {});
  refuse_other_corpus(command.folder, "train.images", "pictures");
  ProgressLine progress("sentence pairs", options.pairs + options.validation + options.test);
  const Corpus corpus = generate_corpus(options, progress.listener());
  write_corpus(corpus, command.folder);
  print_line(fmt::format("{}: {} training pairs, {} for validation, {} for testing, with gold alignments",
                         shown(command.folder), corpus.train.size(), corpus.validation.size(), corpus.test.size()));
}

}  // namespace

void add_corpus_command(CLI::App& app) {
  CLI::App* sub = app.add_subcommand(
      "corpus",
      "Write a corpus, made by a grammar so that no download is needed: German and English sentences with gold word "
      "alignments, or pictures with captions.");
  auto command = std::make_shared<CorpusCommand>();
  CorpusOptions& options = command->options;
  sub->add_option("--kind", command->kind,
                  "sentences; or pictures: scenes of coloured shapes, with captions in English, German and Chinese and "
                  "the place of what each word names.")
      ->check(CLI::IsMember({"sentences", "pictures"}))
      ->capture_default_str();
  sub->add_option("--out", command->folder,
                  "Folder for train, valid and test: of sentences .de, .en and .align (i-j, counted from 0) of each; "
                  "of pictures .images, .en, .de, .zh and their .places.")
      ->required();
  constexpr NumberRange kPairs = NumberRange::from(0, static_cast<double>(kMostPairs));
  add_number(*sub, "--pairs", command->pairs, "Sentence pairs, or pictures, to train on.", kPairs)
      ->default_str("50000, or 20000 pictures");
  add_number(*sub, "--validation", options.validation, "Pairs or pictures for validation.", kPairs);
  add_number(*sub, "--test", options.test, "Pairs or pictures for testing.", kPairs);
  add_number(*sub, "--seed", options.seed, "The same seed gives the same corpus.", NumberRange::at_least(0));
  sub->footer("Examples:\n  heed corpus --pairs 50000 --seed 1 --out data\n  heed corpus --kind pictures --out scenes");
  sub->callback([command] { command->kind == "pictures" ? write_pictures(*command) : write_sentences(*command); });
}

}  // namespace heed::cli
