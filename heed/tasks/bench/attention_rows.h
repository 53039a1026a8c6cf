// The rows of `heed bench attention`: which problems are timed, and what beside.
//
//   for (const AttentionRow& row : attention_rows(threads)) print(row.name);
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "heed/tasks/bench/attention_case.h"

namespace heed {

// One problem: its spec is made when it is its turn, since a dense bias is large.
struct AttentionSide {
  AttentionShape shape;
  BenchPass pass = BenchPass::forward;
  std::function<AttentionSpec(const AttentionShape& shape)> spec{};  // without one: the plain spec
  int threads = 0;                                                   // 0: as many as for every row
  bool from_memory = false;  // keys and values come from memory, not from a cache, and that is its limit

  AttentionCase make() const;
};

struct AttentionRow {
  std::string name;
  AttentionSide side;
  std::optional<AttentionSide> base{};  // timed in turn with it
  std::string over{};                   // what the base is
  bool of_allowed_pairs = false;        // the ratio is over the base's time times the share of pairs that are allowed
};

// Every row, in the order in which they are printed; those that compare threads where there are two at least.
std::vector<AttentionRow> attention_rows(int threads);

}  // namespace heed
