#include "heed/pretrained/name_pattern.h"

#include <algorithm>

namespace heed {

std::optional<std::string> begins_name(std::string_view pattern, std::string_view name,
                                       std::vector<std::string>& stars) {
  stars.clear();
  while (!pattern.empty()) {
    const std::size_t end_of_pattern = std::min(pattern.find('.'), pattern.size());
    const std::size_t end_of_name = std::min(name.find('.'), name.size());
    const std::string_view element = name.substr(0, end_of_name);
    if (pattern.substr(0, end_of_pattern) == "*" && !element.empty()) {
      stars.emplace_back(element);
    } else if (pattern.substr(0, end_of_pattern) != element) {
      return {};
    }
    pattern.remove_prefix(std::min(end_of_pattern + 1, pattern.size()));
    name.remove_prefix(end_of_name);
    if (!pattern.empty()) {
      if (name.empty()) return {};
      name.remove_prefix(1);
    }
  }
  return std::string(name);
}

std::string fill_stars(std::string_view pattern, std::span<const std::string> stars) {
  std::string name;
  std::size_t star = 0;
  for (char c : pattern) {
    if (c == '*' && star < stars.size()) {
      name += stars[star++];
    } else {
      name += c;
    }
  }
  return name;
}

}  // namespace heed
