#include "heed/models/rnn_config.h"

#include "heed/base/check.h"
#include "heed/io/fields.h"

namespace heed {
void RnnConfig::check() const {
  check_ranges(*this, "RnnTranslator");
  HEED_CHECK(!share_embeddings || source_vocabulary == target_vocabulary,
             "RnnTranslator: share_embeddings needs equal vocabularies, but they have {} and {} pieces",
             source_vocabulary, target_vocabulary);
  HEED_CHECK(
      style == RnnStyle::luong || !input_feeding,
      "RnnTranslator: input_feeding belongs to the luong style; the bahdanau style always reads what attention found");
  HEED_CHECK(style == RnnStyle::bahdanau || state_width % directions() == 0,
             "RnnTranslator: the two directions share state_width in the luong style, so it must be even, but is {}",
             state_width);
  HEED_CHECK(
      score != RnnScore::dot || memory_width() == state_width,
      "RnnTranslator: the dot score needs encoder states of state_width {}, but both directions together have {}",
      state_width, memory_width());
}

RnnConfig bahdanau_config() { return {}; }

RnnConfig luong_config() {
  RnnConfig config;
  config.style = RnnStyle::luong;
  config.cell = CellKind::lstm;
  config.score = RnnScore::general;
  config.input_feeding = true;
  return config;
}

}  // namespace heed
