// What heed knows of a family of models that others train: how its configuration reads as heed's, and what its
// parameters are called. A family is a row of families() and a file of its own; it is not another model.
//
//   const FamilyModel model = describe_model(read_json("config.json"));
//   CheckpointParameters loaded(*file, model.rules, model.prefix, model.config.heads);
//   Transformer transformer(loaded, model.config);
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/decode/decoding_options.h"
#include "heed/io/json.h"
#include "heed/models/transformer_config.h"
#include "heed/pretrained/encoder_head_names.h"
#include "heed/pretrained/tensor_rule.h"

namespace heed {

struct FamilyModel {
  TransformerConfig config;
  std::vector<TensorRule> rules;
  std::string prefix;  // that a file without its head leaves out
  // Where all tensors are parameters, with `*`, but for those whose names end as `ignored` says: tables of positions
  // and masks that programs saved beside them.
  std::vector<std::string> parts;
  std::vector<std::string> ignored;
  // Whether a file may leave the norms behind its stacks out, one or both, though its layers do not end in one.
  bool may_lack_final_norms = false;
  // Whether no text may be longer than config.max_length, though positions are computed.
  bool ends_at_max_length = false;
  // The ids that decoding begins and ends with; -1 where the family has none.
  std::int32_t begin = -1, pad = -1;
  std::vector<std::int32_t> ends;
  std::int32_t first = -1;                // what a translation is made to begin with; -1: with anything
  std::int32_t last = -1;                 // what a text of the most tokens is made to end with; -1: with anything
  std::vector<std::int32_t> never;        // what is never written
  std::vector<std::int32_t> never_first;  // what is not written first
  DecodingOptions decoding{};
  // Of a model whose heads are left to choose_heads.
  std::optional<EncoderHeadNames> heads;
  std::string lost_heads;  // the architecture of which the file has not all heads, nor anything of the others
};

struct Family {
  std::string_view model_type;  // "model_type" of config.json
  FamilyModel (*describe)(const Json& config);
};

std::span<const Family> families();

// Throws heed::Error that names the place for a model_type that is none of them, a field that is missing or has no
// meaning, and for what the family may have and heed has not.
FamilyModel describe_model(const Json& config);

}  // namespace heed
