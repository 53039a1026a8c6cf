// The attention of recurrent decoders: a state looks back at the encoder's states (Bahdanau et al. 2015; Luong et al.
// 2015, global).
//
//   RnnAttention attention("decoder.attention", RnnScore::additive, rng, 256, 512, 256);
//   AttentionMemory memory = attention.prepare(context, encoder_states, lengths);     // once a sentence
//   Var c = attention.forward(context, query, memory);                                // at each step, or for all
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "heed/layers/linear.h"
#include "heed/observe/observer.h"

namespace heed {

// The score of query s and encoder state h.
enum class RnnScore {
  additive,  // v . tanh(W s + U h) (Bahdanau et al. 2015, app. A.1.2), which is also Luong's concat, v . tanh([W U] [s;
             // h])
  general,   // s . W h (Luong et al. 2015, eq. 8)
  dot,       // s . h
};
// Both papers' names of the additive score are read; "additive" is written.
inline constexpr std::pair<std::string_view, RnnScore> kRnnScoreNames[] = {{"additive", RnnScore::additive},
                                                                           {"concat", RnnScore::additive},
                                                                           {"general", RnnScore::general},
                                                                           {"dot", RnnScore::dot}};
inline std::span<const std::pair<std::string_view, RnnScore>> enum_names(RnnScore) { return kRnnScoreNames; }

// What every step attends to.
struct AttentionMemory {
  Var keys;        // [B, S, *]: the encoder's states as the score needs them
  Var values;      // [B, S, memory]: the encoder's states
  Tensor lengths;  // i32 [B]

  // Keeps, in this order, the given rows; one may come several times. Inference only.
  void select_rows(std::span<const Index> rows);
};

class RnnAttention {
 public:
  RnnAttention() = default;
  // For queries [.., query_width] over states [.., memory_width]. `width` is that of the additive score's hidden layer.
  // `path` names the layer to observers, as in the checkpoint. Throws heed::Error for a dot of different widths.
  RnnAttention(std::string path, RnnScore score, Rng& rng, Index query_width, Index memory_width, Index width);

  // Projects the states [B, S, memory_width], which every query shares. lengths i32 [B]: the states that count.
  AttentionMemory prepare(const Context& context, const Var& states, const Tensor& lengths) const;
  // The weighted mean of the states for each query [B, L, query_width]: [B, L, memory_width]; 0 for a sentence without
  // states.
  Var forward(const Context& context, const Var& query, const AttentionMemory& memory) const;

  // additive: query_proj.weight, key_proj.weight, vector; general: key_proj.weight; dot: none.
  void parameters(const std::string& path, ParameterList& list) const;

 private:
  std::string path_;
  RnnScore score_ = RnnScore::dot;
  Linear query_projection_, key_projection_;
  Var vector_;  // [width]
};

}  // namespace heed
