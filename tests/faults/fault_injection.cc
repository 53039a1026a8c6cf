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
#include <dirent.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

extern "C" {
// NOLINTBEGIN(bugprone-reserved-identifier): the names that glibc gives them
void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t count, std::size_t bytes);
void* __libc_realloc(void* block, std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);
// NOLINTEND(bugprone-reserved-identifier)
}

namespace {

enum Kind {
  kOpen,
  kRead,
  kWrite,
  kClose,
  kSync,
  kRename,
  kRemove,
  kMakeFolder,
  kLock,
  kStatus,
  kLink,
  kList,
  kTruncate,
  kMode,
  kOwner,
  kControl,
  kPoll,
  kMap,
  kAllocate,
  kKinds
};
constexpr std::array<std::string_view, kKinds> kNames{
    "open", "read", "write",    "close", "sync",  "rename",  "remove", "make_folder", "lock",    "status",
    "link", "list", "truncate", "mode",  "owner", "control", "poll",   "map",         "allocate"};

constexpr int kNone = 0, kShort = -1;  // beside the values of errno
constexpr int kMostDescriptors = 256, kPathBytes = 256;
// Who asks again this often, where every answer is no, will ask for ever: the process ends with this status.
constexpr long kMostRefusals = 1'000'000;
constexpr int kAsksForEver = 99;

std::atomic<bool> g_counting{false};
std::array<std::atomic<long>, kKinds> g_count{};
int g_log = -1;
int g_kind = -1, g_error = kNone;
long g_number = 0;
bool g_onwards = false;
char g_here[kPathBytes];
char g_path[kMostDescriptors][kPathBytes];  // of open descriptors; empty: not counted

// The next function of this name: the one that the program would have called.
template <typename Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}
#define HEED_NEXT(name) static auto* const real = next<decltype(name)>(#name)

// A path within the current folder, relative to it; null for any other.
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

void log_call(std::string_view kind, long number, const char* what) {
  if (g_log < 0) return;
  char line[2 * kPathBytes];
  const int length = std::snprintf(line, sizeof line, "%s %ld %s\n", kind.data(), number, what);
  ::syscall(SYS_write, g_log, line, std::min<std::size_t>(static_cast<std::size_t>(length), sizeof line - 1));
}

// Counts a call, and says how it is to fail: an errno, kShort or kNone.
int fault(Kind kind, const char* what) {
  if (what == nullptr || !g_counting.load(std::memory_order_relaxed)) return kNone;
  const long number = ++g_count[kind];
  const bool chosen = kind == g_kind && number == g_number;
  if (g_kind < 0 || chosen) log_call(kNames[kind], number, what);
  return chosen ? g_error : kNone;
}

// Whether the call fails; sets errno then.
bool fails(Kind kind, const char* what) {
  const int error = fault(kind, what);
  if (error > 0) errno = error;
  return error > 0;
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

bool allocation_fails() {
  if (!g_counting.load(std::memory_order_relaxed)) return false;
  const long number = ++g_count[kAllocate];
  if (g_kind != kAllocate || number < g_number || (!g_onwards && number > g_number)) return false;
  if (number == g_number) log_callers(kNames[kAllocate], number);
  watch_thread();  // Pango, too, has threads
  if (number > g_number + kMostRefusals) {
    log_callers("crash", 0);
    ::_exit(kAsksForEver);
  }
  errno = g_error;
  return true;
}

// How many bytes a read or a write is left with.
std::size_t left_of(std::size_t bytes, int error) { return error == kShort && bytes > 1 ? bytes / 2 : bytes; }

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
  g_kind = static_cast<int>(std::find(kNames.begin(), kNames.end(), kind) - kNames.begin());
  if (g_kind == kKinds) std::abort();
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
  if (g_kind < 0) log_call(kNames[kAllocate], g_count[kAllocate], "");
  return status;
}

}  // namespace

extern "C" {

// NOLINTNEXTLINE(bugprone-reserved-identifier): as above
int __libc_start_main(int (*main)(int, char**, char**), int argc, char** argv, void (*init)(), void (*fini)(),
                      void (*loader_fini)(), void* stack_end) {
  HEED_NEXT(__libc_start_main);
  g_main = main;
  return real(counted_main, argc, argv, init, fini, loader_fini, stack_end);
}

// --- Files -----------------------------------------------------------------------------------------------------------

#define HEED_OPEN(name)                                                    \
  int name(const char* path, int flags, ...) {                             \
    HEED_NEXT(name);                                                       \
    std::va_list rest;                                                     \
    va_start(rest, flags);                                                 \
    const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0; \
    va_end(rest);                                                          \
    const char* const counted = counted_path(path);                        \
    if (fails(kOpen, counted)) return -1;                                  \
    const int descriptor = real(path, flags, mode);                        \
    remember(descriptor, counted);                                         \
    return descriptor;                                                     \
  }
HEED_OPEN(open)
HEED_OPEN(open64)

#define HEED_OPENAT(name)                                                          \
  int name(int folder, const char* path, int flags, ...) {                         \
    HEED_NEXT(name);                                                               \
    std::va_list rest;                                                             \
    va_start(rest, flags);                                                         \
    const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;         \
    va_end(rest);                                                                  \
    const char* const counted = folder == AT_FDCWD ? counted_path(path) : nullptr; \
    if (fails(kOpen, counted)) return -1;                                          \
    const int descriptor = real(folder, path, flags, mode);                        \
    remember(descriptor, counted);                                                 \
    return descriptor;                                                             \
  }
HEED_OPENAT(openat)
HEED_OPENAT(openat64)

FILE* fopen(const char* path, const char* mode) {
  HEED_NEXT(fopen);
  return fails(kOpen, counted_path(path)) ? nullptr : real(path, mode);
}
FILE* fopen64(const char* path, const char* mode) {
  HEED_NEXT(fopen64);
  return fails(kOpen, counted_path(path)) ? nullptr : real(path, mode);
}

ssize_t read(int descriptor, void* to, std::size_t bytes) {
  HEED_NEXT(read);
  const int error = fault(kRead, counted_path(descriptor));
  if (error > 0) return errno = error, -1;
  return real(descriptor, to, left_of(bytes, error));
}
ssize_t pread(int descriptor, void* to, std::size_t bytes, off_t at) {
  HEED_NEXT(pread);
  const int error = fault(kRead, counted_path(descriptor));
  if (error > 0) return errno = error, -1;
  return real(descriptor, to, left_of(bytes, error), at);
}
ssize_t readv(int descriptor, const iovec* parts, int count) {
  HEED_NEXT(readv);
  const int error = fault(kRead, counted_path(descriptor));
  if (error > 0) return errno = error, -1;
  return real(descriptor, parts, error == kShort ? (count + 1) / 2 : count);
}
ssize_t write(int descriptor, const void* from, std::size_t bytes) {
  HEED_NEXT(write);
  const int error = fault(kWrite, counted_path(descriptor));
  if (error > 0) return errno = error, -1;
  return real(descriptor, from, left_of(bytes, error));
}
ssize_t pwrite(int descriptor, const void* from, std::size_t bytes, off_t at) {
  HEED_NEXT(pwrite);
  const int error = fault(kWrite, counted_path(descriptor));
  if (error > 0) return errno = error, -1;
  return real(descriptor, from, left_of(bytes, error), at);
}
ssize_t writev(int descriptor, const iovec* parts, int count) {
  HEED_NEXT(writev);
  const int error = fault(kWrite, counted_path(descriptor));
  if (error > 0) return errno = error, -1;
  return real(descriptor, parts, error == kShort ? (count + 1) / 2 : count);
}

// A descriptor is gone after close, whatever close says.
int close(int descriptor) {
  HEED_NEXT(close);
  const bool fail = fails(kClose, counted_path(descriptor));
  const int reason = errno, status = real(descriptor);
  remember(descriptor, nullptr);
  return fail ? (errno = reason, -1) : status;
}
int closedir(DIR* folder) {
  HEED_NEXT(closedir);
  const int descriptor = ::dirfd(folder);
  const bool fail = fails(kClose, counted_path(descriptor));
  const int reason = errno, status = real(folder);
  remember(descriptor, nullptr);
  return fail ? (errno = reason, -1) : status;
}

int fsync(int descriptor) {
  HEED_NEXT(fsync);
  return fails(kSync, counted_path(descriptor)) ? -1 : real(descriptor);
}
int fdatasync(int descriptor) {
  HEED_NEXT(fdatasync);
  return fails(kSync, counted_path(descriptor)) ? -1 : real(descriptor);
}
int flock(int descriptor, int operation) noexcept {
  HEED_NEXT(flock);
  return fails(kLock, counted_path(descriptor)) ? -1 : real(descriptor, operation);
}
int ftruncate(int descriptor, off_t bytes) noexcept {
  HEED_NEXT(ftruncate);
  return fails(kTruncate, counted_path(descriptor)) ? -1 : real(descriptor, bytes);
}
int fchmod(int descriptor, mode_t mode) noexcept {
  HEED_NEXT(fchmod);
  return fails(kMode, counted_path(descriptor)) ? -1 : real(descriptor, mode);
}
int fchown(int descriptor, uid_t user, gid_t group) noexcept {
  HEED_NEXT(fchown);
  return fails(kOwner, counted_path(descriptor)) ? -1 : real(descriptor, user, group);
}

#define HEED_CONTROL(name)                                                                                             \
  int name(int descriptor, int command, ...) {                                                                         \
    HEED_NEXT(name);                                                                                                   \
    std::va_list rest;                                                                                                 \
    va_start(rest, command);                                                                                           \
    void* const argument = va_arg(rest, void*);                                                                        \
    va_end(rest);                                                                                                      \
    const bool locks = command == F_SETLK || command == F_SETLKW || command == F_OFD_SETLK || command == F_OFD_SETLKW; \
    const char* const path = counted_path(descriptor);                                                                 \
    if (fails(locks ? kLock : kControl, path)) return -1;                                                              \
    const int result = real(descriptor, command, argument);                                                            \
    if (command == F_DUPFD || command == F_DUPFD_CLOEXEC) remember(result, path);                                      \
    return result;                                                                                                     \
  }
HEED_CONTROL(fcntl)
HEED_CONTROL(fcntl64)

int poll(pollfd* descriptors, nfds_t count, int milliseconds) {
  HEED_NEXT(poll);
  if (fails(kPoll, count == 1 ? counted_path(descriptors->fd) : nullptr)) return -1;
  return real(descriptors, count, milliseconds);
}

void* mmap(void* at, std::size_t bytes, int protection, int flags, int descriptor, off_t offset) noexcept {
  HEED_NEXT(mmap);
  if (fails(kMap, counted_path(descriptor))) return MAP_FAILED;
  return real(at, bytes, protection, flags, descriptor, offset);
}

// --- Names -----------------------------------------------------------------------------------------------------------

int rename(const char* from, const char* to) noexcept {
  HEED_NEXT(rename);
  return fails(kRename, counted_path(to)) ? -1 : real(from, to);
}
int renameat(int from_folder, const char* from, int to_folder, const char* to) noexcept {
  HEED_NEXT(renameat);
  return fails(kRename, counted_path(to)) ? -1 : real(from_folder, from, to_folder, to);
}
int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) noexcept {
  HEED_NEXT(renameat2);
  return fails(kRename, counted_path(to)) ? -1 : real(from_folder, from, to_folder, to, flags);
}
int unlink(const char* path) noexcept {
  HEED_NEXT(unlink);
  return fails(kRemove, counted_path(path)) ? -1 : real(path);
}
int unlinkat(int folder, const char* path, int flags) noexcept {
  HEED_NEXT(unlinkat);
  return fails(kRemove, counted_path(path)) ? -1 : real(folder, path, flags);
}
int remove(const char* path) noexcept {
  HEED_NEXT(remove);
  return fails(kRemove, counted_path(path)) ? -1 : real(path);
}
int rmdir(const char* path) noexcept {
  HEED_NEXT(rmdir);
  return fails(kRemove, counted_path(path)) ? -1 : real(path);
}
int mkdir(const char* path, mode_t mode) noexcept {
  HEED_NEXT(mkdir);
  return fails(kMakeFolder, counted_path(path)) ? -1 : real(path, mode);
}
ssize_t readlink(const char* path, char* to, std::size_t bytes) noexcept {
  HEED_NEXT(readlink);
  return fails(kLink, counted_path(path)) ? -1 : real(path, to, bytes);
}
char* realpath(const char* path, char* to) noexcept {
  HEED_NEXT(realpath);
  return fails(kLink, counted_path(path)) ? nullptr : real(path, to);
}
char* getcwd(char* to, std::size_t bytes) noexcept {
  HEED_NEXT(getcwd);
  return fails(kLink, ".") ? nullptr : real(to, bytes);
}

#define HEED_STATUS(name, status)                                            \
  int name(const char* path, struct status* to) noexcept {                   \
    static auto* const real = next<int(const char*, struct status*)>(#name); \
    return fails(kStatus, counted_path(path)) ? -1 : real(path, to);         \
  }
HEED_STATUS(stat, stat)
HEED_STATUS(lstat, stat)
HEED_STATUS(stat64, stat64)
HEED_STATUS(lstat64, stat64)

int fstat(int descriptor, struct stat* to) noexcept {
  static auto* const real = next<int(int, struct stat*)>("fstat");
  return fails(kStatus, counted_path(descriptor)) ? -1 : real(descriptor, to);
}
int fstat64(int descriptor, struct stat64* to) noexcept {
  static auto* const real = next<int(int, struct stat64*)>("fstat64");
  return fails(kStatus, counted_path(descriptor)) ? -1 : real(descriptor, to);
}
int fstatat(int folder, const char* path, struct stat* to, int flags) noexcept {
  static auto* const real = next<int(int, const char*, struct stat*, int)>("fstatat");
  return fails(kStatus, counted_path(path)) ? -1 : real(folder, path, to, flags);
}

dirent* readdir(DIR* folder) {
  HEED_NEXT(readdir);
  return fails(kList, counted_path(::dirfd(folder))) ? nullptr : real(folder);
}

// --- Memory ----------------------------------------------------------------------------------------------------------

void* malloc(std::size_t bytes) noexcept { return allocation_fails() ? nullptr : __libc_malloc(bytes); }
void* calloc(std::size_t count, std::size_t bytes) noexcept {
  return allocation_fails() ? nullptr : __libc_calloc(count, bytes);
}
void* realloc(void* block, std::size_t bytes) noexcept {
  return allocation_fails() ? nullptr : __libc_realloc(block, bytes);
}
void* memalign(std::size_t alignment, std::size_t bytes) noexcept {
  return allocation_fails() ? nullptr : __libc_memalign(alignment, bytes);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept {
  return allocation_fails() ? nullptr : __libc_memalign(alignment, bytes);
}
int posix_memalign(void** block, std::size_t alignment, std::size_t bytes) noexcept {
  void* const made = allocation_fails() ? nullptr : __libc_memalign(alignment, bytes);
  if (made == nullptr) return ENOMEM;
  *block = made;
  return 0;
}

}  // extern "C"
