#include "heed/layers/renames.h"

#include <fmt/format.h>

#include <algorithm>

#include "heed/base/check.h"

namespace heed {
namespace {

using Path = std::vector<std::string>;

constexpr std::string_view kAny = "*";

Path split(std::string_view path) {
  Path elements;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('.', begin), path.size());
    elements.emplace_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  return elements;
}

// Whether the rule's elements begin the name; `stars` becomes what its `*` stand for.
bool begins(const Path& rule, const Path& name, Path& stars) {
  stars.clear();
  if (rule.size() > name.size()) return false;
  for (std::size_t i = 0; i < rule.size(); ++i) {
    if (rule[i] == kAny) {
      stars.push_back(name[i]);
    } else if (rule[i] != name[i]) {
      return false;
    }
  }
  return true;
}

}  // namespace

Renames::Renames(std::initializer_list<std::pair<std::string_view, std::string_view>> rules) {
  for (const auto& [own, other] : rules) {
    rules_.emplace_back(split(own), split(other));
    const auto& [from, to] = rules_.back();
    HEED_CHECK(std::ranges::count(to, kAny) <= std::ranges::count(from, kAny),
               "Renames: {} has more * than {}, which it takes the place of", other, own);
  }
}

std::string Renames::operator()(std::string_view name) const {
  const Path elements = split(name);
  Path stars;
  for (const auto& [from, to] : rules_) {
    if (!begins(from, elements, stars)) continue;
    Path renamed = to;
    auto star = stars.begin();
    for (std::string& element : renamed) {
      if (element == kAny) element = *star++;
    }
    renamed.insert(renamed.end(), elements.begin() + static_cast<std::ptrdiff_t>(from.size()), elements.end());
    return fmt::format("{}", fmt::join(renamed, "."));
  }
  return std::string(name);
}

}  // namespace heed
