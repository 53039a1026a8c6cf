#include "operators.h"

namespace heed::conformance {
namespace {

constexpr std::string_view kTraining = "ai.onnx.preview.training";

struct Row {
  std::string_view domain, name;
  Operator run;
};

constexpr Row kRows[] = {
    {"", "Attention", run_attention},
    {"", "CausalConvWithState", causal_conv_with_state},
    {"", "Dropout", run_dropout},
    {"", "GRU", recurrent},
    {"", "Gelu", gelu},
    {"", "Gemm", run_gemm},
    {"", "LSTM", recurrent},
    {"", "LayerNormalization", layer_normalization},
    {"", "LinearAttention", run_linear_attention},
    {"", "LogSoftmax", run_log_softmax},
    {"", "LpNormalization", lp_normalization},
    {"", "MatMul", matmul},
    {"", "NegativeLogLikelihoodLoss", negative_log_likelihood_loss},
    {"", "RMSNormalization", rms_normalization},
    {"", "RNN", recurrent},
    {"", "RotaryEmbedding", rotary_embedding},
    {"", "Softmax", run_softmax},
    {"", "SoftmaxCrossEntropyLoss", softmax_cross_entropy_loss},
    {"", "Softplus", softplus},
    {"", "SwiGLU", swiglu},
    {"", "Swish", swish},
    {"", "TensorScatter", run_tensor_scatter},
    {kTraining, "Adagrad", adagrad},
    {kTraining, "Adam", adam},
    {kTraining, "Momentum", momentum},
};

}  // namespace

Operator find_operator(std::string_view domain, std::string_view name) {
  for (const Row& row : kRows) {
    if (row.domain == domain && row.name == name) return row.run;
  }
  return nullptr;
}

}  // namespace heed::conformance
