// Configurations of small models of others, for tests.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "heed/io/json.h"
#include "heed/pretrained/family.h"

namespace heed {

inline Json llama(std::vector<Json::Member> more = {}) {
  Json config = Json::object({{"model_type", "llama"},
                              {"vocab_size", 100},
                              {"hidden_size", 32},
                              {"intermediate_size", 64},
                              {"num_hidden_layers", 2},
                              {"num_attention_heads", 4},
                              {"num_key_value_heads", 2},
                              {"max_position_embeddings", 64}});
  for (const auto& [name, value] : more) config.set(name, value);
  return config;
}

inline Json of_type(const char* type, std::vector<Json::Member> more = {}) {
  more.insert(more.begin(), {"model_type", type});
  return llama(std::move(more));
}

inline std::string attention_of(const Json& config) { return describe_model(config).config.attention.text(); }

}  // namespace heed
