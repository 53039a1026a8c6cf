#include "heed/pretrained/generation_options.h"

#include <algorithm>
#include <limits>

#include "heed/pretrained/config_fields.h"

namespace heed {
namespace {

// What becomes of a value that has no meaning.
enum class Meaningless { refused, passed_over };

void read(const Json& generation, std::string_view name, NumberRange range, double& value,
          Meaningless meaningless = Meaningless::refused) {
  const std::optional<Json> found = find_field(generation, {name});
  if (!found) return;
  const bool is_number = found->kind() == Json::Kind::number || found->kind() == Json::Kind::integer;
  const bool is_meant = is_number && range.contains(found->number());
  if (meaningless == Meaningless::passed_over && !is_meant) return;
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

// A text is cut off where it has the most tokens, but for one that is made to end there.
void read_search(const Json& generation, bool makes_end, BeamOptions& search) {
  if (const std::optional<Json> beams = find_field(generation, {"num_beams"})) {
    search.beam = beams->integer(1, kWidestBeam);
  }
  read(generation, "length_penalty", {}, search.length_penalty);
  search.early_stopping = false;
  if (const std::optional<Json> early = find_field(generation, {"early_stopping"})) {
    search.any_length = early->kind() == Json::Kind::string && early->string() == "never";
    search.early_stopping = !search.any_length && early->boolean();
  }
  search.renormalize = flag_or(generation, {"renormalize_logits"}, false);
  search.complete = false;
  const Index end = makes_end ? 1 : 0;
  read_length(generation, "min_length", 1, 0, search.min_tokens);
  read_length(generation, "min_new_tokens", 0, 0, search.min_tokens);
  read_length(generation, "max_length", 1 + end, 1, search.max_tokens);
  read_length(generation, "max_new_tokens", end, 1, search.max_tokens);
  // Where lengths are said, those of sources say nothing.
  const bool says_length = search.min_tokens > 0 || search.max_tokens < kAnyLength;
  if (says_length) search.max_extra = kAnyLength;
}

void read_top_k(const Json& generation, Meaningless meaningless, Index& value) {
  const std::optional<Json> found = find_field(generation, {"top_k"});
  if (!found) return;
  const bool is_count = found->kind() == Json::Kind::integer && found->integer() >= 0;
  if (is_count || meaningless == Meaningless::refused) value = found->integer(0, kAnyLength);
}

// Files that sample nothing have what samplers would refuse, such as the top_k -1.
void read_sampling(const Json& generation, SamplingOptions& sampling) {
  const std::optional<Json> samples = find_field(generation, {"do_sample"});
  const Meaningless meaningless = samples && samples->boolean() ? Meaningless::refused : Meaningless::passed_over;
  read(generation, "temperature", NumberRange::at_least(0), sampling.temperature, meaningless);
  read_top_k(generation, meaningless, sampling.top_k);
  read(generation, "top_p", NumberRange::from(0, 1), sampling.top_p, meaningless);
  read(generation, "min_p", NumberRange::from(0, 1), sampling.min_p, meaningless);
  read_length(generation, "min_new_tokens", 0, 0, sampling.min_tokens);
  if (samples && !samples->boolean()) sampling.temperature = 0;
}

template <typename Options>
void read_repetition(const Json& generation, Options& options) {
  read(generation, "repetition_penalty", NumberRange::above(0), options.repetition_penalty);
  read(generation, "no_repeat_ngram_size", options.no_repeat_ngram);
}

}  // namespace

void read_generation_options(const Json& generation, FamilyModel& model) {
  if (model.config.has_encoder()) {
    read_search(generation, model.last >= 0, model.decoding.search);
    read_repetition(generation, model.decoding.search);
  } else {
    read_sampling(generation, model.decoding.sampling);
    read_repetition(generation, model.decoding.sampling);
  }
}

}  // namespace heed
