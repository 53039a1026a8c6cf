// heed generate
#include <fmt/core.h>

#include <memory>
#include <string>
#include <vector>

#include "commands.h"
#include "field_options.h"
#include "heed/base/check.h"
#include "heed/base/text_lines.h"
#include "heed/base/utf8.h"
#include "heed/io/json.h"
#include "heed/tasks/chat.h"
#include "heed/tasks/generate.h"
#include "numbers.h"
#include "output.h"
#include "progress_line.h"

namespace heed::cli {
namespace {

struct GenerateCommand {
  std::string model, prompt, input, system;
  std::vector<std::string> stop;
  Index max_tokens = 100, samples = 1;
  FieldOptions sampling, decoding;
  bool json = false, chat = false;
};

// Prints a text as it grows. What may still change, a character of which a part is missing, waits.
class Stream {
 public:
  void show(const GeneratedPart& part) {
    constexpr std::string_view kNotWhole = "\xEF\xBF\xBD";
    const std::string_view text = part.text;
    if (!part.ended && text.ends_with(kNotWhole)) return;
    if (text.starts_with(printed_)) {
      print(text.substr(printed_.size()));
      printed_ = text;
    }
    if (part.ended) print("\n");
  }

 private:
  std::string printed_;
};

Json to_json(const Generated& generated, const Vocabulary& vocabulary, std::size_t line) {
  std::vector<std::string> pieces;
  for (std::int32_t id : generated.tokens) pieces.push_back(vocabulary.piece(id));
  return Json::object({{"line", static_cast<Index>(line)},
                       {"text", generated.text},
                       {"tokens", Json::array_of(pieces)},
                       {"token_scores", Json::array_of(generated.token_scores)}});
}

void run(const GenerateCommand& command) {
  if (!command.prompt.empty() && !command.input.empty()) {
    throw CLI::ValidationError("--prompt", "and --input cannot both be given");
  }
  if (!command.chat && !command.system.empty()) throw CLI::ValidationError("--system", "goes with --chat");
  GenerateOptions options{.max_tokens = command.max_tokens, .stop = StopTexts(command.stop)};
  command.sampling.apply(options.sampling);  // what is wrong without a model is said before one is opened
  command.decoding.apply(options);
  if (command.chat) options.chat = chat_template_of(command.model), options.system = command.system;
  for (const auto& [option, text] : {std::pair("--prompt", &command.prompt), std::pair("--system", &command.system)}) {
    Index at = 0;
    HEED_CHECK(valid_utf8(*text, &at), "{}: byte {} is not valid UTF-8", option, at + 1);
  }
  const ModelFolder folder = load_model_folder(command.model);
  options.sampling = folder.decoding.sampling;
  command.sampling.apply(options.sampling);
  std::vector<std::string> given{command.prompt};
  if (!command.input.empty()) given = read_text_lines(command.input);
  std::vector<std::string> prompts;
  for (const std::string& prompt : given)
    prompts.insert(prompts.end(), static_cast<std::size_t>(command.samples), prompt);
  const std::string name = command.input.empty() ? "--prompt" : text_name(command.input) + ": line";
  Stream stream;
  const bool streams = prompts.size() == 1 && !command.json;
  ProgressLine progress("texts", std::ssize(prompts));
  Index done = 0;
  const auto on_part = [&](const GeneratedPart& part) {
    if (streams) return stream.show(part);
    done += part.ended ? 1 : 0;
    progress.show(done);
  };
  const std::vector<Generated> all = generate(folder, prompts, options, on_part, name);
  for (std::size_t i = 0; i < all.size() && !streams; ++i) {
    const std::size_t line = i / static_cast<std::size_t>(command.samples) + 1;
    print_line(command.json ? to_json(all[i], *folder.target_vocabulary, line).dump() : all[i].text);
  }
}

}  // namespace

void add_generate_command(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("generate", "Continue text with a language model, as it comes.");
  auto command = std::make_shared<GenerateCommand>();
  sub->add_option("model", command->model, "The model's folder.")->required();
  sub->add_option("--prompt", command->prompt, "What the text begins with; nothing: the model begins it.");
  sub->add_option("--input", command->input, "Prompts, one a line; - is standard input. One line is printed for each.");
  sub->add_flag("--chat", command->chat,
                "Prompts are what a user says, and what is printed is the answer, by the template that came with the "
                "model.");
  sub->add_option("--system", command->system, "With --chat: what the model is told before.");
  add_number(*sub, "--max-tokens", command->max_tokens, "Tokens of a continuation, at most.", NumberRange::at_least(1));
  sub->add_option("--stop", command->stop,
                  "A text at which the continuation ends, without it; may be given several times.")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->type_name("TEXT");
  add_number(*sub, "--samples", command->samples, "Continuations of each prompt.", NumberRange::from(1, 1 << 20));
  command->sampling.add(*sub, SamplingOptions{}, "Sampling");
  command->decoding.add(*sub, GenerateOptions{}, "Memory");
  sub->add_flag("--json", command->json, "Print one JSON object a continuation, with the score of every token.");
  sub->footer(
      "Example:\n  heed generate model --prompt 'The man' --temperature 0.8 --top-p 0.95\n"
      "The same seed gives the same text, whatever else is generated beside it.\n"
      "What a folder of others says of decoding (generation_config.json) is the default of the sampling.");
  sub->callback([command] { run(*command); });
}

}  // namespace heed::cli
