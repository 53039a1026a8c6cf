// Calls on open files, and those that open and close them.
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>

#include "fault_plan.h"

using faults::Call;
using faults::counted_path;
using faults::fails;
using faults::fault;
using faults::kShort;
using faults::left_of;
using faults::remember;

extern "C" {

#define HEED_OPEN(name)                                                    \
  int name(const char* path, int flags, ...) {                             \
    HEED_NEXT(name);                                                       \
    std::va_list rest;                                                     \
    va_start(rest, flags);                                                 \
    const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0; \
    va_end(rest);                                                          \
    const char* const counted = counted_path(path);                        \
    if (fails(Call::open, counted)) return -1;                             \
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
    if (fails(Call::open, counted)) return -1;                                     \
    const int descriptor = real(folder, path, flags, mode);                        \
    remember(descriptor, counted);                                                 \
    return descriptor;                                                             \
  }
HEED_OPENAT(openat)
HEED_OPENAT(openat64)

FILE* fopen(const char* path, const char* mode) {
  HEED_NEXT(fopen);
  return fails(Call::open, counted_path(path)) ? nullptr : real(path, mode);
}
FILE* fopen64(const char* path, const char* mode) {
  HEED_NEXT(fopen64);
  return fails(Call::open, counted_path(path)) ? nullptr : real(path, mode);
}

ssize_t read(int descriptor, void* to, std::size_t bytes) {
  HEED_NEXT(read);
  const int error = fault(Call::read, counted_path(descriptor));
  if (error > 0) return errno = error, -1;
  return real(descriptor, to, left_of(bytes, error));
}
ssize_t pread(int descriptor, void* to, std::size_t bytes, off_t at) {
  HEED_NEXT(pread);
  const int error = fault(Call::read, counted_path(descriptor));
  if (error > 0) return errno = error, -1;
  return real(descriptor, to, left_of(bytes, error), at);
}
ssize_t readv(int descriptor, const iovec* parts, int count) {
  HEED_NEXT(readv);
  const int error = fault(Call::read, counted_path(descriptor));
  if (error > 0) return errno = error, -1;
  return real(descriptor, parts, error == kShort ? (count + 1) / 2 : count);
}
ssize_t write(int descriptor, const void* from, std::size_t bytes) {
  HEED_NEXT(write);
  const int error = fault(Call::write, counted_path(descriptor));
  if (error > 0) return errno = error, -1;
  return real(descriptor, from, left_of(bytes, error));
}
ssize_t pwrite(int descriptor, const void* from, std::size_t bytes, off_t at) {
  HEED_NEXT(pwrite);
  const int error = fault(Call::write, counted_path(descriptor));
  if (error > 0) return errno = error, -1;
  return real(descriptor, from, left_of(bytes, error), at);
}
ssize_t writev(int descriptor, const iovec* parts, int count) {
  HEED_NEXT(writev);
  const int error = fault(Call::write, counted_path(descriptor));
  if (error > 0) return errno = error, -1;
  return real(descriptor, parts, error == kShort ? (count + 1) / 2 : count);
}

// A descriptor is gone after close, whatever close says.
int close(int descriptor) {
  HEED_NEXT(close);
  const bool fail = fails(Call::close, counted_path(descriptor));
  const int reason = errno, status = real(descriptor);
  remember(descriptor, nullptr);
  return fail ? (errno = reason, -1) : status;
}
int closedir(DIR* folder) {
  HEED_NEXT(closedir);
  const int descriptor = ::dirfd(folder);
  const bool fail = fails(Call::close, counted_path(descriptor));
  const int reason = errno, status = real(folder);
  remember(descriptor, nullptr);
  return fail ? (errno = reason, -1) : status;
}

int fsync(int descriptor) {
  HEED_NEXT(fsync);
  return fails(Call::sync, counted_path(descriptor)) ? -1 : real(descriptor);
}
int fdatasync(int descriptor) {
  HEED_NEXT(fdatasync);
  return fails(Call::sync, counted_path(descriptor)) ? -1 : real(descriptor);
}
int flock(int descriptor, int operation) noexcept {
  HEED_NEXT(flock);
  return fails(Call::lock, counted_path(descriptor)) ? -1 : real(descriptor, operation);
}
int ftruncate(int descriptor, off_t bytes) noexcept {
  HEED_NEXT(ftruncate);
  return fails(Call::truncate, counted_path(descriptor)) ? -1 : real(descriptor, bytes);
}
int fchmod(int descriptor, mode_t mode) noexcept {
  HEED_NEXT(fchmod);
  return fails(Call::mode, counted_path(descriptor)) ? -1 : real(descriptor, mode);
}
int fchown(int descriptor, uid_t user, gid_t group) noexcept {
  HEED_NEXT(fchown);
  return fails(Call::owner, counted_path(descriptor)) ? -1 : real(descriptor, user, group);
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
    if (fails(locks ? Call::lock : Call::control, path)) return -1;                                                    \
    const int result = real(descriptor, command, argument);                                                            \
    if (command == F_DUPFD || command == F_DUPFD_CLOEXEC) remember(result, path);                                      \
    return result;                                                                                                     \
  }
HEED_CONTROL(fcntl)
HEED_CONTROL(fcntl64)

int poll(pollfd* descriptors, nfds_t count, int milliseconds) {
  HEED_NEXT(poll);
  if (fails(Call::poll, count == 1 ? counted_path(descriptors->fd) : nullptr)) return -1;
  return real(descriptors, count, milliseconds);
}

void* mmap(void* at, std::size_t bytes, int protection, int flags, int descriptor, off_t offset) noexcept {
  HEED_NEXT(mmap);
  if (fails(Call::map, counted_path(descriptor))) return MAP_FAILED;
  return real(at, bytes, protection, flags, descriptor, offset);
}

}  // extern "C"
