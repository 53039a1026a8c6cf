// --beam, for commands that search with nothing else to choose.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>

#include "heed/decode/beam_search.h"
#include "heed/tasks/text_codec.h"
#include "numbers.h"

namespace heed::cli {

inline CLI::Option* add_beam(CLI::App& command, std::optional<Index>& beam) {
  return add_number(command, "--beam", beam, "Hypotheses that the search keeps.", NumberRange::from(1, kWidestBeam))
      ->default_str("5, or what the model's folder says");
}

// The model's own way to search, but for what was given.
inline BeamOptions search_of(const TextCodec& model, std::optional<Index> beam) {
  BeamOptions search = model.decoding.search;
  search.beam = beam.value_or(search.beam);
  return search;
}

}  // namespace heed::cli
