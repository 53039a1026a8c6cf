#include "heed/pretrained/layer_windows.h"

#include <fmt/format.h>

#include <algorithm>

namespace heed {

AttentionChoice windowed(const AttentionChoice& choice, Index keys) {
  return keys == 0 ? choice : AttentionChoice(fmt::format("{} + window({})", choice.text(), keys - 1));
}

void attend_by_layer(TransformerConfig& config, const TwoChoices& choices, const std::vector<bool>& has_window) {
  const bool first = has_window.front();
  config.attention = first ? choices.window : choices.all;
  const bool all_alike = std::ranges::count(has_window, first) == std::ssize(has_window);
  config.alternate = choices.window != choices.all && !all_alike;
  if (!config.alternate) return;
  config.alternate_attention = first ? choices.all : choices.window;
  if (std::ranges::adjacent_find(has_window) == has_window.end()) return;  // every other one
  for (std::size_t layer = 0; layer < has_window.size(); ++layer) {
    if (has_window[layer] != first) config.alternate_layers.push_back(static_cast<Index>(layer));
  }
}

}  // namespace heed
