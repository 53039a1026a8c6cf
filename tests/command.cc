#include "command.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>

#include "heed/base/check.h"

namespace heed::testing {
namespace {

class Pipe {
 public:
  Pipe() { HEED_CHECK(::pipe2(ends_.data(), O_CLOEXEC) == 0, "run_program: cannot make a pipe"); }
  // Brings this text, and then fails: a connection whose other side went without reading what was sent to it.
  explicit Pipe(std::string_view text) {
    HEED_CHECK(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends_.data()) == 0 &&
                   ::write(end(1), text.data(), text.size()) == static_cast<::ssize_t>(text.size()) &&
                   ::write(end(0), "unread", 6) == 6,
               "run_program: cannot make a connection");
    close(1);
  }
  ~Pipe() {
    close(0);
    close(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  int end(int which) const { return ends_[static_cast<std::size_t>(which)]; }  // 0: to read from, 1: to write to
  void close(int which) {
    int& descriptor = ends_[static_cast<std::size_t>(which)];
    if (descriptor >= 0) ::close(descriptor);
    descriptor = -1;
  }

 private:
  std::array<int, 2> ends_{-1, -1};
};

// Between fork and exec: nothing but system calls.
[[noreturn]] void become(const char* path, char* const* arguments, const CommandOptions& options, int in, int out,
                         int error) {
  if (!options.input_file.empty()) in = ::open(options.input_file.c_str(), O_RDONLY);
  if (options.output == Output::full) out = ::open("/dev/full", O_WRONLY);
  ::dup2(in, STDIN_FILENO);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(error, STDERR_FILENO);
  if (options.largest_file) {
    const ::rlimit limit{*options.largest_file, *options.largest_file};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  for (const std::string& setting : options.environment) ::putenv(const_cast<char*>(setting.c_str()));
  for (int descriptor : options.closed) ::close(descriptor);
  ::execv(path, arguments);
  ::_exit(127);
}

// Feeds the input and reads both outputs as they come, so that no full pipe stops either side.
void converse(Pipe& in, Pipe& out, Pipe& error, std::string_view input, CommandResult& result) {
  ::fcntl(in.end(1), F_SETFL, O_NONBLOCK);
  while (out.end(0) >= 0 || error.end(0) >= 0) {
    if (input.empty()) in.close(1);
    std::array<::pollfd, 3> waiting{{{in.end(1), POLLOUT, 0}, {out.end(0), POLLIN, 0}, {error.end(0), POLLIN, 0}}};
    if (::poll(waiting.data(), waiting.size(), -1) < 0) continue;
    if (waiting[0].revents != 0) {
      const ::ssize_t wrote = ::write(in.end(1), input.data(), input.size());
      if (wrote > 0) input.remove_prefix(static_cast<std::size_t>(wrote));
      if (wrote < 0 && errno != EAGAIN && errno != EINTR) input = {};  // it reads no more
    }
    const auto take = [](const ::pollfd& ready, Pipe& pipe, std::string& text) {
      if (ready.revents == 0) return;
      std::array<char, 4096> buffer;
      const ::ssize_t got = ::read(pipe.end(0), buffer.data(), buffer.size());
      if (got > 0) text.append(buffer.data(), static_cast<std::size_t>(got));
      if (got == 0 || (got < 0 && errno != EINTR)) pipe.close(0);
    };
    take(waiting[1], out, result.output);
    take(waiting[2], error, result.error);
  }
}

}  // namespace

CommandResult run_program(const char* path, const std::vector<std::string>& arguments, const CommandOptions& options) {
  std::signal(SIGPIPE, SIG_IGN);
  std::vector<char*> pointers{const_cast<char*>(path)};
  for (const std::string& argument : arguments) pointers.push_back(const_cast<char*>(argument.c_str()));
  pointers.push_back(nullptr);
  Pipe in = options.input_fails ? Pipe(options.input) : Pipe();
  Pipe out, error;
  if (options.output == Output::unread) out.close(0);
  const ::pid_t child = ::fork();
  HEED_CHECK(child >= 0, "run_program: cannot start a process");
  if (child == 0) {
    std::signal(SIGPIPE, SIG_DFL);
    become(path, pointers.data(), options, in.end(0), out.end(1), error.end(1));
  }
  in.close(0);
  out.close(1);
  error.close(1);
  CommandResult result;
  converse(in, out, error, options.input, result);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  HEED_CHECK(result.exit_code != 127, "run_program: cannot start {}", path);
  return result;
}

CommandResult run_heed(const std::vector<std::string>& arguments, const CommandOptions& options) {
  return run_program(HEED_CLI, arguments, options);
}

}  // namespace heed::testing
