// How a model's texts are decoded: what a command does where nobody says otherwise.
#pragma once

#include "heed/decode/beam_search.h"
#include "heed/decode/sampling.h"

namespace heed {

struct DecodingOptions {
  BeamOptions search{};        // of translations and captions
  SamplingOptions sampling{};  // of a text that goes on

  template <typename V>
  friend void visit_fields(DecodingOptions& o, V&& visit) {
    visit("search", o.search, "How translations are searched for.");
    visit("sampling", o.sampling, "How a text that goes on is drawn.");
  }
};

}  // namespace heed
