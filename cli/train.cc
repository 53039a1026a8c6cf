// heed train
#include <atomic>
#include <csignal>
#include <memory>

#include <fmt/format.h>

#include "commands.h"
#include "field_options.h"
#include "heed/tasks/train.h"
#include "output.h"
#include "training_display.h"

namespace heed::cli {
namespace {

std::atomic<bool> g_interrupted{false};

extern "C" void interrupt(int) { g_interrupted.store(true); }

struct TrainCommand {
  TrainPaths paths;
  FieldOptions given;
  std::string preset = "small";
};

// Shapes that are known to train well; every other option can still be given.
void apply_preset(TrainOptions& options, const std::string& preset) {
  TransformerConfig& t = options.model.transformer;
  if (preset == "tiny") {
    t.width = 128, t.hidden = 256, t.heads = 4, t.encoder_layers = 2, t.decoder_layers = 2;
  } else if (preset == "small") {
    t.width = 128, t.hidden = 256, t.heads = 4, t.encoder_layers = 4, t.decoder_layers = 4;
  } else if (preset == "base") {
    t.width = 512, t.hidden = 2048, t.heads = 8, t.encoder_layers = 6, t.decoder_layers = 6;
    options.rate = 0.0007, options.warmup = 4000, options.vocabulary_size = 16000;
  }
}

std::string_view reason(TrainingResult::Stop stop) {
  switch (stop) {
    case TrainingResult::Stop::max_updates: return "the limit of updates";
    case TrainingResult::Stop::max_epochs: return "the limit of epochs";
    case TrainingResult::Stop::max_minutes: return "the limit of minutes";
    case TrainingResult::Stop::patience: return "no better validation for a while";
    case TrainingResult::Stop::interrupted: return "interrupted; the same command goes on from here";
    case TrainingResult::Stop::finished_before: return "it had reached its limit before";
  }
  return "";
}

void run(const TrainCommand& command) {
  TrainOptions options;
  TrainLimits limits;
  apply_preset(options, command.preset);
  command.given.apply(options);
  command.given.apply(limits);
  command.given.apply(options.model.transformer);
  std::signal(SIGINT, interrupt);
  std::signal(SIGTERM, interrupt);
  TrainingDisplay display;
  const TrainingResult result = train(command.paths, options, limits, display, g_interrupted);
  display.finish();
  print_line(fmt::format("stopped: {}", reason(result.stop)));
  if (result.stop == TrainingResult::Stop::interrupted) return;
  print_line(fmt::format("{} updates, {} whole epochs, {:.1f} minutes, {:.0f} target tokens a second", result.updates, result.epochs,
                         result.seconds / 60, result.target_tokens_per_second));
  print_line(fmt::format("validation BLEU of the model (mean of the last checkpoints): {:.2f}", result.bleu));
  print_line(fmt::format("model: {}", command.paths.folder));
}

}  // namespace

void add_train_command(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("train", "Train a translation model from two text files whose lines correspond.");
  auto command = std::make_shared<TrainCommand>();
  sub->add_option("--source", command->paths.source, "Training text to translate from.")->required();
  sub->add_option("--target", command->paths.target, "Training text to translate into.")->required();
  sub->add_option("--valid-source", command->paths.valid_source, "Validation text.")->required();
  sub->add_option("--valid-target", command->paths.valid_target, "Its translation.")->required();
  sub->add_option("--out", command->paths.folder, "The model's folder. One that holds an unfinished run is continued.")->required();
  sub->add_option("--preset", command->preset, "Shape of the Transformer: tiny, small or base; other options are put over it.")
      ->check(CLI::IsMember({"tiny", "small", "base"}))
      ->capture_default_str();
  TrainOptions defaults;
  apply_preset(defaults, command->preset);
  command->given.add(*sub, TrainLimits{}, "When to stop");
  command->given.add(*sub, defaults, "Training");
  command->given.add(*sub, defaults.model.transformer, "Transformer", {"source_vocabulary", "target_vocabulary"});
  sub->footer("Example:\n  heed train --source train.de --target train.en --valid-source valid.de --valid-target valid.en \\\n"
              "    --out model --max-minutes 15\nCtrl-C saves and stops; the same command goes on.");
  sub->callback([command] { run(*command); });
}

}  // namespace heed::cli
