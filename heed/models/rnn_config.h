// What an RnnTranslator is made of.
//
//   RnnConfig config = luong_config();
//   config.score = RnnScore::dot;
#pragma once

#include <span>
#include <string_view>
#include <utility>

#include "heed/io/number_range.h"
#include "heed/layers/recurrent_cell.h"
#include "heed/layers/rnn_attention.h"

namespace heed {

// Where attention stands in the decoder.
enum class RnnStyle {
  bahdanau,  // the state before the step attends, and the step reads what it found (Bahdanau et al. 2015)
  luong,     // the state after the step attends (Luong et al. 2015)
};
inline constexpr std::pair<std::string_view, RnnStyle> kRnnStyleNames[] = {{"bahdanau", RnnStyle::bahdanau},
                                                                           {"luong", RnnStyle::luong}};
inline std::span<const std::pair<std::string_view, RnnStyle>> enum_names(RnnStyle) { return kRnnStyleNames; }

struct RnnConfig {
  RnnStyle style = RnnStyle::bahdanau;
  Index source_vocabulary = 0;
  Index target_vocabulary = 0;
  Index embedding_width = 256;
  Index state_width = 256;
  CellKind cell = CellKind::gru;
  bool bidirectional = true;
  Index encoder_layers = 1;
  Index decoder_layers = 1;
  RnnScore score = RnnScore::additive;
  Index attention_width = 256;
  bool input_feeding = false;
  Index max_length = 256;
  bool share_embeddings = true;
  bool tie_output = true;
  double dropout = 0.2;
  RnnReach reach = RnnReach::global;
  Index local_window = 10;

  // What the first configurations, of models whose attention is global, do not have.
  static constexpr std::string_view kLaterFields[] = {"reach", "local_window"};

  // Throws heed::Error for a configuration that makes no sense, naming the field.
  void check() const;
  Index directions() const { return bidirectional ? 2 : 1; }
  // Units of one direction of the encoder, and features of its states.
  Index encoder_units() const { return style == RnnStyle::luong ? state_width / directions() : state_width; }
  Index memory_width() const { return directions() * encoder_units(); }

  template <typename V>
  friend void visit_fields(RnnConfig& c, V&& visit) {
    visit("style", c.style, "Where attention stands: bahdanau (before the decoder's step) or luong (after it).");
    visit("source_vocabulary", c.source_vocabulary, "Pieces of the source vocabulary.", NumberRange::from(1, 1 << 24));
    visit("target_vocabulary", c.target_vocabulary, "Pieces of the target vocabulary.", NumberRange::from(1, 1 << 24));
    visit("embedding_width", c.embedding_width, "Width of embeddings, and of the readout before the output projection.",
          NumberRange::from(1, 1 << 24));
    visit("state_width", c.state_width,
          "Units of the decoder; of each direction of the encoder (bahdanau), or of both together (luong).",
          NumberRange::from(1, 1 << 24));
    visit("cell", c.cell, "Recurrent cell (bahdanau: gru, luong: lstm).");
    visit("bidirectional", c.bidirectional, "The encoder also reads from right to left.");
    visit("encoder_layers", c.encoder_layers, "Layers of the encoder.", NumberRange::from(1, 1024));
    visit("decoder_layers", c.decoder_layers, "Layers of the decoder.", NumberRange::from(1, 1024));
    visit("score", c.score,
          "Score of attention (bahdanau: additive, luong: general); concat is another name of additive.");
    visit("attention_width", c.attention_width, "Hidden width of the additive score.", NumberRange::from(1, 1 << 24));
    visit("input_feeding", c.input_feeding,
          "The decoder also reads its last attentional vector (luong only, where it is the default).");
    visit("max_length", c.max_length, "The most tokens of a sentence.", NumberRange::from(2, 1 << 16));
    visit("share_embeddings", c.share_embeddings, "One embedding table for source and target.");
    visit("tie_output", c.tie_output, "The output projection is the target's embedding table.");
    visit("dropout", c.dropout, "Dropout of embeddings, between layers, and of the readout.",
          NumberRange::from_below(0, 1));
    visit("reach", c.reach,
          "What attention looks at: global (the whole source), local-m (around the same place) or local-p (around a "
          "place that the state predicts).");
    visit("local_window", c.local_window, "local-m, local-p: positions on each side of that place.",
          NumberRange::from(1, 1 << 24));
  }
};

// The two papers' models at a size for small corpora.
RnnConfig bahdanau_config();  // bidirectional GRU, additive score
RnnConfig luong_config();     // bidirectional LSTM, general score, input feeding

}  // namespace heed
