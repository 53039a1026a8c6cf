// Models whose layers attend in two ways: some see all keys before them, some a window of the last.
//
//   attend_by_layer(config, {.all = AttentionChoice("rotary"), .window = windowed(AttentionChoice("rotary"), 512)},
//                   {true, true, false});         // the third layer sees all
#pragma once

#include <vector>

#include "heed/models/transformer_config.h"

namespace heed {

struct TwoChoices {
  AttentionChoice all, window;
};

// The choice with a window of so many keys, the query's own counted; 0 is none.
AttentionChoice windowed(const AttentionChoice& choice, Index keys);

// Gives a decoder's layers their choices: `has_window` has one for each.
void attend_by_layer(TransformerConfig& config, const TwoChoices& choices, const std::vector<bool>& has_window);

}  // namespace heed
