#include "heed/models/rnn_config.h"

#include "heed/base/check.h"
#include "heed/io/fields.h"

namespace heed {
namespace {

// Weights of stacked recurrent layers whose first one reads `inputs` features.
double recurrent_weights(CellKind cell, Index inputs, Index units, Index layers, Index directions) {
  const double h = static_cast<double>(units), d = static_cast<double>(directions), n = static_cast<double>(layers);
  const double read = static_cast<double>(inputs) + (n - 1) * d * h;  // by the first layer, and by those above it
  return d * static_cast<double>(gate_count(cell)) * h * (read + n * h);
}

}  // namespace

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

double RnnConfig::weight_count() const {
  const double v_source = static_cast<double>(source_vocabulary), v_target = static_cast<double>(target_vocabulary);
  const double e = static_cast<double>(embedding_width), h = static_cast<double>(state_width);
  const double a = static_cast<double>(attention_width), m = static_cast<double>(memory_width());
  double count = (share_embeddings ? v_source : v_source + v_target) * e;
  if (!tie_output) count += v_target * e;
  const bool bahdanau = style == RnnStyle::bahdanau;
  const Index fed = bahdanau ? memory_width() : input_feeding ? embedding_width : 0;
  count += recurrent_weights(cell, embedding_width, encoder_units(), encoder_layers, directions());
  count += recurrent_weights(cell, embedding_width + fed, state_width, decoder_layers, 1);
  if (bahdanau) count += static_cast<double>(decoder_layers) * h * h;  // of the initial states
  if (score == RnnScore::additive) count += a * (h + m);
  if (score == RnnScore::general) count += h * m;
  if (reach == RnnReach::local_p) count += h * h + h;
  return count + e * (h + m + (bahdanau ? e : 0));  // of the readout
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
