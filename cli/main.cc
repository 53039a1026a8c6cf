// heed: train a translation model, translate with it, and see what it attends to.
#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <string>

#include "commands.h"
#include "heed/base/error.h"
#include "heed/base/parallel.h"

namespace {

constexpr int kFailure = 1, kWrongUsage = 2;

int fail(const std::string& message, int code) {
  // One line, whatever the message holds.
  std::string line = message;
  for (char& c : line) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  std::fprintf(stderr, "heed: %s\n", line.c_str());
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe is an error of writing, which is reported like any other
  std::signal(SIGXFSZ, SIG_IGN);  // and so is a limit on file size
  CLI::App app{"Attention: train a translation model, translate with it, and see what it attends to.", "heed"};
  app.set_version_flag("--version", "heed " HEED_VERSION, "Print the version.");
  app.set_help_flag("--help", "Print this help.");
  app.set_help_all_flag("--help-all", "Print the help of every command.");
  app.require_subcommand(1);
  app.fallthrough();
  int threads = 0;
  app.add_option("--threads", threads, "Threads to use; by default every core. Results do not depend on it.")
      ->check(CLI::Range(1, 1024))
      ->each([](const std::string& text) { heed::set_thread_count(std::stoi(text)); });
  heed::cli::add_corpus_command(app);
  heed::cli::add_train_command(app);
  heed::cli::add_translate_command(app);
  heed::cli::add_evaluate_command(app);
  heed::cli::add_view_command(app);
  heed::cli::add_explain_command(app);
  heed::cli::add_info_command(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {  // --help, --version
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    return fail(error.what(), kWrongUsage);
  } catch (const heed::Error& error) {
    return fail(error.what(), kFailure);
  } catch (const std::bad_alloc&) {
    return fail("out of memory", kFailure);
  } catch (const std::exception& error) {
    return fail(std::string("internal error: ") + error.what(), kFailure);
  }
  return 0;
}
