// What an AttentionChoice is made of: one row for each score, position, bias, mask and normaliser that a layer can
// have. The notation, config.json, the command line and its help, and the layer itself all read this table, so a new
// mechanism is one more row here.
//
//   for (const AttentionTerm& term : attention_terms()) print(term.name, term.doc);
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "heed/autograd/attention.h"
#include "heed/io/number_range.h"
#include "heed/layers/parameter_scope.h"
#include "heed/ops/rotary/rotary.h"

namespace heed {

// What the terms make of one layer's attention: all that its calls have in common.
struct LayerAttention {
  // A tensor of the spec that is a parameter; its value is put into its place at each call.
  struct Learned {
    Var var;
    Tensor& (*place)(AttentionSpec& spec);
  };

  AttentionSpec spec;  // without what is learned
  std::vector<Learned> learned;
  std::optional<Rotary> rotary;
};

struct AttentionTerm {
  enum class Role { score, position, bias, mask, normaliser };
  struct Number {
    std::string_view name;
    double value;  // where it is not given
    NumberRange range;
    bool whole = true;
  };
  // What a layer gives its terms.
  struct Layer {
    ParameterScope scope;  // where learned parts have their names
    Index heads, head_width, max_positions;
    bool causal;  // no query sees a later key
  };

  std::string_view name;
  Role role;
  std::string_view doc;
  std::vector<Number> numbers;
  // Sets its part of `made`; `numbers` are those of the row, in order, and behind them those of the list.
  void (*apply)(std::span<const double> numbers, const Layer& layer, LayerAttention& made);
  bool goes_by_positions = false;  // looks at where a query and a key stand in one sequence, so not for cross-attention
  bool sums = false;               // a score that sum normalises where no normaliser is chosen
  std::string_view list = {};      // the name of a list of numbers above 0, empty at first; without: there is none
};

// In the order that AttentionChoice writes them in.
std::span<const AttentionTerm> attention_terms();

}  // namespace heed
