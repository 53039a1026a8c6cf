// ONNX's operators, each run by heed's own: attributes become options, arrays become views; nothing is computed here.
#pragma once

#include <string_view>
#include <vector>

#include "case.h"

namespace heed::conformance {

// In the operator's order; an array without elements (is_empty) where heed does not give that output.
using Outputs = std::vector<Array>;
// Throws heed::Error for a case that is malformed, Skip for one that asks for what heed does not have.
using Operator = Outputs (*)(const Case&);

// The operator's row in the table; nullptr where heed has none.
Operator find_operator(std::string_view domain, std::string_view name);

// The first inputs of both kinds of attention.
enum ProjectionInput : Index { kQuery, kKey, kValue };

// activations.cc
Outputs gelu(const Case& c);
Outputs swish(const Case& c);
Outputs swiglu(const Case& c);
Outputs softplus(const Case& c);
Outputs run_dropout(const Case& c);
// normalisation.cc
Outputs layer_normalization(const Case& c);
Outputs rms_normalization(const Case& c);
Outputs lp_normalization(const Case& c);
Outputs run_softmax(const Case& c);
Outputs run_log_softmax(const Case& c);
// losses.cc
Outputs negative_log_likelihood_loss(const Case& c);
Outputs softmax_cross_entropy_loss(const Case& c);
// products.cc
Outputs run_gemm(const Case& c);
Outputs matmul(const Case& c);
// recurrent.cc: RNN, GRU and LSTM
Outputs recurrent(const Case& c);
// optimisers.cc
Outputs adam(const Case& c);
Outputs momentum(const Case& c);
Outputs adagrad(const Case& c);
// attention.cc
Outputs run_attention(const Case& c);
// convolution.cc
Outputs causal_conv_with_state(const Case& c);
// positions.cc
Outputs rotary_embedding(const Case& c);
Outputs run_tensor_scatter(const Case& c);
// gated_delta_rule.cc
Outputs run_linear_attention(const Case& c);

}  // namespace heed::conformance
