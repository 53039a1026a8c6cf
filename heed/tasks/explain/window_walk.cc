#include <cstdlib>
#include <utility>

#include "heed/ops/attention/spec/mask.h"
#include "heed/tasks/explain/walk_writer.h"
#include "heed/tasks/explain/worked_examples.h"

namespace heed {
namespace {

constexpr Index kPositions = 12;

LabelledMatrix square(std::string name, std::vector<double> values) {
  return {.name = std::move(name),
          .row_labels = numbered_labels("q", kPositions, 0),
          .column_labels = numbered_labels("k", kPositions, 0),
          .values = std::move(values),
          .shown = LabelledMatrix::Shown::pattern};
}

// 1 where the mask allows key j to query i.
LabelledMatrix allowed(std::string name, const Mask& mask) {
  const MaskRows rows(mask, {1, 1, kPositions, kPositions}, "explain_windows");
  std::vector<double> values;
  for (Index i = 0; i < kPositions; ++i) {
    for (Index j = 0; j < kPositions; ++j) values.push_back(rows.allows(0, 0, i, j) ? 1 : 0);
  }
  return square(std::move(name), std::move(values));
}

// 1 where query i of the second layer reads something of position j: through one that the first layer let read j.
LabelledMatrix through_two_layers(const LabelledMatrix& once) {
  std::vector<double> values;
  for (Index i = 0; i < kPositions; ++i) {
    for (Index j = 0; j < kPositions; ++j) {
      double paths = 0;
      for (Index between = 0; between < kPositions; ++between) paths += once.value(i, between) * once.value(between, j);
      values.push_back(paths > 0 ? 1 : 0);
    }
  }
  return square(once.name + ", twice", std::move(values));
}

double count(const LabelledMatrix& pattern) {
  double pairs = 0;
  for (double value : pattern.values) pairs += value;
  return pairs;
}

LabelledMatrix costs(const std::vector<LabelledMatrix>& patterns) {
  LabelledMatrix table{.name = "cost", .column_labels = {"pairs", "share"}};
  for (const LabelledMatrix& pattern : patterns) {
    table.row_labels.push_back(pattern.name);
    table.values.push_back(count(pattern));
    table.values.push_back(count(pattern) / (kPositions * kPositions));
  }
  return table;
}

}  // namespace

Explanation explain_windows(Language language) {
  const LabelledMatrix full = allowed("full", {}), causal = allowed("causal", Mask::causal()),
                       window = allowed("window", Mask::sliding_window(2, 0)),
                       strided = allowed("strided", Mask::strided({.stride = 4}) & Mask::causal()),
                       dilated = allowed("dilated", Mask::predicate([](Index, Index, Index i, Index j) {
                                           return std::abs(i - j) <= 4 && (i - j) % 2 == 0;
                                         })),
                       global = allowed("global", Mask::predicate([](Index, Index, Index i, Index j) {
                                          return std::abs(i - j) <= 1 || i == 0 || j == 0;
                                        }));

  WalkWriter walk("windows", language);
  walk.add("full", "allowed(i, j) = true", {full});
  walk.add("causal", "allowed(i, j) = j <= i", {causal});
  walk.add("window", "allowed(i, j) = i - 2 <= j <= i", {window});
  walk.add("strided", "allowed(i, j) = j <= i and (i - j <= 4 or (i - j) mod 4 = 0)", {strided});
  walk.add("dilated", "allowed(i, j) = |i - j| <= 2 * 2 and |i - j| mod 2 = 0", {dilated});
  walk.add("global", "allowed(i, j) = |i - j| <= 1 or i = 0 or j = 0", {global});
  walk.add("cost", "pairs = sum_i sum_j allowed(i, j),   share = pairs / (12 * 12)",
           {costs({full, causal, window, strided, dilated, global})});
  walk.add("reach", "twice(i, j) = some k: allowed(i, k) and allowed(k, j)",
           {through_two_layers(window), through_two_layers(strided), through_two_layers(dilated),
            through_two_layers(global)});
  return std::move(walk).finish({full, causal, window, strided, dilated, global});
}

}  // namespace heed
