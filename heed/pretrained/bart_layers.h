// The stacks of BART's build, which Marian and Whisper have too: the names of their layers, and the fields of
// config.json that say how large they are.
//
//   FamilyModel model = describe_bart_layers(config, KeyBias::there);
//   model.rules.push_back({"embedding", {"model.shared"}});
#pragma once

#include "heed/pretrained/family.h"

namespace heed {

enum class KeyBias { there, none };  // of attention's projection of keys

// Vocabulary, extents, activation, the layers' rules, and what decoding begins and ends with. Throws heed::Error naming
// the field where the stacks' builds differ, which heed has not.
FamilyModel describe_bart_layers(const Json& config, KeyBias key_bias);

}  // namespace heed
