#include "output_files.h"

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <map>
#include <optional>
#include <string>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "heed/base/check.h"
#include "heed/tasks/model_folder.h"

namespace heed::cli {
namespace {

constexpr int kMostLinks = 40;  // that a path may lead through, as in the system's own lookup

// What two names of one file have in common.
struct FileIdentity {
  std::filesystem::path place;  // absolute, without links, also of what is not there
  std::optional<std::pair<::dev_t, ::ino_t>> inode;
  bool special = false;  // there, and no regular file
};

// Files by what their names have in common.
class FilesSeen {
 public:
  // The same file under the name that it was added with; null where there is none.
  const OptionFile* find(const FileIdentity& file) const {
    if (file.special) return nullptr;
    if (const auto at = by_place_.find(file.place.string()); at != by_place_.end()) return at->second;
    if (!file.inode) return nullptr;
    const auto at = by_inode_.find(*file.inode);
    return at == by_inode_.end() ? nullptr : at->second;
  }

  void add(const FileIdentity& file, const OptionFile& name) {
    if (file.special) return;
    by_place_.emplace(file.place.string(), &name);
    if (file.inode) by_inode_.emplace(*file.inode, &name);
  }

 private:
  std::unordered_map<std::string, const OptionFile*> by_place_;
  std::map<std::pair<::dev_t, ::ino_t>, const OptionFile*> by_inode_;
};

// weakly_canonical stops at a link to what is not there, so the last name's links are followed first.
std::filesystem::path place_of(std::filesystem::path path, std::error_code& error) {
  for (int links = 0; links < kMostLinks; ++links) {
    const std::filesystem::file_status status = std::filesystem::symlink_status(path, error);
    if (std::filesystem::status_known(status)) error.clear();  // nothing there is no error
    if (error || !std::filesystem::is_symlink(status)) break;
    const std::filesystem::path next = std::filesystem::read_symlink(path, error);
    if (error) break;
    path = path.parent_path() / next;
  }
  const std::filesystem::path absolute = error ? path : std::filesystem::absolute(path, error);
  return error ? absolute : std::filesystem::weakly_canonical(absolute, error);
}

// Throws heed::Error, which names `name`, where the system cannot say what is at the path: a command that does not know
// whether it would write over what it reads must not begin.
FileIdentity identity_of(const std::filesystem::path& path, const std::string& name) {
  const bool standard_input = path == "-";
  FileIdentity identity;
  std::error_code error;
  if (!standard_input) identity.place = place_of(path, error);
  struct ::stat status {};
  const bool there = !error && (standard_input ? ::fstat(STDIN_FILENO, &status) : ::stat(path.c_str(), &status)) == 0;
  if (!error && !there && errno != ENOENT && errno != ENOTDIR) error.assign(errno, std::generic_category());
  HEED_CHECK(!error, "{}: cannot look at it: {}", standard_input ? "standard input" : name, error.message());
  if (there) identity.inode = {status.st_dev, status.st_ino};
  identity.special = there && !S_ISREG(status.st_mode);
  return identity;
}

}  // namespace

void check_outputs(const std::vector<OptionFile>& outputs, const std::vector<OptionFile>& inputs) {
  FilesSeen read, written;
  for (const OptionFile& input : inputs) {
    if (!input.path.empty()) read.add(identity_of(input.path, input.path.string()), input);
  }
  for (const OptionFile& output : outputs) {
    if (output.path.empty()) continue;
    const FileIdentity file = identity_of("." / output.path, output.path.string());  // "-" is a file's name here
    for (const FilesSeen* seen : {&read, &written}) {
      const OptionFile* const other = seen->find(file);
      if (other == nullptr) continue;
      throw CLI::ValidationError(output.option,
                                 fmt::format("{} is the same file as {}, which is {} too ({})", output.path.string(),
                                             other->path.string(), seen == &read ? "read" : "written", other->option));
    }
    written.add(file, output);
  }
}

std::vector<OptionFile> model_inputs(const std::string& option, const std::filesystem::path& folder) {
  if (folder.empty()) return {};
  std::vector<OptionFile> files{{option, folder / "config.json"}, {option, folder / "model.safetensors"}};
  for (const std::filesystem::path& file : vocabulary_files(folder)) files.push_back({option, file});
  return files;
}

}  // namespace heed::cli
