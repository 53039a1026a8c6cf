// Rotary positions (Su et al. 2021, "RoFormer"): pairs of features turn by an angle that grows with the position, so
// that q . k depends on how far apart two tokens stand, and on nothing else about their places.
//
//   const Rotary options{.width = 64, .base = 500000};
//   const RotaryTables tables = rotary_tables(options, max_positions, DType::f32);
//   const RotaryAngles angles{.cos = tables.cos, .sin = tables.sin, .offset = cached};   // a decoder's next tokens
//   rotary(q, angles, options.pairing, q);
//   rotary(k, angles, options.pairing, k);
#pragma once

#include <vector>

#include "heed/tensor/tensor.h"
#include "heed/tensor/view.h"

namespace heed {

// Which features of a row turn together, for pair i of R / 2.
enum class RotaryPairing {
  halves,       // x[i] and x[i + R / 2]: GPT-NeoX, Llama as Hugging Face stores it; ONNX interleaved = 0
  interleaved,  // x[2i] and x[2i + 1]: Su et al. 2021, GPT-J; ONNX interleaved = 1
};

// How a model trained on `original_length` positions reads about `factor` times as many. With the frequencies theta_i =
// base^(-2i / R), s = factor, and the turns original_length theta_i / 2 pi that pair i makes in training:
struct RotaryScaling {
  enum class Kind {
    none,
    linear,  // theta_i / s: position interpolation (Chen et al. 2023, equation 4)
    ntk,     // the base times s^(R / (R - 2)): the slowest pair turns s times slower, the fastest as before; R > 2
    llama3,  // theta_i above fast_turns, theta_i / s below slow_turns, a mix linear in the turns between (Llama 3.1)
    yarn,  // the same, but the mix is linear in i between the pairs of fast_turns and slow_turns, rounded outwards, as
           // in the authors' code and the published models (equation 18 of Peng et al. 2023 is linear in the turns);
           // cos and sin are multiplied by attention_factor
    longrope,  // theta_i / factors[i], found by a search (Ding et al. 2024); attention_factor as yarn's
  };
  Kind kind = Kind::none;
  double factor = 1;              // s > 0
  Index original_length = 0;      // llama3, yarn
  double slow_turns = 1;          // llama3: low_freq_factor; yarn: beta_slow, alpha in the paper
  double fast_turns = 1;          // llama3: high_freq_factor; yarn: beta_fast, beta in the paper; above slow_turns
  double attention_factor = 1;    // yarn, longrope
  std::vector<double> factors{};  // longrope: R / 2 above 0; none: all 1

  friend bool operator==(const RotaryScaling&, const RotaryScaling&) = default;

  static RotaryScaling linear(double factor) { return {.kind = Kind::linear, .factor = factor}; }
  static RotaryScaling ntk(double factor) { return {.kind = Kind::ntk, .factor = factor}; }
  // Llama 3.1: factor 8 and original_length 8192.
  static RotaryScaling llama3(double factor, Index original_length, double slow_turns = 1, double fast_turns = 4);
  // The paper's defaults; attention_factor is 0.1 ln s + 1, its equation 22, and 1 where s < 1.
  static RotaryScaling yarn(double factor, Index original_length, double slow_turns = 1, double fast_turns = 32);
  static RotaryScaling longrope(std::vector<double> factors, double attention_factor = 1);
};

// What the angles are made of.
struct Rotary {
  RotaryPairing pairing = RotaryPairing::halves;
  Index width = 0;  // R, even: the first features of a row, that turn
  double base = 10000;
  RotaryScaling scaling{};

  friend bool operator==(const Rotary&, const Rotary&) = default;
};

// Returns the R / 2 angles per position, after scaling. Throws heed::Error for options that have no meaning.
std::vector<double> rotary_frequencies(const Rotary& rotary);

// cos(p theta_i) and sin(p theta_i), [positions, R / 2] each.
struct RotaryTables {
  Tensor cos;
  Tensor sin;
};

// Builds the tables in double, then rounds to `dtype` (f32, f64, bf16, f16).
RotaryTables rotary_tables(const Rotary& rotary, Index positions, DType dtype);

// Where each row's cosines and sines lie; floating types, the last axis with stride 1. Either tables and positions, or
// rows that are gathered already.
struct RotaryAngles {
  ConstView cos{};        // [positions, R / 2], or [B|1, L, R / 2] gathered
  ConstView sin{};        // the same
  ConstView positions{};  // [B|1, L] i32 or i64; empty: row i of the sequence is at position i
  Index offset = 0;       // added to every position; 0 where the angles are gathered
};

// Turns x [B, H, L, D], for each pair (a, b) of a row by its position's angle:
//   out_a = cos a - sin b      out_b = sin a + cos b
// The features from R on are copied (partial rotary); R, twice the angles' last axis, must be at most D. Overwrites
// out, which has the shape and the type of x and may be x itself. f32, f64, bf16, f16; computed in f32, or in f64 for
// f64. Any strides with a unit last one. Throws heed::Error for operands that disagree and for a position outside the
// tables, before anything is written. A row's bits depend on that row alone.
void rotary(ConstView x, const RotaryAngles& angles, RotaryPairing pairing, View out);

// dx from dout: the turn back, dx_a = cos dout_a + sin dout_b, dx_b = cos dout_b - sin dout_a. Overwrites dx, which may
// be dout. It is also the inverse of rotary() where cos^2 + sin^2 = 1, as everywhere but in tables with
// an attention_factor.
void rotary_backward(ConstView dout, const RotaryAngles& angles, RotaryPairing pairing, View dx);

}  // namespace heed
