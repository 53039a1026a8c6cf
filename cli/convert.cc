// heed convert
#include <atomic>
#include <csignal>
#include <memory>
#include <string>

#include "commands.h"
#include "field_options.h"
#include "heed/tasks/convert.h"
#include "language_options.h"
#include "output.h"

namespace heed::cli {
namespace {

struct ConvertCommand {
  std::string model, out;
  Languages languages;
  FieldOptions given;
};

std::atomic<int> g_asked_to_stop{0};

// A second signal ends the command at once, and what it has written stays beside --out until it is run again.
extern "C" void note(int signal) {
  g_asked_to_stop.store(signal);
  std::signal(signal, SIG_DFL);
}

void stop_where_interrupted(Index) {
  const int signal = g_asked_to_stop.load();
  if (signal == 0) return;
  print_message("interrupted: nothing is written");
  throw Interrupted{signal};
}

void run(const ConvertCommand& command) {
  ConvertOptions options{.languages = command.languages};
  command.given.apply(options);
  for (int signal : {SIGINT, SIGTERM}) std::signal(signal, note);
  convert_model(command.model, options, command.out, stop_where_interrupted);
}

}  // namespace

void add_convert_command(CLI::App& app) {
  CLI::App* sub = app.add_subcommand(
      "convert", "Write any model as a folder of heed's own, with its weights in f32 or a smaller type.");
  auto command = std::make_shared<ConvertCommand>();
  sub->add_option("model", command->model, "The model's folder, heed's own or another toolkit's, or its file.")
      ->required();
  command->given.add(*sub, ConvertOptions{}, "Weights");
  add_languages(*sub, command->languages);
  sub->add_option("--out", command->out, "The new model's folder, which must not be there yet.")->required();
  sub->footer(
      "Every command takes the new model as it takes the old one (train with --from). Norms, biases and other\n"
      "small vectors stay f32. From a small type a model can be made f32 again, which gives the\n"
      "answers of that type, and not another small one.\n"
      "Another toolkit's model becomes one of heed's own, which gives the same answers in f32.\n"
      "Example:\n  heed convert model --type int8 --out model-int8\n  heed convert gpt2 --type f32 --out model");
  sub->callback([command] { run(*command); });
}

}  // namespace heed::cli
