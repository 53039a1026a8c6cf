// The attention of recurrent decoders: a state looks back at the encoder's states (Bahdanau et al. 2015; Luong et al.
// 2015, global and local).
//
//   const RnnAttentionOptions options{.score = RnnScore::additive, .query_width = 256, .memory_width = 512};
//   RnnAttention attention(scope / "decoder" / "attention", options);
//   AttentionMemory memory = attention.prepare(context, encoder_states, lengths);     // once a sentence
//   Var c = attention.forward(context, query, memory, positions);                     // at each step, or for all
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

// Which of the encoder's states a query looks at (Luong et al. 2015, section 3.2), with D = RnnAttentionOptions::window
// and S the number of states.
enum class RnnReach {
  global,   // all
  local_m,  // those within D of the query's own position: source and target are taken to run in step
  local_p,  // those within D of p = S sigmoid(v_p . tanh(W_p s)) (eq. 9), less likely the further from p: the score has
            // -(j - p)^2 / (2 (D / 2)^2) added, so that weights still sum to one (eq. 10 multiplies the weights)
};
inline constexpr std::pair<std::string_view, RnnReach> kRnnReachNames[] = {
    {"global", RnnReach::global}, {"local-m", RnnReach::local_m}, {"local-p", RnnReach::local_p}};
inline std::span<const std::pair<std::string_view, RnnReach>> enum_names(RnnReach) { return kRnnReachNames; }

struct RnnAttentionOptions {
  RnnScore score = RnnScore::additive;
  Index query_width = 256, memory_width = 512;
  Index width = 256;  // of the additive score's hidden layer
  RnnReach reach = RnnReach::global;
  Index window = 10;  // D
};

// What every step attends to.
struct AttentionMemory {
  Var keys;        // [B, S, *]: the encoder's states as the score needs them
  Var values;      // [B, S, memory]: the encoder's states
  Tensor lengths;  // i32 [B]

  // Keeps, in this order, the given rows; one may come several times. Inference only, as append.
  void select_rows(std::span<const Index> rows);
  // Adds another's rows behind these.
  void append(const AttentionMemory& more);
};

class RnnAttention {
 public:
  RnnAttention() = default;
  // For queries [.., query_width] over states [.., memory_width]. The scope's path names the layer to observers.
  // Parameters: additive: query_proj.weight, key_proj.weight, vector; general: key_proj.weight; dot: none. local_p:
  // position_proj.weight (W_p) and position_vector.weight (v_p) as well.
  // Throws heed::Error for a dot of different widths, and for a window below 1.
  RnnAttention(const ParameterScope& scope, const RnnAttentionOptions& options);

  // Projects the states [B, S, memory_width], which every query shares. lengths i32 [B]: the states that count.
  AttentionMemory prepare(const Context& context, const Var& states, const Tensor& lengths) const;
  // The weighted mean of the states for each query [B, L, query_width]: [B, L, memory_width]; 0 where there are no
  // states to look at. The queries of row b stand at positions first[b], first[b] + 1, ... of the target, which local_m
  // reads.
  Var forward(const Context& context, const Var& query, const AttentionMemory& memory,
              std::span<const Index> first) const;

 private:
  // local_p: p of each query [B, L, query_width], [B, 1, L].
  Var predicted_centre(const Context& context, const Var& query, const Tensor& lengths) const;

  std::string path_;
  RnnAttentionOptions options_;
  Linear query_projection_, key_projection_;
  Var vector_;  // [width]
  Linear position_projection_, position_vector_;
};

}  // namespace heed
