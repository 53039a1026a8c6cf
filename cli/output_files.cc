#include "output_files.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <optional>
#include <system_error>
#include <utility>

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
std::filesystem::path place_of(std::filesystem::path path) {
  std::error_code ignored;  // where the system cannot follow a path, opening it will say so
  for (int links = 0; links < kMostLinks && std::filesystem::is_symlink(path, ignored); ++links) {
    path = path.parent_path() / std::filesystem::read_symlink(path, ignored);
  }
  const std::filesystem::path absolute = std::filesystem::absolute(path, ignored);
  const std::filesystem::path place = std::filesystem::weakly_canonical(absolute, ignored);
  return place.empty() ? absolute.lexically_normal() : place;
}

FileIdentity identity_of(const std::filesystem::path& path) {
  const bool standard_input = path == "-";
  FileIdentity identity;
  if (!standard_input) identity.place = place_of(path);
  struct ::stat status {};
  const int failed = standard_input ? ::fstat(STDIN_FILENO, &status) : ::stat(path.c_str(), &status);
  if (failed == 0) identity.inode = {status.st_dev, status.st_ino};
  identity.special = failed == 0 && !S_ISREG(status.st_mode);
  return identity;
}

}  // namespace

void check_outputs(const std::vector<OptionFile>& outputs, const std::vector<OptionFile>& inputs) {
  std::vector<std::pair<const OptionFile*, FileIdentity>> others;
  for (const OptionFile& input : inputs) {
    if (!input.path.empty()) others.emplace_back(&input, identity_of(input.path));
  }
  const std::size_t read = others.size();
  for (const OptionFile& output : outputs) {
    if (output.path.empty()) continue;
    const FileIdentity identity = identity_of("." / output.path);  // "-" is a file's name here
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
