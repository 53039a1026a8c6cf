#include "heed/text/tokenizer/split_behaviour.h"

#include <array>
#include <string_view>
#include <utility>

namespace heed {
namespace {

constexpr std::array<std::pair<std::string_view, SplitBehaviour>, 5> kBehaviourNames = {{
    {"Removed", SplitBehaviour::removed},
    {"Isolated", SplitBehaviour::isolated},
    {"MergedWithPrevious", SplitBehaviour::merged_with_previous},
    {"MergedWithNext", SplitBehaviour::merged_with_next},
    {"Contiguous", SplitBehaviour::contiguous},
}};

using Parts = std::vector<std::pair<std::size_t, std::size_t>>;

// A match joins the part before it, but for one behind another match.
Parts merged_with_previous(const std::vector<Stretch>& stretches) {
  Parts parts;
  bool after_match = false;
  for (const Stretch& stretch : stretches) {
    if (stretch.is_match && !after_match && !parts.empty()) {
      parts.back().second = stretch.end;
    } else {
      parts.emplace_back(stretch.begin, stretch.end);
    }
    after_match = stretch.is_match;
  }
  return parts;
}

Parts merged_with_next(const std::vector<Stretch>& stretches) {
  Parts parts;  // from the last to the first
  bool before_match = false;
  for (std::size_t i = stretches.size(); i-- > 0;) {
    const Stretch& stretch = stretches[i];
    if (stretch.is_match && !before_match && !parts.empty()) {
      parts.back().first = stretch.begin;
    } else {
      parts.emplace_back(stretch.begin, stretch.end);
    }
    before_match = stretch.is_match;
  }
  return {parts.rbegin(), parts.rend()};
}

Parts contiguous(const std::vector<Stretch>& stretches) {
  Parts parts;
  bool after_match = false;
  for (const Stretch& stretch : stretches) {
    if (stretch.is_match == after_match && !parts.empty()) {
      parts.back().second = stretch.end;
    } else {
      parts.emplace_back(stretch.begin, stretch.end);
    }
    after_match = stretch.is_match;
  }
  return parts;
}

Parts parts_of(const std::vector<Stretch>& stretches, SplitBehaviour behaviour) {
  switch (behaviour) {
    case SplitBehaviour::merged_with_previous:
      return merged_with_previous(stretches);
    case SplitBehaviour::merged_with_next:
      return merged_with_next(stretches);
    case SplitBehaviour::contiguous:
      return contiguous(stretches);
    case SplitBehaviour::removed:
    case SplitBehaviour::isolated:
      break;
  }
  Parts parts;
  for (const Stretch& stretch : stretches) {
    if (behaviour == SplitBehaviour::isolated || !stretch.is_match) parts.emplace_back(stretch.begin, stretch.end);
  }
  return parts;
}

}  // namespace

SplitBehaviour read_split_behaviour(const Json& json) {
  for (const auto& [name, behaviour] : kBehaviourNames) {
    if (json.string() == name) return behaviour;
  }
  json.refuse("must be Removed, Isolated, MergedWithPrevious, MergedWithNext or Contiguous");
}

void for_each_part(const std::vector<Stretch>& stretches, SplitBehaviour behaviour,
                   const std::function<void(std::size_t begin, std::size_t end)>& use) {
  for (const auto& [begin, end] : parts_of(stretches, behaviour)) {
    if (begin < end) use(begin, end);
  }
}

}  // namespace heed
