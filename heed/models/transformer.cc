#include "heed/models/transformer.h"

#include <cmath>

#include "heed/autograd/operators.h"
#include "heed/base/check.h"

namespace heed {
namespace {

class TransformerState : public DecoderState {
 public:
  std::vector<TransformerBlock::Memory> blocks;
  Tensor positions;  // tokens read, i32 [rows]

  void select_rows(std::span<const Index> rows) override {
    for (TransformerBlock::Memory& block : blocks) block.select_rows(rows);
    positions = positions.gather_rows(rows);
  }
};

Positions make_positions(const ParameterScope& scope, const TransformerConfig& config) {
  switch (config.positions) {
    case PositionKind::learned:
      return Positions::learned(scope, config.max_length, config.width);
    case PositionKind::sinusoidal:
      return Positions::sinusoidal(scope, config.max_length, config.width);
    case PositionKind::none:
      return {};
  }
  fail("Transformer: positions {} is none", static_cast<int>(config.positions));
}

std::vector<Index> lengths_of(const TokenBatch& sequences) {
  std::vector<Index> lengths;
  for (Index i = 0; i < sequences.lengths.size(); ++i) lengths.push_back(sequences.lengths.at<std::int32_t>({i}));
  return lengths;
}

}  // namespace

Transformer::Transformer(const ParameterScope& scope, const TransformerConfig& config) : config_(config) {
  config.check();
  const double scale = std::sqrt(static_cast<double>(config.width));
  if (config.share_embeddings) {
    source_embedding_ = target_embedding_ =
        Embedding(scope / "embedding", config.target_vocabulary, config.width, scale);
  } else {
    if (has_source()) {
      source_embedding_ = Embedding(scope / "source_embedding", config.source_vocabulary, config.width, scale);
    }
    target_embedding_ = Embedding(scope / "target_embedding", config.target_vocabulary, config.width, scale);
  }
  if (has_source()) source_positions_ = make_positions(scope / "source_positions", config);
  target_positions_ = make_positions(scope / "target_positions", config);
  for (Index i = 0; i < config.encoder_layers; ++i) {
    encoder_.emplace_back(scope / "encoder.layers" / i, AttentionKind::encoder, config.block(/*decoder=*/false));
  }
  for (Index i = 0; i < config.decoder_layers; ++i) {
    decoder_.emplace_back(scope / "decoder.layers" / i, AttentionKind::decoder, config.block(/*decoder=*/true));
  }
  if (config.norm_place != NormPlace::post) {
    if (has_source()) encoder_norm_ = Norm(scope / "encoder.norm", config.norm, config.width);
    decoder_norm_ = Norm(scope / "decoder.norm", config.norm, config.width);
  }
  if (!config.tie_output) {
    output_ = Linear(scope / "generator", config.width, config.target_vocabulary, /*bias=*/false);
  }
}

Var Transformer::normed(const Context& context, const Var& x, const Norm& norm) const {
  return config_.norm_place == NormPlace::post ? x : norm.forward(context, x);
}

Var Transformer::encode(const Context& context, const TokenBatch& source) const {
  const AttentionArguments arguments{.mask = Mask::key_lengths(source.lengths)};
  Var x = source_positions_.forward(context, source_embedding_.forward(context, source.ids));
  x = dropout(context, x, config_.dropout);
  for (const TransformerBlock& block : encoder_) x = block.forward(context, x, arguments);
  return normed(context, x, encoder_norm_);
}

Var Transformer::features(const Context& context, const SequenceBatch& batch) const {
  HEED_CHECK(
      has_source() == !batch.source.ids.is_empty(), "Transformer: {}",
      has_source() ? "translates, and the batch has no source" : "is a language model, and the batch has a source");
  HEED_CHECK(batch.offsets.is_empty() || !has_source(), "Transformer: sequences end to end have no sources");
  const Var embedded = target_embedding_.forward(context, batch.input);
  AttentionArguments self{.mask = Mask::causal(), .offsets = batch.offsets};
  Var x = batch.offsets.is_empty() ? target_positions_.forward(context, embedded)
                                   : target_positions_.forward_at(context, embedded, positions_within(batch.offsets));
  x = dropout(context, x, config_.dropout);
  Var memory;
  Mask memory_mask;
  if (has_source()) memory = encode(context, batch.source), memory_mask = Mask::key_lengths(batch.source.lengths);
  for (const TransformerBlock& block : decoder_) {
    x = block.forward(context, x, self, has_source() ? block.project_memory(context, memory) : Var(), memory_mask);
  }
  return normed(context, x, decoder_norm_);
}

std::unique_ptr<DecoderState> Transformer::start() const {
  auto state = std::make_unique<TransformerState>();
  const DType dtype = Weight(target_embedding_.weight()).wide();
  for (const TransformerBlock& block : decoder_) state->blocks.push_back(block.make_memory(dtype));
  return state;
}

void Transformer::admit(const Context& context, DecoderState& decoder_state, const TokenBatch& sequences) const {
  TransformerState& state = dynamic_cast<TransformerState&>(decoder_state);
  const std::vector<Index> lengths = lengths_of(sequences);
  if (has_source()) {
    const Var encoded = encode(context, sequences);
    for (std::size_t i = 0; i < decoder_.size(); ++i) {
      decoder_[i].admit_source(context, encoded, lengths, state.blocks[i]);
    }
    state.positions = join_rows(state.positions, Tensor::zeros(DType::i32, {encoded.dim(0)}));
    return;
  }
  Var x = target_positions_.forward(context, target_embedding_.forward(context, sequences.ids));
  for (std::size_t i = 0; i < decoder_.size(); ++i) x = decoder_[i].admit_tokens(context, x, lengths, state.blocks[i]);
  state.positions = join_rows(state.positions, sequences.lengths.clone());
}

Tensor Transformer::step(const Context& context, DecoderState& decoder_state,
                         std::span<const std::int32_t> tokens) const {
  TransformerState& state = dynamic_cast<TransformerState&>(decoder_state);
  const Index rows = std::ssize(tokens);
  Var x = target_embedding_.forward(context, Tensor::from(tokens, {rows, 1}));
  x = target_positions_.forward_at(context, x, state.positions.reshape({rows, 1}));
  for (std::size_t i = 0; i < decoder_.size(); ++i) x = decoder_[i].step(context, x, state.blocks[i]);
  for (std::int32_t *read = state.positions.data<std::int32_t>(), *end = read + rows; read < end; ++read) ++*read;
  x = normed(context, x, decoder_norm_);
  return linear(context, x, output_weight(), {}).value().reshape({rows, config_.target_vocabulary});
}

}  // namespace heed
