#include "heed/models/transformer.h"

#include <cmath>

#include "heed/autograd/loss.h"
#include "heed/autograd/operators.h"

namespace heed {
namespace {

class TransformerState : public DecoderState {
 public:
  std::vector<TransformerDecoderLayer::Memory> layers;
  Tensor positions;  // tokens read, i32 [rows]

  void select_rows(std::span<const Index> rows) override {
    for (TransformerDecoderLayer::Memory& layer : layers) layer.select_rows(rows);
    positions = positions.gather_rows(rows);
  }
};

Mask padding_mask(const Tensor& lengths) { return Mask::key_lengths(lengths); }

}  // namespace

Transformer::Transformer(const ParameterScope& scope, const TransformerConfig& config) : config_(config) {
  config.check();
  const double scale = std::sqrt(static_cast<double>(config.width));
  source_embedding_ = Embedding(scope / (config.share_embeddings ? "embedding" : "source_embedding"),
                                config.source_vocabulary, config.width, scale);
  if (!config.share_embeddings) {
    target_embedding_ = Embedding(scope / "target_embedding", config.target_vocabulary, config.width, scale);
  }
  if (config.positions == PositionKind::learned) {
    source_positions_ = Positions::learned(scope / "source_positions", config.max_length, config.width);
    target_positions_ = Positions::learned(scope / "target_positions", config.max_length, config.width);
  } else {
    source_positions_ = target_positions_ = Positions::sinusoidal(scope, config.max_length, config.width);
  }
  const TransformerLayerOptions layer{.width = config.width,
                                      .heads = config.heads,
                                      .hidden = config.hidden,
                                      .activation = config.activation,
                                      .norm_first = config.norm_first,
                                      .dropout = config.dropout,
                                      .attention_dropout = config.attention_dropout,
                                      .activation_dropout = config.activation_dropout,
                                      .key_value_heads = config.key_value_heads,
                                      .self_mask = config.self_attention_mask(),
                                      .linear = config.attention == SelfAttentionKind::linear};
  const ParameterScope encoder = scope / "encoder", decoder = scope / "decoder";
  for (Index i = 0; i < config.encoder_layers; ++i) encoder_.emplace_back(encoder / "layers" / i, layer);
  for (Index i = 0; i < config.decoder_layers; ++i) decoder_.emplace_back(decoder / "layers" / i, layer);
  if (config.norm_first) {
    encoder_norm_ = LayerNorm(encoder / "norm", config.width);
    decoder_norm_ = LayerNorm(decoder / "norm", config.width);
  }
  if (!config.tie_output) output_ = Linear(scope / "generator", config.width, config.target_vocabulary, /*bias=*/false);
}

Var Transformer::encode(const Context& context, const TokenBatch& source) const {
  const Mask mask = padding_mask(source.lengths);
  Var x = source_positions_.forward(context, source_embedding_.forward(context, source.ids));
  x = dropout(context, x, config_.dropout);
  for (const TransformerEncoderLayer& layer : encoder_) x = layer.forward(context, x, mask);
  return config_.norm_first ? encoder_norm_.forward(context, x) : x;
}

LossResult Transformer::loss(const Context& context, const TranslationBatch& batch,
                             const CrossEntropyOptions& options) const {
  const Var memory = encode(context, batch.source);
  const Mask causal = Mask::causal(), memory_mask = padding_mask(batch.source.lengths);
  Var x = target_positions_.forward(context, target_embedding().forward(context, batch.input));
  x = dropout(context, x, config_.dropout);
  for (const TransformerDecoderLayer& layer : decoder_) {
    x = layer.forward(context, x, causal, layer.project_memory(context, memory), memory_mask);
  }
  if (config_.norm_first) x = decoder_norm_.forward(context, x);
  return linear_cross_entropy(context, x, output_weight(), {}, batch.output, options);
}

std::unique_ptr<DecoderState> Transformer::start() const {
  auto state = std::make_unique<TransformerState>();
  const DType dtype = target_embedding().weight().dtype();
  for (const TransformerDecoderLayer& layer : decoder_) state->layers.push_back(layer.make_memory(dtype));
  return state;
}

void Transformer::admit(const Context& context, DecoderState& decoder_state, const TokenBatch& sources) const {
  TransformerState& state = dynamic_cast<TransformerState&>(decoder_state);
  const Var encoded = encode(context, sources);
  std::vector<Index> lengths;
  for (Index i = 0; i < encoded.dim(0); ++i) lengths.push_back(sources.lengths.at<std::int32_t>({i}));
  for (std::size_t i = 0; i < decoder_.size(); ++i) decoder_[i].admit(context, encoded, lengths, state.layers[i]);
  state.positions = join_rows(state.positions, Tensor::zeros(DType::i32, {encoded.dim(0)}));
}

Tensor Transformer::step(const Context& context, DecoderState& decoder_state,
                         std::span<const std::int32_t> tokens) const {
  TransformerState& state = dynamic_cast<TransformerState&>(decoder_state);
  const Index rows = std::ssize(tokens);
  Var x = target_embedding().forward(context, Tensor::from(tokens, {rows, 1}));
  x = target_positions_.forward_at(context, x, state.positions);
  for (std::size_t i = 0; i < decoder_.size(); ++i) x = decoder_[i].step(context, x, state.layers[i]);
  for (std::int32_t *read = state.positions.data<std::int32_t>(), *end = read + rows; read < end; ++read) ++*read;
  if (config_.norm_first) x = decoder_norm_.forward(context, x);
  return linear(context, x, output_weight(), {}).value().reshape({rows, config_.target_vocabulary});
}

}  // namespace heed
