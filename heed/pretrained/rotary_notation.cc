#include "heed/pretrained/rotary_notation.h"

#include <fmt/format.h>

#include <cmath>
#include <vector>

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

Index original_length(const Json& config, const Json& scaling) {
  return extent_or(scaling, {"original_max_position_embeddings"},
                   extent_or(config, {"original_max_position_embeddings", "max_position_embeddings"}, 1));
}

// The factors of texts of the original length or less. Where the configuration does not say what cosines and sines are
// multiplied by, it is sqrt(1 + ln s / ln L) of texts s times as long as the L of training.
Scaling longrope_of(const Json& config, const Json& scaling, Index width) {
  const Json list = field(scaling, {"short_factor"});
  std::vector<double> factors;
  for (const Json& factor : list.items()) {
    if (!(factor.number() > 0)) factor.refuse("must be above 0");
    factors.push_back(factor.number());
  }
  if (std::ssize(factors) != width / 2) list.refuse(fmt::format("must have a factor for each of {} pairs", width / 2));
  const double length = static_cast<double>(original_length(config, scaling));
  if (length < 2) scaling.refuse("must be of a model that was trained on 2 positions or more");
  const bool says_length = find_field(config, {"original_max_position_embeddings"}).has_value();
  const std::optional<Json> factor = find_field(scaling, {"factor"});
  const double times = factor && !says_length
                           ? factor->number()
                           : static_cast<double>(extent(config, {"max_position_embeddings"})) / length;
  const double sharper = times > 1 ? std::sqrt(1 + std::log(times) / std::log(length)) : 1;
  return {"rotary_longrope", fmt::format("attention_factor={}, factors={}, ",
                                         number_or(scaling, {"attention_factor"}, sharper), fmt::join(factors, ":"))};
}

Scaling scaling_of(const Json& config, const Json& scaling, Index width) {
  const std::string kind = rotary_kind(scaling);
  // What is dynamic is plain up to max_position_embeddings.
  if (kind == "default" || kind == "dynamic") return {"rotary", ""};
  if (is_longrope(scaling)) return longrope_of(config, scaling, width);
  if (kind != "linear" && kind != "llama3" && kind != "yarn") {
    field(scaling, {"type", "rope_type"})
        .refuse("must be a rotary scaling that heed has (default, dynamic, linear, llama3, yarn, longrope)");
  }
  const Index length = original_length(config, scaling);
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

std::string rotary_kind(const Json& scaling) {
  // Hugging Face's classes copy the first over the second.
  const std::optional<Json> named = find_field(scaling, {"type", "rope_type"});
  return named ? named->string() : "default";
}

bool is_longrope(const Json& scaling) {
  const std::string kind = rotary_kind(scaling);
  return kind == "longrope" || kind == "su";
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

void end_where_angles_change(const Json& config, FamilyModel& model) {
  const Json scaling = rotary_parameters(config);
  if (is_longrope(scaling)) model.config.max_length = original_length(config, scaling);
  model.ends_at_max_length = is_longrope(scaling) || rotary_kind(scaling) == "dynamic";
}

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
  const auto [term, numbers] = scaling_of(config, parameters, width);
  const double base =
      find_field(parameters, {"rope_theta"}) ? rotary_base(parameters, "rope_theta") : rotary_base(config, base_name);
  return AttentionChoice(fmt::format("{}({}base={}, width={})", term, numbers, base, width));
}

}  // namespace heed
