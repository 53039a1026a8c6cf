#include "heed/models/transformer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "heed/autograd/operators.h"
#include "heed/base/check.h"
#include "heed/io/fields.h"

namespace heed {
namespace {

// Of a signal, the whole of which counts, `encoded` positions.
std::vector<Index> lengths_of(const TokenBatch& sequences, Index encoded) {
  if (!sequences.signal.is_empty()) return std::vector<Index>(static_cast<std::size_t>(sequences.sequences()), encoded);
  std::vector<Index> lengths;
  for (Index i = 0; i < sequences.lengths.size(); ++i) lengths.push_back(sequences.lengths.at<std::int32_t>({i}));
  return lengths;
}

}  // namespace

class Transformer::State : public DecoderState {
 public:
  std::vector<TransformerBlock::Memory> blocks;
  Tensor positions;  // tokens read, i32 [rows]

  // Of a decoder that is not causal, in place of the blocks'.
  struct Row {
    std::vector<std::int32_t> tokens;
    Var encoded;  // [1, S, width], none without an encoder
  };
  std::vector<Row> rows;

  void select_rows(std::span<const Index> chosen) override {
    for (TransformerBlock::Memory& block : blocks) block.select_rows(chosen);
    positions = positions.gather_rows(chosen);
    if (rows.empty()) return;
    std::vector<Row> selected;
    for (Index row : chosen) selected.push_back(rows[static_cast<std::size_t>(row)]);
    rows = std::move(selected);
  }
};

Transformer::Transformer(const ParameterScope& scope, const TransformerConfig& config) : config_(config) {
  config.check();
  const double scale =
      config.embedding_scale > 0 ? config.embedding_scale : std::sqrt(static_cast<double>(config.width));
  const bool reads_tokens = has_source() && !config.signal.any();
  if (config.share_embeddings && (reads_tokens || config.has_decoder())) {
    source_embedding_ = target_embedding_ =
        Embedding(scope / "embedding", config.target_vocabulary, config.table_width(), scale);
  } else {
    if (reads_tokens) {
      source_embedding_ = Embedding(scope / "source_embedding", config.source_vocabulary, config.table_width(), scale);
    }
    if (config.has_decoder()) {
      target_embedding_ = Embedding(scope / "target_embedding", config.target_vocabulary, config.table_width(), scale);
    }
  }
  if (reads_tokens) source_input_ = TokenInput(scope, "source", config, source_embedding_);
  if (config.signal.any()) signal_input_ = SignalInput(scope, config);
  if (config.has_decoder()) target_input_ = TokenInput(scope, "target", config, target_embedding_);
  for (Index i = 0; i < config.encoder_layers; ++i) {
    encoder_.emplace_back(scope / "encoder.layers" / i, AttentionKind::encoder, config.block(/*decoder=*/false, i));
  }
  for (Index i = 0; i < config.decoder_layers; ++i) {
    decoder_.emplace_back(scope / "decoder.layers" / i, AttentionKind::decoder, config.block(/*decoder=*/true, i));
  }
  const auto norm = [&](std::string_view name) {
    return Norm(scope / name, config.norm, config.width, config.norm_epsilon);
  };
  if (has_source() && config.has_final_norm(/*decoder=*/false)) encoder_norm_ = norm("encoder.norm");
  if (config.has_decoder() && config.has_final_norm(/*decoder=*/true)) decoder_norm_ = norm("decoder.norm");
  if (config.has_decoder() && config.factorised_embedding > 0) {
    output_projection_ = Linear(scope / "output_projection", config.width, config.table_width(), /*bias=*/false);
  }
  heads_ = EncoderHeads(scope, config, source_embedding_);
  if (!config.has_decoder() || !config.has_output) return;
  const ParameterScope generator = scope / "generator";
  if (!config.tie_output) {
    output_weight_ = generator.weight("weight", config.target_vocabulary, config.table_width(),
                                      Initial::xavier(config.target_vocabulary, config.table_width()));
  }
  if (config.output_bias) output_bias_ = generator.vector("bias", config.target_vocabulary, Initial::constant(0));
}

Var Transformer::normed(const Context& context, const Var& x, EmbeddedSide side) const {
  const bool decodes = side == EmbeddedSide::decoder;
  if (!config_.has_final_norm(decodes)) return x;
  return (decodes ? decoder_norm_ : encoder_norm_).forward(context, x);
}

Var Transformer::read_out(const Context& context, const Var& x) const {
  const Var read = config_.factorised_embedding > 0 ? output_projection_.forward(context, x) : x;
  return config_.logit_scale == 1 ? read : scale(context, read, config_.logit_scale);
}

template <class F>
Var Transformer::through(const Context& context, EmbeddedSide side, Var x, const F& forward) const {
  const bool encodes = side == EmbeddedSide::source;
  const std::vector<TransformerBlock>& blocks = encodes ? encoder_ : decoder_;
  const Index layers = std::ssize(blocks);
  for (Index layer = 0; layer < layers; ++layer) {
    show_hidden(context.observer, side, layer, x.value().view());
    x = forward(blocks[static_cast<std::size_t>(layer)], x);
  }
  // ViT's norm is its model's, not its encoder's: what layers are known to give of a picture has not been through it.
  const bool is_picture = encodes && config_.signal.kind == SignalKind::picture;
  const Var last = normed(context, x, side);
  show_hidden(context.observer, side, layers, (is_picture ? x : last).value().view());
  return last;
}

Var Transformer::encode(const Context& context, const TokenBatch& source, const Tensor& types) const {
  HEED_CHECK(config_.signal.any() == !source.signal.is_empty(), "Transformer: the encoder reads {}",
             config_.signal.any() ? "a signal, and there is none" : "tokens, and is given a signal");
  AttentionArguments arguments;
  if (!config_.signal.any()) arguments.mask = Mask::key_lengths(source.lengths);
  Var x = config_.signal.any() ? signal_input_.forward(context, source.signal)
                               : source_input_.forward(context, source.ids, {}, types);
  return through(context, EmbeddedSide::source, std::move(x), [&](const TransformerBlock& block, const Var& read) {
    return block.forward(context, read, arguments);
  });
}

Var Transformer::decode(const Context& context, const Tensor& input, const Tensor& offsets, const Var& encoded,
                        const Tensor& source_lengths) const {
  AttentionArguments self{.offsets = offsets};
  if (config_.causal) self.mask = Mask::causal();
  Mask memory_mask;
  if (!source_lengths.is_empty()) memory_mask = Mask::key_lengths(source_lengths);
  Var x = target_input_.forward(context, input, offsets.is_empty() ? Tensor() : positions_within(offsets));
  x = through(context, EmbeddedSide::decoder, std::move(x), [&](const TransformerBlock& block, const Var& read) {
    const Var memory = has_source() ? block.project_memory(context, encoded) : Var();
    return block.forward(context, read, self, memory, memory_mask);
  });
  return read_out(context, x);
}

Var Transformer::features(const Context& context, const SequenceBatch& batch) const {
  HEED_CHECK(config_.has_decoder(), "Transformer: has no decoder, so it predicts no next token");
  HEED_CHECK(
      has_source() == !batch.source.is_empty(), "Transformer: {}",
      has_source() ? "translates, and the batch has no source" : "is a language model, and the batch has a source");
  HEED_CHECK(batch.offsets.is_empty() || !has_source(), "Transformer: sequences end to end have no sources");
  return decode(context, batch.input, batch.offsets, has_source() ? encode(context, batch.source) : Var(),
                batch.source.lengths);
}

// --- Decoding --------------------------------------------------------------------------------------------------------

std::unique_ptr<DecoderState> Transformer::start(Precision cache) const {
  HEED_CHECK(config_.has_decoder(), "Transformer: has no decoder, so it predicts no next token");
  auto state = std::make_unique<State>();
  HEED_CHECK(config_.causal || cache == Precision::f32,
             "Transformer: a decoder that is not causal keeps no keys and values, so there are none to keep in {}",
             enum_name(cache));
  if (!config_.causal) return state;
  const DType dtype = Weight(target_embedding_.weight()).wide();
  for (const TransformerBlock& block : decoder_) state->blocks.push_back(block.make_memory(dtype, cache));
  return state;
}

void Transformer::admit(const Context& context, DecoderState& decoder_state, const TokenBatch& sequences) const {
  State& state = dynamic_cast<State&>(decoder_state);
  const Var encoded = has_source() ? encode(context, sequences) : Var();
  const std::vector<Index> lengths = lengths_of(sequences, has_source() ? encoded.dim(1) : 0);
  if (!config_.causal) {
    for (Index row = 0; row < std::ssize(lengths); ++row) {
      const Index length = lengths[static_cast<std::size_t>(row)];
      State::Row added;
      if (has_source()) {
        added.encoded = slice(context, slice(context, encoded, 0, row, row + 1), 1, 0, length);
      } else {
        const std::int32_t* ids = sequences.ids.data<std::int32_t>() + row * sequences.ids.dim(1);
        added.tokens.assign(ids, ids + length);
      }
      state.rows.push_back(std::move(added));
    }
  } else if (has_source()) {
    for (std::size_t i = 0; i < decoder_.size(); ++i) {
      decoder_[i].admit_source(context, encoded, lengths, state.blocks[i]);
    }
  } else {
    Var x = target_input_.forward(context, sequences.ids);
    for (std::size_t i = 0; i < decoder_.size(); ++i)
      x = decoder_[i].admit_tokens(context, x, lengths, state.blocks[i]);
  }
  const Tensor read = has_source() ? Tensor::zeros(DType::i32, {std::ssize(lengths)}) : sequences.lengths.clone();
  state.positions = join_rows(state.positions, read);
}

Var Transformer::reread(const Context& context, State& state, std::span<const std::int32_t> tokens) const {
  std::vector<Var> last;
  for (std::size_t row = 0; row < tokens.size(); ++row) {
    std::vector<std::int32_t>& read = state.rows[row].tokens;
    read.push_back(tokens[row]);
    const Index length = std::ssize(read);
    const Var& encoded = state.rows[row].encoded;
    Tensor source_lengths;
    if (has_source()) source_lengths = Tensor::from(std::vector<std::int32_t>{static_cast<int>(encoded.dim(1))}, {1});
    const Var x = decode(context, Tensor::from(read, {1, length}), {}, encoded, source_lengths);
    last.push_back(slice(context, x, 1, length - 1, length));
  }
  return concatenate(context, last, 0);
}

bool Transformer::go_on(const Context& context, DecoderState& decoder_state, Index kept,
                        std::span<const std::int32_t> tokens) const {
  State& state = dynamic_cast<State&>(decoder_state);
  if (has_source() || !config_.causal) return false;
  HEED_CHECK(state.positions.size() == 1 && kept <= state.positions.at<std::int32_t>({0}),
             "Transformer::go_on: not from {} tokens of one row, in a state of {} rows", kept, state.positions.size());
  for (const TransformerBlock::Memory& block : state.blocks) {
    if (!block.tokens->can_go_back()) return false;
  }
  for (const TransformerBlock::Memory& block : state.blocks) block.tokens->go_back(kept);
  const Index count = std::ssize(tokens);
  state.positions = Tensor::from(std::vector<std::int32_t>{static_cast<std::int32_t>(kept + count)}, {1});
  if (count == 0) return true;
  std::vector<std::int32_t> positions(tokens.size());
  std::iota(positions.begin(), positions.end(), static_cast<std::int32_t>(kept));
  Var x = target_input_.forward(context, Tensor::from(tokens, {1, count}), Tensor::from(positions, {1, count}));
  for (std::size_t i = 0; i < decoder_.size(); ++i) x = decoder_[i].step(context, x, state.blocks[i]);
  return true;
}

Tensor Transformer::step(const Context& context, DecoderState& decoder_state,
                         std::span<const std::int32_t> tokens) const {
  State& state = dynamic_cast<State&>(decoder_state);
  const Index rows = std::ssize(tokens);
  Var x;
  if (config_.causal) {
    x = target_input_.forward(context, Tensor::from(tokens, {rows, 1}), state.positions.reshape({rows, 1}));
    for (std::size_t i = 0; i < decoder_.size(); ++i) x = decoder_[i].step(context, x, state.blocks[i]);
    x = read_out(context, normed(context, x, EmbeddedSide::decoder));
  } else {
    x = reread(context, state, tokens);
  }
  for (std::int32_t *read = state.positions.data<std::int32_t>(), *end = read + rows; read < end; ++read) ++*read;
  return project(context, x).value().reshape({rows, config_.target_vocabulary});
}

}  // namespace heed
