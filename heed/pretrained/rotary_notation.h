// The rotary positions that a Hugging Face config.json describes, as a choice of attention.
//
//   config.attention = rotary_attention(json, head_width);   // "rotary_llama3(base=500000, width=128)"
#pragma once

#include <string_view>

#include "heed/io/json.h"
#include "heed/layers/attention_choice.h"
#include "heed/pretrained/family.h"

namespace heed {

// rope_scaling, or else rope_parameters, which newer files have in its place; an empty object where neither is there.
Json rotary_parameters(const Json& config);

// What these call their scaling, "default" where they call it nothing.
std::string rotary_kind(const Json& parameters);
bool is_longrope(const Json& parameters);  // under either of the names that Phi 3 has had for it

// Where the angles are others in longer texts, which heed has not: no text may be longer than those that have the
// angles of rotary_attention. That is the model's max_length for dynamic scaling, and for longrope
// original_max_position_embeddings.
void end_where_angles_change(const Json& config, FamilyModel& model);

// How many of a head's features turn: the share that rotary_parameters has as partial_rotary_factor, or else the
// configuration under `name`, or `otherwise`. Throws heed::Error that names the place for a share that is none.
Index turned_features(const Json& config, std::string_view name, double otherwise, Index head_width);

// The base that a field says, 10,000 where it is not there. Throws heed::Error that names the place of one not above 1.
double rotary_base(const Json& place, std::string_view name);

// Of the first `width` features of a head, scaled as rotary_parameters says. The base is the rope_theta of these, or
// else the configuration's under `base_name`. Throws heed::Error that names the place for a scaling that heed has not,
// or one for each kind of layer.
AttentionChoice rotary_attention(const Json& config, Index width, std::string_view base_name = "rope_theta");

}  // namespace heed
