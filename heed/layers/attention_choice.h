// What a layer's attention is, as a value with a notation: one for the command line, config.json and C++.
//
//   AttentionChoice choice("cosine(scale=10) + relative + window(8) + sinks");
//   choice.text() == "cosine + relative + window + sinks";      // numbers that are the default are left out
//   MultiheadAttention attention(scope, AttentionKind::encoder, {.embed_dim = 512, .attention = choice});
//
// The sum of terms of heed/layers/attention_terms.h: at most one score and one normaliser, and any positions, biases
// and masks, each once. No term at all is scaled dot products and softmax over every key. Terms stand in the
// order of that table, whatever the order that they were written in.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "heed/layers/attention_terms.h"

namespace heed {

class AttentionChoice {
 public:
  // A term with its numbers, in the order of term->numbers, and those of its list.
  struct Chosen {
    const AttentionTerm* term;
    std::vector<double> numbers;
    friend bool operator==(const Chosen&, const Chosen&) = default;
  };

  AttentionChoice() = default;
  // Reads the notation: terms joined by "+", numbers in brackets by name or in order: "window(radius=8)", "window(8)";
  // a list by its name, with colons: "rotary_longrope(factors=1:1.5:4)".
  // Throws heed::Error that quotes the term, for one that is unknown, given twice, or second in a role that takes one;
  // for a number without a meaning or out of its range.
  explicit AttentionChoice(std::string_view text);

  // The notation, in the order of the table, with the numbers that are not the default; "scaled_dot" for no term.
  std::string text() const;
  const std::vector<Chosen>& terms() const { return chosen_; }
  // What the terms make of a layer.
  LayerAttention make(const AttentionTerm::Layer& layer) const;

  friend bool operator==(const AttentionChoice&, const AttentionChoice&) = default;

 private:
  void add(std::string_view term);

  std::vector<Chosen> chosen_;  // in the order of the table
};

}  // namespace heed
