// heed: train a model that translates or continues text, run it, and see what it attends to.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <exception>
#include <filesystem>
#include <new>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include "commands.h"
#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/base/standard_streams.h"
#include "numbers.h"
#include "output.h"
#include "unknown_argument.h"

namespace {

constexpr int kFailure = 1, kWrongUsage = 2;

int fail(const std::string& message, int code) {
  heed::cli::print_message(message);
  return code;
}

// In the order in which --help lists them.
constexpr std::pair<std::string_view, void (*)(CLI::App&)> kCommands[] = {
    {"corpus", &heed::cli::add_corpus_command},
    {"train", &heed::cli::add_train_command},
    {"translate", &heed::cli::add_translate_command},
    {"generate", &heed::cli::add_generate_command},
    {"score", &heed::cli::add_score_command},
    {"embed", &heed::cli::add_embed_command},
    {"fill", &heed::cli::add_fill_command},
    {"classify", &heed::cli::add_classify_command},
    {"transcribe", &heed::cli::add_transcribe_command},
    {"align", &heed::cli::add_align_command},
    {"evaluate", &heed::cli::add_evaluate_command},
    {"view", &heed::cli::add_view_command},
    {"explain", &heed::cli::add_explain_command},
    {"convert", &heed::cli::add_convert_command},
    {"bench", &heed::cli::add_bench_command},
    {"info", &heed::cli::add_info_command},
};

// The first argument behind options of heed's own; empty where there is none.
std::string_view named_command(std::span<char* const> arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view argument = arguments[i];
    if (argument == "--threads") ++i;
    if (!argument.starts_with('-')) return argument;
  }
  return {};
}

// Adds the command of this name, and where there is none, all: to put the options of all together takes longer than
// reading the line.
void add_commands(CLI::App& app, std::string_view named) {
  const bool known = std::ranges::any_of(kCommands, [&](const auto& command) { return command.first == named; });
  for (const auto& [name, add] : kCommands) {
    if (!known || name == named) add(app);
  }
}

// What --help and --version print.
int answer(const CLI::App& app, const CLI::Success& success) {
  std::ostringstream text;
  const int code = app.exit(success, text, text);
  try {
    heed::cli::print(text.str());
  } catch (const heed::Error& error) {
    return fail(error.what(), kFailure);
  }
  return code;
}

int run(int argc, char** argv) {
  CLI::App app{"Attention: train a model that translates or continues text, run it, and see what it attends to.",
               "heed"};
  app.set_version_flag("--version", "heed " HEED_VERSION, "Print the version.");
  app.set_help_flag("-h,--help", "Print this help.");
  app.set_help_all_flag("--help-all", "Print the help of every command.");
  app.require_subcommand(1);
  app.fallthrough();
  heed::cli::add_number<int>(app, "--threads", heed::set_thread_count,
                             "Threads to use; by default every core. Results do not depend on it.",
                             heed::NumberRange::from(1, 1024));
  add_commands(app, named_command(std::span(argv, static_cast<std::size_t>(argc)).subspan(1)));
  heed::cli::require_values(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {  // --help, --version
    return answer(app, success);
  } catch (const CLI::ParseError& error) {
    return fail(heed::cli::describe_mistake(app, error), kWrongUsage);
  } catch (const heed::cli::Interrupted& interrupted) {
    return 128 + interrupted.signal;
  } catch (const heed::Error& error) {
    return fail(error.what(), kFailure);
  } catch (const std::filesystem::filesystem_error& error) {
    return fail(error.path1().string() + ": " + error.code().message(), kFailure);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    return fail(std::string("internal error: ") + error.what(), kFailure);
  }
  return 0;
}

}  // namespace

// NOLINTNEXTLINE(bugprone-exception-escape): run() lets nothing through but what is caught here
int main(int argc, char** argv) {
  heed::hold_standard_streams();
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe is an error of writing, which is reported like any other
  std::signal(SIGXFSZ, SIG_IGN);  // and so is a limit on file size
  try {
    return run(argc, argv);
  } catch (const std::bad_alloc&) {  // also where options are set up or a message is put together
    heed::cli::print_out_of_memory();
    return kFailure;
  }
}
