#include "heed/tasks/candidate.h"

#include <fmt/format.h>

namespace heed {

bool better(const Candidate& a, const Candidate& b) {
  if (a.bleu != b.bleu) return a.bleu > b.bleu;
  return a.loss < b.loss;
}

std::string describe(const Candidate& candidate) {
  const std::vector<Index>& updates = candidate.updates;
  if (updates.size() == 1) return fmt::format("the checkpoint of update {}", updates.front());
  return fmt::format("the mean of the checkpoints of updates {} and {}",
                     fmt::join(updates.begin(), updates.end() - 1, ", "), updates.back());
}

}  // namespace heed
