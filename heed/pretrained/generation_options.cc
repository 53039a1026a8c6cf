#include "heed/pretrained/generation_options.h"

#include <algorithm>
#include <limits>

#include "heed/pretrained/config_fields.h"

namespace heed {
namespace {

void read(const Json& generation, std::string_view name, NumberRange range, double& value) {
  const std::optional<Json> found = find_field(generation, {name});
  if (!found) return;
  if (!range.contains(found->number())) found->refuse("must be " + range.text());
  value = found->number();
}

void read(const Json& generation, std::string_view name, Index& value) {
  if (const std::optional<Json> found = find_field(generation, {name})) value = found->integer(0, kAnyLength);
}

// A number of tokens, of which `others` are the begin and the end token. Whatever is too large to be reached is any.
void read_length(const Json& generation, std::string_view name, Index others, Index least, Index& tokens) {
  const std::optional<Json> found = find_field(generation, {name});
  if (!found) return;
  const Index length = found->integer(0, std::numeric_limits<Index>::max());
  tokens = std::clamp(length - others, least, kAnyLength);
}

void read_search(const Json& generation, BeamOptions& search) {
  if (const std::optional<Json> beams = find_field(generation, {"num_beams"})) {
    search.beam = beams->integer(1, kWidestBeam);
  }
  read(generation, "length_penalty", {}, search.length_penalty);
  if (const std::optional<Json> early = find_field(generation, {"early_stopping"})) {
    const bool never = early->kind() == Json::Kind::string && early->string() == "never";
    search.early_stopping = !never && early->boolean();
  }
  read_length(generation, "min_length", 1, 0, search.min_tokens);
  read_length(generation, "min_new_tokens", 0, 0, search.min_tokens);
  read_length(generation, "max_length", 2, 1, search.max_tokens);
  read_length(generation, "max_new_tokens", 1, 1, search.max_tokens);
}

void read_sampling(const Json& generation, SamplingOptions& sampling) {
  read(generation, "temperature", NumberRange::at_least(0), sampling.temperature);
  read(generation, "top_k", sampling.top_k);
  read(generation, "top_p", NumberRange::from(0, 1), sampling.top_p);
  read(generation, "min_p", NumberRange::from(0, 1), sampling.min_p);
  read_length(generation, "min_new_tokens", 0, 0, sampling.min_tokens);
  if (!flag_or(generation, {"do_sample"}, true)) sampling.temperature = 0;
}

template <typename Options>
void read_repetition(const Json& generation, Options& options) {
  read(generation, "repetition_penalty", NumberRange::above(0), options.repetition_penalty);
  read(generation, "no_repeat_ngram_size", options.no_repeat_ngram);
}

}  // namespace

void read_generation_options(const Json& generation, FamilyModel& model) {
  if (model.config.has_encoder()) {
    read_search(generation, model.decoding.search);
    read_repetition(generation, model.decoding.search);
  } else {
    read_sampling(generation, model.decoding.sampling);
    read_repetition(generation, model.decoding.sampling);
  }
}

}  // namespace heed
