// Calls on what folders hold: names, and what is known of the files behind them.
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "fault_plan.h"

using faults::Call;
using faults::counted_path;
using faults::fails;

extern "C" {

int rename(const char* from, const char* to) noexcept {
  HEED_NEXT(rename);
  return fails(Call::rename, counted_path(to)) ? -1 : real(from, to);
}
int renameat(int from_folder, const char* from, int to_folder, const char* to) noexcept {
  HEED_NEXT(renameat);
  return fails(Call::rename, counted_path(to)) ? -1 : real(from_folder, from, to_folder, to);
}
int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) noexcept {
  HEED_NEXT(renameat2);
  return fails(Call::rename, counted_path(to)) ? -1 : real(from_folder, from, to_folder, to, flags);
}
int unlink(const char* path) noexcept {
  HEED_NEXT(unlink);
  return fails(Call::remove, counted_path(path)) ? -1 : real(path);
}
int unlinkat(int folder, const char* path, int flags) noexcept {
  HEED_NEXT(unlinkat);
  return fails(Call::remove, counted_path(path)) ? -1 : real(folder, path, flags);
}
int remove(const char* path) noexcept {
  HEED_NEXT(remove);
  return fails(Call::remove, counted_path(path)) ? -1 : real(path);
}
int rmdir(const char* path) noexcept {
  HEED_NEXT(rmdir);
  return fails(Call::remove, counted_path(path)) ? -1 : real(path);
}
int mkdir(const char* path, mode_t mode) noexcept {
  HEED_NEXT(mkdir);
  return fails(Call::make_folder, counted_path(path)) ? -1 : real(path, mode);
}
ssize_t readlink(const char* path, char* to, std::size_t bytes) noexcept {
  HEED_NEXT(readlink);
  return fails(Call::link, counted_path(path)) ? -1 : real(path, to, bytes);
}
char* realpath(const char* path, char* to) noexcept {
  HEED_NEXT(realpath);
  return fails(Call::link, counted_path(path)) ? nullptr : real(path, to);
}
char* getcwd(char* to, std::size_t bytes) noexcept {
  HEED_NEXT(getcwd);
  return fails(Call::link, ".") ? nullptr : real(to, bytes);
}

#define HEED_STATUS(name, type)                                                    \
  int name(const char* path, struct type* to) noexcept {                           \
    static auto* const real = faults::next<int(const char*, struct type*)>(#name); \
    return fails(Call::status, counted_path(path)) ? -1 : real(path, to);          \
  }
HEED_STATUS(stat, stat)
HEED_STATUS(lstat, stat)
HEED_STATUS(stat64, stat64)
HEED_STATUS(lstat64, stat64)

int fstat(int descriptor, struct stat* to) noexcept {
  static auto* const real = faults::next<int(int, struct stat*)>("fstat");
  return fails(Call::status, counted_path(descriptor)) ? -1 : real(descriptor, to);
}
int fstat64(int descriptor, struct stat64* to) noexcept {
  static auto* const real = faults::next<int(int, struct stat64*)>("fstat64");
  return fails(Call::status, counted_path(descriptor)) ? -1 : real(descriptor, to);
}
int fstatat(int folder, const char* path, struct stat* to, int flags) noexcept {
  static auto* const real = faults::next<int(int, const char*, struct stat*, int)>("fstatat");
  return fails(Call::status, counted_path(path)) ? -1 : real(folder, path, to, flags);
}

dirent* readdir(DIR* folder) {
  HEED_NEXT(readdir);
  return fails(Call::list, counted_path(::dirfd(folder))) ? nullptr : real(folder);
}

}  // extern "C"
