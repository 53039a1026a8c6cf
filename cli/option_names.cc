#include "option_names.h"

#include <algorithm>

namespace heed::cli {

bool has_option(const CLI::App& command, std::string_view name) {
  if (!name.starts_with("--")) return false;
  name.remove_prefix(2);
  return std::ranges::any_of(command.get_options(), [&](const CLI::Option* option) {
    const std::vector<std::string>& names = option->get_lnames();
    return std::ranges::find(names, name) != names.end();
  });
}

}  // namespace heed::cli
