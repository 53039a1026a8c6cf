#include "output_files.h"

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <optional>
#include <system_error>
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

  bool same_file(const FileIdentity& other) const {
    if (special || other.special) return false;
    return place == other.place || (inode && inode == other.inode);
  }
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
  std::vector<std::pair<const OptionFile*, FileIdentity>> others;
  for (const OptionFile& input : inputs) {
    if (!input.path.empty()) others.emplace_back(&input, identity_of(input.path, input.path.string()));
  }
  const std::size_t read = others.size();
  for (const OptionFile& output : outputs) {
    if (output.path.empty()) continue;
    const FileIdentity identity = identity_of("." / output.path, output.path.string());  // "-" is a file's name here
    for (std::size_t i = 0; i < others.size(); ++i) {
      const auto& [other, other_identity] = others[i];
      if (!identity.same_file(other_identity)) continue;
      throw CLI::ValidationError(output.option,
                                 fmt::format("{} is the same file as {}, which is {} too ({})", output.path.string(),
                                             other->path.string(), i < read ? "read" : "written", other->option));
    }
    others.emplace_back(&output, identity);
  }
}

std::vector<OptionFile> model_inputs(const std::string& option, const std::filesystem::path& folder) {
  if (folder.empty()) return {};
  std::vector<OptionFile> files{{option, folder / "config.json"}, {option, folder / "model.safetensors"}};
  for (const std::filesystem::path& file : vocabulary_files(folder)) files.push_back({option, file});
  return files;
}

}  // namespace heed::cli
