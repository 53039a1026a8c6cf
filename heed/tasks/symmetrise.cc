#include "heed/tasks/symmetrise.h"

#include <algorithm>
#include <set>

namespace heed {
namespace {

// What grows: links, and the words that have one.
class GrowingAlignment {
 public:
  void add(const AlignmentLink& link) {
    links_.insert(link);
    sources_.insert(link.source);
    targets_.insert(link.target);
  }

  // The union's links beside one that is there, as long as they bring in a word.
  void grow(const std::set<AlignmentLink>& all) {
    constexpr AlignmentLink kSteps[] = {{-1, 0}, {0, -1}, {1, 0}, {0, 1}, {-1, -1}, {-1, 1}, {1, -1}, {1, 1}};
    for (bool grown = true; grown;) {
      grown = false;
      for (const AlignmentLink& link : links_) {  // what is added behind this one is met in the same pass
        for (const AlignmentLink& step : kSteps) {
          const AlignmentLink beside{link.source + step.source, link.target + step.target};
          if (!all.contains(beside) || (has_source(beside) && has_target(beside))) continue;
          add(beside);
          grown = true;
        }
      }
    }
  }

  void finish(const std::set<AlignmentLink>& links, bool both_words) {
    for (const AlignmentLink& link : links) {
      const bool source = has_source(link), target = has_target(link);
      if (both_words ? !source && !target : !source || !target) add(link);
    }
  }

  AlignmentLinks links() const { return {links_.begin(), links_.end()}; }

 private:
  bool has_source(const AlignmentLink& link) const { return sources_.contains(link.source); }
  bool has_target(const AlignmentLink& link) const { return targets_.contains(link.target); }

  std::set<AlignmentLink> links_;
  std::set<Index> sources_, targets_;
};

}  // namespace

AlignmentLinks transpose(const AlignmentLinks& links) {
  AlignmentLinks other;
  for (const AlignmentLink& link : links) other.push_back({link.target, link.source});
  std::ranges::sort(other);
  return other;
}

AlignmentLinks symmetrise(const AlignmentLinks& forward, const AlignmentLinks& backward, Symmetrisation how) {
  const std::set<AlignmentLink> first(forward.begin(), forward.end()), second(backward.begin(), backward.end());
  std::set<AlignmentLink> all = first;
  all.insert(second.begin(), second.end());
  if (how == Symmetrisation::unite) return {all.begin(), all.end()};

  GrowingAlignment alignment;
  for (const AlignmentLink& link : first) {
    if (second.contains(link)) alignment.add(link);
  }
  if (how == Symmetrisation::intersection) return alignment.links();
  alignment.grow(all);
  if (how != Symmetrisation::grow_diag) {
    const bool both_words = how == Symmetrisation::grow_diag_final_and;
    alignment.finish(first, both_words);
    alignment.finish(second, both_words);
  }
  return alignment.links();
}

}  // namespace heed
