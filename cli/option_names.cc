#include "option_names.h"

#include <algorithm>

namespace heed::cli {
namespace {

const CLI::Option* find_option(const CLI::App& command, std::string_view name) {
  if (!name.starts_with("--")) return nullptr;
  name.remove_prefix(2);
  const std::vector<const CLI::Option*> options = command.get_options();
  const auto found = std::ranges::find_if(options, [&](const CLI::Option* option) {
    const std::vector<std::string>& names = option->get_lnames();
    return std::ranges::find(names, name) != names.end();
  });
  return found == options.end() ? nullptr : *found;
}

}  // namespace

bool has_option(const CLI::App& command, std::string_view name) { return find_option(command, name) != nullptr; }

bool was_given(const CLI::App& command, std::string_view name) {
  const CLI::Option* const option = find_option(command, name);
  if (option == nullptr) throw CLI::OptionNotFound(std::string(name));
  return option->count() > 0;
}

}  // namespace heed::cli
