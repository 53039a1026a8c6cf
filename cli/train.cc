// heed train
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <memory>
#include <string_view>
#include <system_error>

#include <fmt/core.h>

#include "commands.h"
#include "field_options.h"
#include "heed/base/check.h"
#include "heed/base/file.h"
#include "heed/tasks/train.h"
#include "heed/tasks/train_presets.h"
#include "output.h"
#include "training_display.h"

namespace heed::cli {
namespace {

std::atomic<bool> g_interrupted{false};
std::atomic<int> g_signal{0};

// While text is read and a vocabulary is learned there is nothing to save.
extern "C" void leave(int signal) {
  constexpr std::string_view kWord = "heed: interrupted before training began\n";
  static_cast<void>(!::write(STDERR_FILENO, kWord.data(), kWord.size()));
  ::_exit(128 + signal);
}

// The first signal asks the run to save and stop; a second one ends it at once, which loses nothing that was saved.
extern "C" void interrupt(int signal) {
  constexpr std::string_view kWord = "\nheed: interrupted: saving after this update; a second time stops at once\n";
  static_cast<void>(!::write(STDERR_FILENO, kWord.data(), kWord.size()));
  g_signal.store(signal);
  g_interrupted.store(true);
  std::signal(signal, SIG_DFL);
}

class InterruptibleDisplay : public TrainingDisplay {
 public:
  explicit InterruptibleDisplay(Task task) : TrainingDisplay(task) { answer_signals_with(leave); }
  void on_start(const CorpusReport& report) override {
    answer_signals_with(interrupt);
    TrainingDisplay::on_start(report);
  }

 private:
  static void answer_signals_with(void (*answer)(int)) {
    std::signal(SIGINT, answer);
    std::signal(SIGTERM, answer);
  }
};

struct TrainCommand {
  TrainPaths paths;
  FieldOptions given;
  std::string model = "transformer";
  std::string preset = "small";
};

// Fields that no option sets: the vocabularies come from the text, --model is the style, and what learns to predict has
// an output, and padding of heed's own.
const std::vector<std::string_view> kNoOption{"source_vocabulary", "target_vocabulary", "style", "has_output",
                                              "padding_token"};

// What a model that is gone on from leaves to options, and what is learned from the text where there is none.
struct DropoutRates {
  double dropout = 0, attention_dropout = 0, activation_dropout = 0;

  template <typename V>
  friend void visit_fields(DropoutRates& r, V&& visit) {
    visit("dropout", r.dropout, "");
    visit("attention_dropout", r.attention_dropout, "");
    visit("activation_dropout", r.activation_dropout, "");
  }
};
struct LearnedVocabulary {
  TokenizerKind tokenizer = TokenizerKind::bpe;
  Index vocabulary_size = 0;
  bool shared_vocabulary = true;

  template <typename V>
  friend void visit_fields(LearnedVocabulary& v, V&& visit) {
    visit("tokenizer", v.tokenizer, "");
    visit("vocabulary_size", v.vocabulary_size, "");
    visit("shared_vocabulary", v.shared_vocabulary, "");
  }
};

// What low-rank factors alone have.
struct OfFactors {
  double alpha = 0;
  std::string targets;

  template <typename V>
  friend void visit_fields(OfFactors& o, V&& visit) {
    visit("lora_alpha", o.alpha, "");
    visit("lora_targets", o.targets, "");
  }
};

// What runs on pictures alone have.
struct OfPictures {
  Index patch = 8;

  template <typename V>
  friend void visit_fields(OfPictures& o, V&& visit) {
    visit("patch", o.patch, "");
  }
};

// The options of a run that goes on from a model, which has its own shape and vocabulary.
TrainOptions options_from_model(const TrainCommand& command) {
  const FieldOptions& given = command.given;
  TrainOptions options;
  given.refuse_fields_of(DropoutRates(), options.model.transformer, "a run with --from");
  given.refuse_fields_of(DropoutRates(), options.model.rnn, "a run with --from");
  given.refuse_fields_of(DropoutRates(), LearnedVocabulary(), "a run with --from");
  given.apply(options.low_rank);
  if (options.low_rank.rank == 0) given.refuse_fields_of(DropoutRates(), OfFactors(), "a run without --lora");
  apply_fine_tuning(options);
  options.task = command.paths.text.empty() ? Task::translation : Task::language_model;
  given.apply(options);
  given.apply(options.model.transformer);
  given.apply(options.model.rnn);
  return options;
}

// Puts what was given over the defaults of the model that was chosen, and refuses what only another model has.
void apply_model(ModelConfig& model, const TrainCommand& command) {
  const FieldOptions& given = command.given;
  const std::string chosen = "--model " + command.model;
  if (model.kind == ModelKind::transformer) {
    given.refuse_fields_of(model.transformer, model.rnn, chosen);
    given.apply(model.transformer);
    return;
  }
  given.refuse_fields_of(model.rnn, model.transformer, chosen);
  given.apply(model.rnn);
  if (model.rnn.style == RnnStyle::bahdanau && model.rnn.input_feeding) {
    throw CLI::ValidationError("--input-feeding", "is not an option of " + chosen);
  }
}

std::string_view reason(TrainingStop stop) {
  switch (stop) {
    case TrainingStop::max_updates:
      return "the limit of updates";
    case TrainingStop::max_epochs:
      return "the limit of epochs";
    case TrainingStop::max_minutes:
      return "the limit of minutes";
    case TrainingStop::patience:
      return "no better validation for a while";
    case TrainingStop::interrupted:
      return "interrupted; the same command goes on from here";
    case TrainingStop::finished_before:
      return "it had reached its limit before";
  }
  return "";
}

double bytes_in(const std::filesystem::path& folder) {
  double bytes = 0;
  for (const std::filesystem::path& file : files_in(folder)) {
    std::error_code error;
    const std::uintmax_t size = std::filesystem::file_size(file, error);
    if (error == std::errc::no_such_file_or_directory) continue;
    HEED_CHECK(!error, "{}: cannot look at it: {}", file.string(), error.message());
    bytes += static_cast<double>(size);
  }
  return bytes;
}

// Each task reads its own files.
void check_paths(const TrainCommand& command, Task task) {
  const TrainPaths& p = command.paths;
  const std::pair<const char*, const std::string*> pairs[] = {{"--source", &p.source},
                                                              {"--target", &p.target},
                                                              {"--valid-source", &p.valid_source},
                                                              {"--valid-target", &p.valid_target}};
  const std::pair<const char*, const std::string*> documents[] = {{"--train", &p.text}, {"--valid", &p.valid}};
  const std::string chosen = "--task " + std::string(enum_name(task));
  const auto require = [&](const auto& needed, const auto& others) {
    for (const auto& [name, path] : needed) {
      if (path->empty()) throw CLI::RequiredError(name);
    }
    for (const auto& [name, path] : others) {
      if (!path->empty()) throw CLI::ValidationError(name, "is not an option of " + chosen);
    }
  };
  task == Task::language_model ? require(documents, pairs) : require(pairs, documents);
  if (task != Task::translation && command.model != "transformer") {
    throw CLI::ValidationError("--model", "must be transformer with " + chosen);
  }
}

TrainOptions options_of_new_model(const TrainCommand& command) {
  TrainOptions options;
  choose_model(options.model, command.model);
  command.given.apply(options);  // the preset asks for the task
  apply_preset(options, command.preset);
  command.given.refuse_fields_of(TrainOptions(), LowRankOptions(), "a run without --from");
  command.given.apply(options);
  if (options.task == Task::language_model) options.model.transformer.encoder_layers = 0;
  apply_model(options.model, command);
  return options;
}

void run(const TrainCommand& command) {
  const TrainOptions options = command.paths.from.empty() ? options_of_new_model(command) : options_from_model(command);
  TrainLimits limits;
  command.given.apply(limits);
  check_paths(command, options.task);
  if (options.task != Task::caption) {
    command.given.refuse_fields_of(DropoutRates(), OfPictures(), fmt::format("--task {}", enum_name(options.task)));
  }
  InterruptibleDisplay display(options.task);
  const TrainingResult result = train(command.paths, options, limits, display, g_interrupted);
  print_line(fmt::format("stopped: {}", reason(result.stop)));
  if (result.stop == TrainingStop::interrupted) throw Interrupted{g_signal.load()};
  print_line(fmt::format("{} updates, {} whole epochs, {:.1f} minutes, {:.0f} target tokens a second", result.updates,
                         result.epochs, result.seconds / 60, result.target_tokens_per_second));
  print_line(fmt::format("the model is {}: validation {}", describe(result.model),
                         quality(options.task, result.model.bleu, result.model.loss)));
  print_line(fmt::format("model: {}", command.paths.folder));
  const std::filesystem::path training = std::filesystem::path(command.paths.folder) / "training";
  print_line(fmt::format("{} ({:.1f} MB) is only for going on with this run: delete it when you are done",
                         training.string(), bytes_in(training) / 1e6));
}

}  // namespace

void add_train_command(CLI::App& app) {
  CLI::App* sub = app.add_subcommand(
      "train",
      "Train a model that translates, from two text files whose lines correspond, one that continues text, or one that "
      "tells what pictures show.");
  auto command = std::make_shared<TrainCommand>();
  sub->add_option("--source", command->paths.source,
                  "Training text to translate from; with --task caption a list of pictures.");
  sub->add_option("--target", command->paths.target, "Training text to translate into; the pictures' captions.");
  sub->add_option("--valid-source", command->paths.valid_source, "Validation text, or pictures.");
  sub->add_option("--valid-target", command->paths.valid_target, "Its translation, or their captions.");
  sub->add_option("--train", command->paths.text, "With --task language-model: training text, one document a line.");
  sub->add_option("--valid", command->paths.valid, "With --task language-model: validation text.");
  sub->add_option("--out", command->paths.folder, "The model's folder. One that holds an unfinished run is continued.")
      ->required();
  CLI::Option* from = sub->add_option(
      "--from", command->paths.from,
      "A model to go on from, heed's own or another toolkit's, with its vocabulary; the task is the model's.");
  sub->add_option(
         "--model", command->model,
         "transformer; or a recurrent network with attention: bahdanau (GRU, additive score) or luong (LSTM, general "
         "score, input feeding).")
      ->check(CLI::IsMember({"transformer", "bahdanau", "luong"}))
      ->excludes(from)
      ->capture_default_str();
  sub->add_option("--preset", command->preset,
                  "Shape of the model: tiny, small or base; other options are put over it.")
      ->check(CLI::IsMember({"tiny", "small", "base"}))
      ->excludes(from)
      ->capture_default_str();
  TrainOptions defaults;
  apply_preset(defaults, command->preset);
  command->given.add(*sub, TrainLimits{}, "When to stop");
  command->given.add(*sub, defaults, "Training");
  command->given.add(*sub, defaults.low_rank,
                     "Going on from a model (--from), where --rate is 0.0003 (with --lora 0.001), --warmup 50 and "
                     "--label-smoothing 0");
  command->given.add(*sub, defaults.model.transformer, "Transformer", kNoOption);
  command->given.add(
      *sub, defaults.model.rnn,
      "Recurrent models, which also have the Transformer's options of encoder_layers, decoder_layers (1 each), "
      "max_length, share_embeddings, tie_output and dropout (0.2)",
      kNoOption);
  sub->footer(
      "Example:\n  heed train --source train.de --target train.en --valid-source valid.de --valid-target valid.en \\\n"
      "    --out model --max-minutes 15\n"
      "  heed train --task language-model --train train.txt --valid valid.txt --out model --max-minutes 15\n"
      "  heed train --task caption --source train.images --target train.en --valid-source valid.images \\\n"
      "    --valid-target valid.en --out model --max-minutes 5\n"
      "  heed train --from gpt2 --lora 8 --train train.txt --valid valid.txt --out adapter --max-minutes 15\nCtrl-C "
      "saves and stops; the same command goes on.");
  sub->callback([command] { run(*command); });
}

}  // namespace heed::cli
