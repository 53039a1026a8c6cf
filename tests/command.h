// Runs heed's programs, as a user would.
//
//   const CommandResult result = run_heed({"translate", folder, "--beam", "2"}, {.input = "Guten Morgen.\n"});
//   EXPECT_EQ(result.exit_code, 0) << result.error;
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heed::testing {

// Where the program's standard output goes.
enum class Output {
  kept,   // into CommandResult::output
  full,   // to a full disk: /dev/full
  unread  // into a pipe whose reader has gone
};

struct CommandOptions {
  std::string input{};       // standard input
  std::string input_file{};  // what standard input is opened on, instead of `input`
  bool input_fails = false;  // reading what comes after `input` is an error, not the end
  Output output = Output::kept;
  std::optional<std::uint64_t> largest_file{};  // no file may grow beyond this many bytes: a disk that is full
  std::vector<std::string> environment{};       // "NAME=value", added
  std::vector<int> closed{};                    // descriptors that are closed when the program starts
};

// Exit codes.
inline constexpr int kFailure = 1, kWrongUsage = 2;

struct CommandResult {
  int exit_code = -1;  // -1: killed by a signal
  std::string output, error;
};

// Runs the program at this path and waits for it. Throws heed::Error where it cannot be started.
CommandResult run_program(const char* path, const std::vector<std::string>& arguments,
                          const CommandOptions& options = {});
// The same of HEED_CLI.
CommandResult run_heed(const std::vector<std::string>& arguments, const CommandOptions& options = {});

}  // namespace heed::testing
