#include "unknown_argument.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include "option_names.h"

namespace heed::cli {
namespace {

// What other toolkits call options that heed has too, and that no likeness of letters would find.
constexpr std::pair<std::string_view, std::string_view> kSynonyms[] = {{"lr", "rate"},
                                                                       {"batch-size", "batch-tokens"},
                                                                       {"epochs", "max-epochs"},
                                                                       {"epoch", "max-epochs"},
                                                                       {"steps", "max-updates"},
                                                                       {"max-steps", "max-updates"},
                                                                       {"d-model", "width"},
                                                                       {"dim", "width"},
                                                                       {"hidden-size", "width"},
                                                                       {"embedding-size", "width"},
                                                                       {"ffn", "ffn-width"},
                                                                       {"hidden", "ffn-width"},
                                                                       {"layers", "encoder-layers"},
                                                                       {"vocab-size", "vocabulary-size"},
                                                                       {"vocab", "vocabulary-size"},
                                                                       {"n-best", "best"},
                                                                       {"nbest", "best"},
                                                                       {"src", "source"},
                                                                       {"tgt", "target"},
                                                                       {"trg", "target"},
                                                                       {"ref", "reference"},
                                                                       {"hyp", "hypothesis"},
                                                                       {"output", "out"}};

// Options of text that names nothing.
bool may_be_nothing(std::string_view option) {
  constexpr std::string_view kTexts[] = {"prompt", "system", "text",   "text-pair",
                                         "target", "filter", "labels", "key-labels"};
  return std::ranges::find(kTexts, option) != std::end(kTexts);
}

// How many letters must be changed, added or taken away to make one word of the other.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({changed, row[j] + 1, row[j - 1] + 1}));
    }
  }
  return row.back();
}

// "rate" is in "learning-rate", "beam" in "beam-size".
bool has_word(std::string_view words, std::string_view word) {
  return fmt::format("-{}-", words).find(fmt::format("-{}-", word)) != std::string::npos;
}

// The candidate that is spelled most like the word, or is a part of it; empty where none is near.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  std::string best;
  std::size_t least = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < least && distance < candidate.size()) best = candidate, least = distance;
  }
  if (!best.empty()) return best;
  for (const std::string& candidate : candidates) {
    if (has_word(word, candidate) && candidate.size() > best.size()) best = candidate;
  }
  return best;
}

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* app : {&command, command.get_parent()}) {
    if (app == nullptr) continue;
    for (const CLI::Option* option : app->get_options()) {
      names.insert(names.end(), option->get_lnames().begin(), option->get_lnames().end());
    }
  }
  return names;
}

// What was probably meant by --name: "--rate", "--tie-output false"; empty where nothing is near.
std::string meant_option(const CLI::App& command, std::string_view name) {
  const std::vector<std::string> names = option_names(command);
  const auto known = [&](std::string_view wanted) { return std::ranges::find(names, wanted) != names.end(); };
  if (name.starts_with("no-") && known(name.substr(3))) return fmt::format("--{} false", name.substr(3));
  for (const auto& [other, own] : kSynonyms) {
    if (name == other && known(own)) return fmt::format("--{}", own);
  }
  const std::string near = nearest(name, names);
  return near.empty() ? near : "--" + near;
}

std::string hint(const std::string& meant, const std::string& help) {
  return meant.empty() ? fmt::format("see {} --help", help) : fmt::format("did you mean {}?", meant);
}

std::string describe_missing_command(const CLI::App& app, const std::vector<std::string>& unknown) {
  std::vector<std::string> commands;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    commands.push_back(command->get_name());
  }
  if (unknown.empty()) return fmt::format("a command is needed, one of {}: see heed --help", fmt::join(commands, ", "));
  return fmt::format("there is no command {}: {}", unknown.front(), hint(nearest(unknown.front(), commands), "heed"));
}

}  // namespace

void require_values(CLI::App& app) {
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) {
    for (CLI::Option* option : command->get_options()) {
      if (option->get_type_size() == 0) continue;  // a flag, which takes no value
      // What reads numbers and choices has a word of its own for none.
      const bool names_something = option->get_type_name() == "TEXT" && option->get_expected_min() > 0;
      const bool may_be_empty = !option->get_lnames().empty() && may_be_nothing(option->get_lnames().front());
      option->check([command, needs_text = names_something && !may_be_empty](const std::string& text) {
        if (needs_text && text.empty()) return std::string("is empty");
        return has_option(*command, text) ? "needs a value, but is followed by " + text : std::string();
      });
    }
  }
}

std::string describe_mistake(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<std::string> unknown = app.remaining(true);
  const std::vector<CLI::App*> chosen = app.get_subcommands();
  if (chosen.empty()) return describe_missing_command(app, unknown);
  const std::string command = "heed " + chosen.front()->get_name();
  const auto option =
      std::ranges::find_if(unknown, [](const std::string& one) { return one.size() > 1 && one[0] == '-'; });
  if (option != unknown.end()) {
    const std::string_view name = std::string_view(*option).substr(0, option->find('='));
    const std::string_view letters = name.substr(std::min(name.find_first_not_of('-'), name.size()));
    return fmt::format("{} has no option {}: {}", command, name, hint(meant_option(*chosen.front(), letters), command));
  }
  if (dynamic_cast<const CLI::ExtrasError*>(&error) == nullptr || unknown.empty()) return error.what();
  return fmt::format("{} is one argument more than {} takes: see {} --help", unknown.front(), command, command);
}

}  // namespace heed::cli
