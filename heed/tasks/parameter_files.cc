#include "heed/tasks/parameter_files.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "heed/base/check.h"
#include "heed/base/file.h"
#include "heed/layers/saved_parameters.h"

namespace heed {
namespace {

constexpr std::string_view kPrefix = "parameters-", kSuffix = ".safetensors";

std::string file_name(Index update) { return fmt::format("{}{}{}", kPrefix, update, kSuffix); }

// The update whose file has this very name; none for any other name, such as parameters-best.safetensors.
std::optional<Index> update_of(std::string_view name) {
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) return {};
  const std::string_view digits = name.substr(kPrefix.size(), name.size() - kPrefix.size() - kSuffix.size());
  Index update = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), update);
  if (file_name(update) != name) return {};
  return update;
}

}  // namespace

ParameterFiles::ParameterFiles(std::filesystem::path folder, const ParameterList& parameters)
    : folder_(std::move(folder)), parameters_(parameters) {}

std::filesystem::path ParameterFiles::file(Index update) const { return folder_ / file_name(update); }

void ParameterFiles::write(Index update) const { save_parameters(file(update), parameters_); }

void ParameterFiles::set_to_mean(const std::vector<Index>& updates) const {
  HEED_CHECK(!updates.empty(), "ParameterFiles::set_to_mean: there are no updates");
  std::vector<std::vector<double>> sums;
  for (const auto& [name, var] : parameters_) sums.emplace_back(static_cast<std::size_t>(var.value().size()), 0.0);
  for (Index update : updates) {
    read_parameters(open_safetensors(file(update)), parameters_);
    for (std::size_t p = 0; p < parameters_.size(); ++p) {
      const float* value = parameters_[p].var.value().data<float>();
      for (std::size_t i = 0; i < sums[p].size(); ++i) sums[p][i] += value[i];
    }
  }
  for (std::size_t p = 0; p < parameters_.size(); ++p) {
    float* value = parameters_[p].var.value().data<float>();
    for (std::size_t i = 0; i < sums[p].size(); ++i) {
      value[i] = static_cast<float>(sums[p][i] / static_cast<double>(updates.size()));
    }
  }
}

void ParameterFiles::remove_all_but(const std::vector<Index>& updates) const {
  std::vector<std::filesystem::path> others;
  for (const std::filesystem::path& path : files_in(folder_)) {
    const std::optional<Index> update = update_of(path.filename().string());
    if (update && std::find(updates.begin(), updates.end(), *update) == updates.end()) others.push_back(path);
  }
  for (const std::filesystem::path& path : others) remove_file(path);
}

}  // namespace heed
