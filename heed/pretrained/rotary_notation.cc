#include "heed/pretrained/rotary_notation.h"

#include <fmt/format.h>

#include <cmath>

#include "heed/pretrained/config_fields.h"

namespace heed {
namespace {

struct Scaling {
  std::string term, numbers;  // "rotary_linear", "factor=2, "
};

// What Yarn multiplies cosines and sines by where the configuration does not say it: equation 22 of Peng et al. 2023,
// or DeepSeek's quotient of two of its kind.
double yarn_attention_factor(const Json& scaling, double factor) {
  const auto magnitude = [&](double weight) { return factor <= 1 ? 1 : 0.1 * weight * std::log(factor) + 1; };
  const double weight = number_or(scaling, {"mscale"}, 0), of_all = number_or(scaling, {"mscale_all_dim"}, 0);
  return weight != 0 && of_all != 0 ? magnitude(weight) / magnitude(of_all) : magnitude(1);
}

std::string kind_of(const Json& scaling) {
  const std::optional<Json> named = find_field(scaling, {"rope_type", "type"});
  return named ? named->string() : "default";
}

Scaling scaling_of(const Json& config, const Json& scaling) {
  const std::string kind = kind_of(scaling);
  // What is dynamic is plain up to max_position_embeddings.
  if (kind == "default" || kind == "dynamic") return {"rotary", ""};
  if (kind != "linear" && kind != "llama3" && kind != "yarn") {
    field(scaling, {"rope_type", "type"})
        .refuse("must be a rotary scaling that heed has (default, dynamic, linear, llama3, yarn)");
  }
  const Index length = extent_or(scaling, {"original_max_position_embeddings"},
                                 extent_or(config, {"original_max_position_embeddings", "max_position_embeddings"}, 1));
  const bool says_no_factor = kind == "yarn" && !find_field(scaling, {"factor"});
  const double factor =
      says_no_factor ? static_cast<double>(extent(config, {"max_position_embeddings"})) / static_cast<double>(length)
                     : field(scaling, {"factor"}).number();
  if (kind == "linear") return {"rotary_linear", fmt::format("factor={}, ", factor)};
  if (kind == "llama3") {
    return {"rotary_llama3",
            fmt::format("factor={}, original_length={}, slow_turns={}, fast_turns={}, ", factor, length,
                        field(scaling, {"low_freq_factor"}).number(), field(scaling, {"high_freq_factor"}).number())};
  }
  refuse_unless(scaling, "truncate", true);
  return {"rotary_yarn",
          fmt::format("factor={}, original_length={}, slow_turns={}, fast_turns={}, attention_factor={}, ", factor,
                      length, number_or(scaling, {"beta_slow"}, 1), number_or(scaling, {"beta_fast"}, 32),
                      number_or(scaling, {"attention_factor"}, yarn_attention_factor(scaling, factor)))};
}

}  // namespace

Json rotary_parameters(const Json& config) {
  return find_field(config, {"rope_scaling", "rope_parameters"}).value_or(Json::object());
}

Index turned_features(const Json& config, std::string_view name, double otherwise, Index head_width) {
  std::optional<Json> said = find_field(rotary_parameters(config), {"partial_rotary_factor"});
  if (!said) said = find_field(config, {name});
  const double share = said ? said->number() : otherwise;
  if (!(share > 0 && share <= 1)) said->refuse("must be above 0 and at most 1");
  const Index features = static_cast<Index>(static_cast<double>(head_width) * share);
  if (said && features < 2) said->refuse(fmt::format("leaves no pair of a head's {} features", head_width));
  return features;
}

bool rotary_ends(const Json& config) { return kind_of(rotary_parameters(config)) == "dynamic"; }

double rotary_base(const Json& place, std::string_view name) {
  const std::optional<Json> said = find_field(place, {name});
  if (!said) return 10000;
  if (!(said->number() > 1)) said->refuse("must be above 1");
  return said->number();
}

AttentionChoice rotary_attention(const Json& config, Index width, std::string_view base_name) {
  const Json parameters = rotary_parameters(config);
  for (const char* layers : {"full_attention", "sliding_attention"}) {
    if (parameters.has(layers)) parameters[layers].refuse("heed has models whose layers all turn alike");
  }
  const auto [term, numbers] = scaling_of(config, parameters);
  const double base =
      find_field(parameters, {"rope_theta"}) ? rotary_base(parameters, "rope_theta") : rotary_base(config, base_name);
  return AttentionChoice(fmt::format("{}({}base={}, width={})", term, numbers, base, width));
}

}  // namespace heed
