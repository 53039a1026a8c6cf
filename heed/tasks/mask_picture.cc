#include "heed/tasks/mask_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "heed/base/check.h"
#include "heed/layers/attention_choice.h"
#include "heed/layers/drawn_parameters.h"
#include "heed/ops/attention/spec/mask.h"

namespace heed {
namespace {

constexpr Index kLongestMask = 2000;

std::string_view stripped(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  return first == std::string_view::npos ? "" : text.substr(first, text.find_last_not_of(' ') - first + 1);
}

struct Terms {
  AttentionChoice choice;
  bool causal = false;

  std::string text() const {
    const std::string others = choice.terms().empty() ? "" : choice.text();
    return fmt::format("{}{}{}", causal ? "causal" : "", causal && !others.empty() ? " + " : "", others);
  }
};

// A layer's notation has no causal: whether it is belongs to the place of the layer.
Terms read_terms(std::string_view text) {
  Terms terms;
  std::string others;
  while (true) {
    const std::size_t end = std::min(text.find('+'), text.size());
    const std::string_view term = stripped(text.substr(0, end));
    HEED_CHECK(!term.empty(), "a mask is missing: name one, or several with + between them");
    if (term == "causal") {
      terms.causal = true;
    } else {
      others += fmt::format("{}{}", others.empty() ? "" : " + ", term);
    }
    if (end == text.size()) break;
    text.remove_prefix(end + 1);
  }
  if (!others.empty()) terms.choice = AttentionChoice(others);
  for (const AttentionChoice::Chosen& chosen : terms.choice.terms()) {
    HEED_CHECK(chosen.term->role == AttentionTerm::Role::mask, "'{}' is no mask", chosen.term->name);
  }
  return terms;
}

}  // namespace

std::string mask_names() {
  std::string names = "causal";
  for (const AttentionTerm& term : attention_terms()) {
    if (term.role == AttentionTerm::Role::mask) names += fmt::format(", {}", term.name);
  }
  return names;
}

Heatmap mask_heatmap(std::string_view text, Index length) {
  HEED_CHECK(length >= 1 && length <= kLongestMask, "a mask's length must lie in [1, {}], but is {}", kLongestMask,
             length);
  const Terms terms = read_terms(text);
  DrawnParameters none_are_drawn{Rng(1)};
  Mask mask =
      terms.choice
          .make({.scope = none_are_drawn, .heads = 1, .head_width = 1, .max_positions = length, .causal = terms.causal})
          .spec.mask;
  if (terms.causal) mask = mask & Mask::causal();
  const MaskRows rows(mask, {1, 1, length, length}, "mask_heatmap");
  Heatmap map{.title = terms.text(), .row_title = "queries", .column_title = "keys"};
  map.panels.push_back({"allowed", {}});
  Index allowed = 0;
  for (Index i = 0; i < length; ++i) {
    map.row_labels.push_back(fmt::format("{}", i));
    for (Index j = 0; j < length; ++j) {
      const bool allows = rows.allows(0, 0, i, j);
      allowed += allows ? 1 : 0;
      map.panels.front().values.push_back(allows ? 1 : 0);
    }
  }
  map.column_labels = map.row_labels;
  map.scale = false;
  map.label_spacing = 14;
  map.subtitle = fmt::format("{} of {} pairs, {:.3g} %", allowed, length * length,
                             100 * static_cast<double>(allowed) / static_cast<double>(length * length));
  map.description = fmt::format("A mask of {} queries and {} keys: {}.", length, length, map.subtitle);
  return map;
}

}  // namespace heed
