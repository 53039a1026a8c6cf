// heed generate
#include <fmt/core.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "commands.h"
#include "conversation.h"
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
#include "text_stream.h"

namespace heed::cli {
namespace {

struct GenerateCommand {
  std::string model, prompt, input, system, today, names;
  std::vector<std::string> stop;
  Index max_tokens = 100, samples = 1;
  FieldOptions sampling, decoding;
  bool json = false, chat = false;

  // The user says what standard input says.
  bool converses() const { return chat && prompt.empty() && input.empty(); }
};

Json to_json(const Generated& generated, const Vocabulary& vocabulary, std::size_t line) {
  std::vector<std::string> pieces;
  for (std::int32_t id : generated.tokens) pieces.push_back(vocabulary.piece(id));
  return Json::object({{"line", static_cast<Index>(line)},
                       {"text", generated.text},
                       {"tokens", Json::array_of(pieces)},
                       {"token_scores", Json::array_of(generated.token_scores)}});
}

std::chrono::year_month_day day_of(const std::string& text) {
  int year = 0, month = 0, day = 0;
  char rest = 0;
  const bool is_date = text.size() == 10 && std::sscanf(text.c_str(), "%4d-%2d-%2d%c", &year, &month, &day, &rest) == 3;
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!is_date || !date.ok()) throw CLI::ValidationError("--today", "is no date such as 2026-11-29: " + shown(text));
  return date;
}

ChatSetting setting_of(const GenerateCommand& command) {
  ChatSetting setting;
  if (!command.today.empty()) setting.today = day_of(command.today);
  if (!command.names.empty()) setting.names = Json::parse(command.names, "--names");
  return setting;
}

void check_together(const GenerateCommand& command) {
  if (!command.prompt.empty() && !command.input.empty()) {
    throw CLI::ValidationError("--prompt", "and --input cannot both be given");
  }
  for (const auto& [option, text] :
       {std::pair("--system", &command.system), {"--today", &command.today}, {"--names", &command.names}}) {
    if (!command.chat && !text->empty()) throw CLI::ValidationError(option, "goes with --chat");
  }
  if (command.converses() && command.samples > 1) {
    throw CLI::ValidationError("--samples", "goes with --prompt or --input: a conversation has one answer a turn");
  }
}

void run(const GenerateCommand& command) {
  check_together(command);
  GenerateOptions options{.max_tokens = command.max_tokens, .stop = StopTexts(command.stop)};
  command.sampling.apply(options.sampling);  // what is wrong without a model is said before one is opened
  command.decoding.apply(options);
  const ChatSetting setting = setting_of(command);
  std::optional<ChatTemplate> chat;
  if (command.chat) chat = chat_template_of(command.model);
  for (const auto& [option, text] : {std::pair("--prompt", &command.prompt), std::pair("--system", &command.system)}) {
    Index at = 0;
    HEED_CHECK(valid_utf8(*text, &at), "{}: byte {} is not valid UTF-8", option, at + 1);
  }
  const ModelFolder folder = load_model_folder(command.model);
  options.sampling = folder.decoding.sampling;
  command.sampling.apply(options.sampling);
  const auto print_json = [&](const Generated& text, std::size_t line) {
    print_line(to_json(text, *folder.target_vocabulary, line).dump());
  };
  std::optional<const Conversation> conversation;
  if (chat) conversation.emplace(Conversation{folder, *chat, setting, command.system});
  if (command.converses()) {
    std::function<void(const Generated&, std::size_t)> answered;
    if (command.json) answered = print_json;
    return converse(*conversation, options, answered);
  }
  std::vector<std::string> given{command.prompt};
  if (!command.input.empty()) given = read_text_lines(command.input);
  std::vector<std::string> prompts;
  for (const std::string& prompt : given)
    prompts.insert(prompts.end(), static_cast<std::size_t>(command.samples), prompt);
  const std::string name = command.input.empty() ? "--prompt" : text_name(command.input) + ": line";
  TextStream stream;
  const bool streams = prompts.size() == 1 && !command.json;
  ProgressLine progress("texts", std::ssize(prompts));
  Index done = 0;
  const auto on_part = [&](const GeneratedPart& part) {
    if (streams) return stream.show(part);
    done += part.ended ? 1 : 0;
    progress.show(done);
  };
  std::vector<std::vector<int>> asked;  // with --chat: each is all that a user says
  for (std::size_t i = 0; conversation && i < prompts.size(); ++i)
    asked.push_back(conversation->prompt({{"user", prompts[i]}}));
  const std::vector<Generated> all = conversation ? generate_behind(folder, asked, options, on_part, name)
                                                  : generate(folder, prompts, options, on_part, name);
  for (std::size_t i = 0; i < all.size() && !streams; ++i) {
    const std::size_t line = i / static_cast<std::size_t>(command.samples) + 1;
    command.json ? print_json(all[i], line) : print_line(all[i].text);
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
                "model. Without a prompt: a conversation, in which each line of standard input is what the user says "
                "next.");
  sub->add_option("--system", command->system, "With --chat: what the model is told before.");
  sub->add_option("--today", command->today,
                  "With --chat: the day that the template writes, such as 2026-11-29; without, the one that it has for "
                  "when nobody tells it.")
      ->type_name("DATE");
  sub->add_option("--names", command->names,
                  "With --chat: what the template's own names are, as a JSON object: '{\"enable_thinking\": false}'.")
      ->type_name("JSON");
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
      "Examples:\n  heed generate model --prompt 'The man' --temperature 0.8 --top-p 0.95\n"
      "  heed generate Qwen3-0.6B --chat --names '{\"enable_thinking\": false}'\n"
      "The same seed gives the same text, whatever else is generated beside it.\n"
      "What a folder of others says of decoding (generation_config.json) is the default of the sampling.");
  sub->callback([command] { run(*command); });
}

}  // namespace heed::cli
