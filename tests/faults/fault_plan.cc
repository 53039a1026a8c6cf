// Loaded into a command before every other library (LD_PRELOAD): makes one call of the system fail, or one allocation.
//
//   HEED_FAULT=write:7:28        the seventh write fails with errno 28
//   HEED_FAULT=read:3:short      the third read returns half of what it could
//   HEED_FAULT=allocate:90+:12   the 90th allocation fails and all after it; who asks on for ever ends with 99
//   HEED_FAULT_LOG=file          what was counted, or only the call that failed, one a line: kind, number, file (of an
//                              allocation, the libraries that ask for it); then, where the process crashes or asks for
//                              ever, a line of its own: crash, signal or 0, the libraries that it does so in
//
// Counted is what main and its threads do: calls on the standard streams and on files within the current folder, named
// by relative paths or by absolute ones; every allocation. Whatever the libraries read elsewhere is left alone, so that
// numbers stay the same from run to run.
#include "fault_plan.h"

#include <execinfo.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

// NOLINTNEXTLINE(bugprone-reserved-identifier): the name that glibc gives it
extern "C" void* __libc_malloc(std::size_t bytes);

namespace faults {
namespace {

// Of Call's values in order.
constexpr std::array<std::string_view, 19> kNames{
    "open", "read", "write",    "close", "sync",  "rename",  "remove", "make_folder", "lock",    "status",
    "link", "list", "truncate", "mode",  "owner", "control", "poll",   "map",         "allocate"};

static_assert(kNames.size() == static_cast<std::size_t>(Call::allocate) + 1);

constexpr int kMostDescriptors = 256, kPathBytes = 256;
// Who asks again this often, where every answer is no, will ask for ever: the process ends with this status.
constexpr long kMostRefusals = 1'000'000;
constexpr int kAsksForEver = 99;

std::atomic<bool> g_counting{false};
std::array<std::atomic<long>, kNames.size()> g_count{};
int g_log = -1;
std::size_t g_kind = kNames.size();  // none
int g_error = kNone;
long g_number = 0;
bool g_onwards = false;
char g_here[kPathBytes];
char g_path[kMostDescriptors][kPathBytes];  // of open descriptors; empty: not counted

std::size_t index_of(Call call) { return static_cast<std::size_t>(call); }

void log_call(std::string_view kind, long number, const char* what) {
  if (g_log < 0) return;
  char line[2 * kPathBytes];
  const int length = std::snprintf(line, sizeof line, "%s %ld %s\n", kind.data(), number, what);
  ::syscall(SYS_write, g_log, line, std::min<std::size_t>(static_cast<std::size_t>(length), sizeof line - 1));
}

// The libraries that the calls lead through, innermost first: "libstdc++.so.6 heed libc.so.6".
void log_callers(std::string_view kind, long number) {
  std::array<void*, 64> frames;
  const int count = ::backtrace(frames.data(), static_cast<int>(frames.size()));
  char libraries[kPathBytes] = "";
  const char* before = nullptr;
  for (int i = 0; i < count; ++i) {
    Dl_info library{};
    if (::dladdr(frames[static_cast<std::size_t>(i)], &library) == 0 || library.dli_fname == before) continue;
    before = library.dli_fname;
    const char* const slash = std::strrchr(before, '/');
    const char* const name = slash == nullptr ? before : slash + 1;
    const std::size_t length = std::strlen(libraries);
    std::snprintf(libraries + length, sizeof libraries - length, "%s%s", length == 0 ? "" : " ", name);
  }
  log_call(kind, number, libraries);
}

// Says where the process crashes; it then ends by the same signal. A second thread that crashes meanwhile waits: it
// would end the process before the first has said so.
void log_crash(int signal) {
  static std::atomic_flag crashed = ATOMIC_FLAG_INIT;
  while (crashed.test_and_set()) ::pause();
  log_callers("crash", signal);
  ::signal(signal, SIG_DFL);               // what crashed is run again, or abort goes on
  if (signal == SIGTRAP) ::raise(signal);  // GLib's way to abort, which would go on behind the trap
}

// Gives the thread a stack for log_crash: a crash may be that the other one ends.
void watch_thread() {
  thread_local bool watched = false;
  if (std::exchange(watched, true)) return;
  constexpr std::size_t kBytes = 256 * 1024;
  const stack_t other{.ss_sp = __libc_malloc(kBytes), .ss_flags = 0, .ss_size = kBytes};
  ::sigaltstack(&other, nullptr);
}

void watch_crashes() {
  watch_thread();
  struct sigaction watch {};
  watch.sa_handler = log_crash;
  watch.sa_flags = SA_ONSTACK;
  for (int signal : {SIGSEGV, SIGABRT, SIGTRAP}) ::sigaction(signal, &watch, nullptr);
}

void read_plan() {
  if (::getcwd(g_here, sizeof g_here) == nullptr) g_here[0] = '\0';
  for (int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    constexpr std::array<const char*, 3> kStreams{"<input>", "<output>", "<error>"};
    remember(stream, kStreams[static_cast<std::size_t>(stream)]);
  }
  if (const char* const log = std::getenv("HEED_FAULT_LOG")) {
    g_log = static_cast<int>(::syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
    // Out of the way: descriptors are as without it.
    g_log = static_cast<int>(::syscall(SYS_fcntl, g_log, F_DUPFD_CLOEXEC, kMostDescriptors));
    ::syscall(SYS_close, 3);
  }
  const char* const text = std::getenv("HEED_FAULT");
  if (text == nullptr) return;
  char kind[32], number[32], error[32];
  if (std::sscanf(text, "%31[^:]:%31[^:]:%31s", kind, number, error) != 3) std::abort();
  g_kind = static_cast<std::size_t>(std::find(kNames.begin(), kNames.end(), kind) - kNames.begin());
  if (g_kind == kNames.size()) std::abort();
  g_number = std::atol(number);
  g_onwards = std::strchr(number, '+') != nullptr;
  g_error = std::strcmp(error, "short") == 0 ? kShort : std::atoi(error);
}

int (*g_main)(int, char**, char**) = nullptr;

int counted_main(int argc, char** argv, char** environment) {
  read_plan();
  std::array<void*, 1> frame;
  ::backtrace(frame.data(), 1);  // loads at its first use what it needs
  watch_crashes();
  g_counting = true;
  const int status = g_main(argc, argv, environment);
  g_counting = false;
  const std::size_t allocations = index_of(Call::allocate);
  if (g_kind == kNames.size()) log_call(kNames[allocations], g_count[allocations], "");
  return status;
}

}  // namespace

const char* counted_path(const char* path) {
  if (path == nullptr) return nullptr;
  if (path[0] != '/') return path;
  const std::size_t length = std::strlen(g_here);
  if (std::strncmp(path, g_here, length) != 0 || (path[length] != '/' && path[length] != '\0')) return nullptr;
  return path[length] == '\0' ? "." : path + length + 1;
}

const char* counted_path(int descriptor) {
  if (descriptor < 0 || descriptor >= kMostDescriptors || g_path[descriptor][0] == '\0') return nullptr;
  return g_path[descriptor];
}

void remember(int descriptor, const char* path) {
  if (descriptor < 0 || descriptor >= kMostDescriptors) return;
  std::snprintf(g_path[descriptor], kPathBytes, "%s", path == nullptr ? "" : path);
}

int fault(Call call, const char* what) {
  if (what == nullptr || !g_counting.load(std::memory_order_relaxed)) return kNone;
  const std::size_t kind = index_of(call);
  const long number = ++g_count[kind];
  const bool chosen = kind == g_kind && number == g_number;
  if (g_kind == kNames.size() || chosen) log_call(kNames[kind], number, what);
  return chosen ? g_error : kNone;
}

bool fails(Call call, const char* what) {
  const int error = fault(call, what);
  if (error > 0) errno = error;
  return error > 0;
}

bool allocation_fails() {
  if (!g_counting.load(std::memory_order_relaxed)) return false;
  const std::size_t kind = index_of(Call::allocate);
  const long number = ++g_count[kind];
  if (g_kind != kind || number < g_number || (!g_onwards && number > g_number)) return false;
  if (number == g_number) log_callers(kNames[kind], number);
  watch_thread();  // Pango, too, has threads
  if (number > g_number + kMostRefusals) {
    log_callers("crash", 0);
    ::_exit(kAsksForEver);
  }
  errno = g_error;
  return true;
}

}  // namespace faults

extern "C" {

// NOLINTNEXTLINE(bugprone-reserved-identifier): the name that glibc gives it
int __libc_start_main(int (*main)(int, char**, char**), int argc, char** argv, void (*init)(), void (*fini)(),
                      void (*loader_fini)(), void* stack_end) {
  HEED_NEXT(__libc_start_main);
  faults::g_main = main;
  return real(faults::counted_main, argc, argv, init, fini, loader_fini, stack_end);
}

}  // extern "C"
