// No command writes over what it reads.
//
//   check_outputs({{"--out", path}}, {{"--gold", gold}, {"--source", source}});
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace heed::cli {

// A file of an option; an empty path is none, "-" is standard input.
struct OptionFile {
  std::string option;
  std::filesystem::path path;
};

// Throws CLI::ValidationError that names both options where an output is the same file as an input or as another
// output: one name, two names of one place (relative, through links, also of a file that is not there yet), or two
// links to one file. What is no regular file (/dev/null, a pipe) is nobody's loss.
void check_outputs(const std::vector<OptionFile>& outputs, const std::vector<OptionFile>& inputs);

// The files that a model's folder is read from, there or not, as inputs of this option.
std::vector<OptionFile> model_inputs(const std::string& option, const std::filesystem::path& folder);

}  // namespace heed::cli
