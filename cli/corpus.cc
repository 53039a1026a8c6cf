// heed corpus
#include <fmt/core.h>

#include <memory>
#include <string>

#include "commands.h"
#include "heed/corpus/corpus.h"
#include "numbers.h"
#include "output.h"
#include "output_files.h"

namespace heed::cli {
namespace {

struct CorpusCommand {
  CorpusOptions options;
  std::string folder;
};

void run(const CorpusCommand& command) {
  std::vector<OptionFile> outputs;
  for (const std::filesystem::path& file : corpus_files(command.folder)) outputs.push_back({"--out", file});
  check_outputs(outputs, {});
  const Corpus corpus = generate_corpus(command.options);
  write_corpus(corpus, command.folder);
  print_line(fmt::format("{}: {} training pairs, {} for validation, {} for testing, with gold alignments",
                         shown(command.folder), corpus.train.size(), corpus.validation.size(), corpus.test.size()));
}

}  // namespace

void add_corpus_command(CLI::App& app) {
  CLI::App* sub = app.add_subcommand(
      "corpus", "Write a German-English corpus with gold word alignments, made by a grammar: no download is needed.");
  auto command = std::make_shared<CorpusCommand>();
  CorpusOptions& options = command->options;
  sub->add_option("--out", command->folder,
                  "Folder for train, valid and test: .de, .en and .align (i-j, counted from 0) of each.")
      ->required();
  constexpr NumberRange kPairs = NumberRange::from(0, static_cast<double>(kMostPairs));
  add_number(*sub, "--pairs", options.pairs, "Sentence pairs to train on.", kPairs);
  add_number(*sub, "--validation", options.validation, "Pairs for validation.", kPairs);
  add_number(*sub, "--test", options.test, "Pairs for testing.", kPairs);
  add_number(*sub, "--seed", options.seed, "The same seed gives the same corpus.", NumberRange::at_least(0));
  sub->footer("Example:\n  heed corpus --pairs 50000 --seed 1 --out data");
  sub->callback([command] { run(*command); });
}

}  // namespace heed::cli
