#include "heed/pretrained/rotary_notation.h"

#include <fmt/format.h>

#include <cmath>

#include "heed/pretrained/config_fields.h"

namespace heed {
namespace {

struct Scaling {
  std::string term, numbers;  // "rotary_linear", "factor=2, "
};

Scaling scaling_of(const Json& config, const Json& scaling) {
  const std::optional<Json> named = find_field(scaling, {"rope_type", "type"});
  const std::string kind = named ? named->string() : "default";
  if (kind == "default") return {"rotary", ""};
  const double factor = field(scaling, {"factor"}).number();
  const Index length = extent_or(scaling, {"original_max_position_embeddings"},
                                 extent_or(config, {"original_max_position_embeddings", "max_position_embeddings"}, 1));
  if (kind == "linear") return {"rotary_linear", fmt::format("factor={}, ", factor)};
  if (kind == "llama3") {
    return {"rotary_llama3",
            fmt::format("factor={}, original_length={}, slow_turns={}, fast_turns={}, ", factor, length,
                        field(scaling, {"low_freq_factor"}).number(), field(scaling, {"high_freq_factor"}).number())};
  }
  if (kind == "yarn") {
    const double attention_factor = number_or(scaling, {"attention_factor"}, 0.1 * std::log(factor) + 1);
    return {"rotary_yarn",
            fmt::format("factor={}, original_length={}, slow_turns={}, fast_turns={}, attention_factor={}, ", factor,
                        length, number_or(scaling, {"beta_slow"}, 1), number_or(scaling, {"beta_fast"}, 32),
                        attention_factor)};
  }
  named->refuse("must be a rotary scaling that heed has (default, linear, llama3, yarn)");
}

}  // namespace

AttentionChoice rotary_attention(const Json& config, Index width) {
  const Json parameters = find_field(config, {"rope_parameters", "rope_scaling"}).value_or(Json::object());
  const double base =
      number_or(parameters, {"rope_theta"}, number_or(config, {"rope_theta", "rotary_emb_base"}, 10000));
  const auto [term, numbers] = scaling_of(config, parameters);
  return AttentionChoice(fmt::format("{}({}base={}, width={})", term, numbers, base, width));
}

}  // namespace heed
