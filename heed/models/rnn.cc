#include "heed/models/rnn.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "heed/autograd/loss.h"
#include "heed/autograd/operators.h"
#include "heed/autograd/recurrent.h"
#include "heed/base/check.h"
#include "heed/io/fields.h"

namespace heed {

class RnnTranslator::State : public DecoderState {
 public:
  void select_rows(std::span<const Index> rows) override {
    const auto select_of = [rows](Var& var) {
      if (var) var = Var(var.value().gather_rows(rows));
    };
    position.memory.select_rows(rows);
    for (RecurrentState& state : position.states) select_of(state.h), select_of(state.c);
    select_of(position.feed);
    std::vector<Index> lengths;
    for (Index row : rows) lengths.push_back(position.lengths[row]);
    position.lengths = std::move(lengths);
  }

  void append(const Position& more) {
    if (position.lengths.empty()) {
      position = more;
      return;
    }
    const auto append_to = [](Var& var, const Var& rows) {
      if (var) var = Var(join_rows(var.value(), rows.value()));
    };
    position.memory.append(more.memory);
    for (std::size_t layer = 0; layer < position.states.size(); ++layer) {
      append_to(position.states[layer].h, more.states[layer].h);
      append_to(position.states[layer].c, more.states[layer].c);
    }
    append_to(position.feed, more.feed);
    position.lengths.insert(position.lengths.end(), more.lengths.begin(), more.lengths.end());
  }

  Position position;
};

RnnTranslator::RnnTranslator(const ParameterScope& scope, const RnnConfig& config) : config_(config) {
  config.check();
  const bool bahdanau = config.style == RnnStyle::bahdanau;
  const Index e = config.embedding_width, h = config.state_width, m = config.memory_width();
  const double scale = std::sqrt(static_cast<double>(e));
  source_embedding_ = Embedding(scope / (config.share_embeddings ? "embedding" : "source_embedding"),
                                config.source_vocabulary, e, scale);
  if (!config.share_embeddings) {
    target_embedding_ = Embedding(scope / "target_embedding", config.target_vocabulary, e, scale);
  }
  const ParameterScope decoder = scope / "decoder";
  encoder_ = Recurrent(scope / "encoder", {.cell = config.cell,
                                           .inputs = e,
                                           .hidden = config.encoder_units(),
                                           .layers = config.encoder_layers,
                                           .direction = config.bidirectional ? Direction::both : Direction::forward,
                                           .dropout = config.dropout});
  decoder_ = Recurrent(decoder, {.cell = config.cell,
                                 .inputs = e + (bahdanau               ? m
                                                : config.input_feeding ? e
                                                                       : 0),
                                 .hidden = h,
                                 .layers = config.decoder_layers,
                                 .dropout = config.dropout});
  for (Index layer = 0; bahdanau && layer < config.decoder_layers; ++layer) {
    initial_.emplace_back(decoder / "initial" / layer, h, h);
  }
  attention_ = RnnAttention(decoder / "attention", {.score = config.score,
                                                    .query_width = h,
                                                    .memory_width = m,
                                                    .width = config.attention_width,
                                                    .reach = config.reach,
                                                    .window = config.local_window});
  readout_ = Linear(decoder / "readout", h + m + (bahdanau ? e : 0), e);
  if (!config.tie_output) output_ = Linear(scope / "generator", e, config.target_vocabulary, /*bias=*/false);
}

std::vector<RecurrentState> RnnTranslator::initial_states(const Context& context,
                                                          const RecurrentOutput& encoded) const {
  std::vector<RecurrentState> states;
  for (Index layer = 0; layer < config_.decoder_layers; ++layer) {
    const Index directions = config_.directions(), from = std::min(layer, config_.encoder_layers - 1) * directions;
    const std::span<const RecurrentState> last(&encoded.last[from], static_cast<std::size_t>(directions));
    if (config_.style == RnnStyle::bahdanau) {
      const Var h = activate(context, Activation::tanh, initial_[layer].forward(context, last.back().h));
      const bool memory_cell = static_cast<bool>(last.back().c);
      states.push_back({h, memory_cell ? Var(Tensor::zeros_like(h.value().view())) : Var()});
    } else if (directions == 1) {
      states.push_back(last[0]);
    } else {
      const auto side_by_side = [&](const Var& forward, const Var& reverse) {
        return concatenate(context, std::array{forward, reverse});
      };
      states.push_back({side_by_side(last[0].h, last[1].h), last[0].c ? side_by_side(last[0].c, last[1].c) : Var()});
    }
  }
  return states;
}

RnnTranslator::Position RnnTranslator::begin(const Context& context, const TokenBatch& source) const {
  const Var e = dropout(context, source_embedding_.forward(context, source.ids), config_.dropout);
  const RecurrentOutput encoded = encoder_.forward(context, e, source.lengths);
  Position at{attention_.prepare(context, encoded.states, source.lengths),
              initial_states(context, encoded),
              {},
              std::vector<Index>(static_cast<std::size_t>(e.dim(0)), 0)};
  if (config_.input_feeding) at.feed = Var(Tensor::zeros(e.dtype(), {e.dim(0), config_.embedding_width}));
  return at;
}

Var RnnTranslator::attend(const Context& context, const Position& at) const {
  const Var& state = at.states.back().h;
  const Index rows = state.dim(0);
  const Var query = reshape(context, state, {rows, 1, config_.state_width});
  return reshape(context, attention_.forward(context, query, at.memory, at.lengths), {rows, config_.memory_width()});
}

Var RnnTranslator::readout(const Context& context, const Var& state, const Var& found, const Var& e) const {
  const Var features = config_.style == RnnStyle::bahdanau ? concatenate(context, std::array{state, found, e})
                                                           : concatenate(context, std::array{state, found});
  return activate(context, Activation::tanh, readout_.forward(context, features));
}

Var RnnTranslator::advance(const Context& context, const Var& e, Position& at) const {
  if (config_.style == RnnStyle::bahdanau) {
    const Var found = attend(context, at);
    at.states = decoder_.step(context, concatenate(context, std::array{e, found}), at.states);
    at.read_token();
    return found;
  }
  const Var input = config_.input_feeding ? concatenate(context, std::array{e, at.feed}) : e;
  at.states = decoder_.step(context, input, at.states);
  const Var found = attend(context, at);
  at.read_token();
  return found;
}

Var RnnTranslator::read_target(const Context& context, const Var& e, Position at) const {
  if (config_.style == RnnStyle::luong && !config_.input_feeding) {
    // No step reads what an earlier one found, so all positions attend at once.
    const Var states = decoder_.forward(context, e, {}, at.states).states;
    return readout(context, states, attention_.forward(context, states, at.memory, at.lengths), e);
  }
  std::vector<Var> states, founds, readouts;
  for (const Var& e_t : split_time(context, e)) {
    const Var found = advance(context, e_t, at);
    if (config_.input_feeding) {
      at.feed = readout(context, at.states.back().h, found, e_t);
      readouts.push_back(at.feed);
    } else {
      states.push_back(at.states.back().h);
      founds.push_back(found);
    }
  }
  if (config_.input_feeding) return stack_time(context, readouts);
  return readout(context, stack_time(context, states), stack_time(context, founds), e);
}

Var RnnTranslator::features(const Context& context, const SequenceBatch& batch) const {
  HEED_CHECK(!batch.source.ids.is_empty() && batch.offsets.is_empty(),
             "RnnTranslator: needs a source for each row, and sequences do not lie end to end");
  const Var e = dropout(context, target_embedding().forward(context, batch.input), config_.dropout);
  return dropout(context, read_target(context, e, begin(context, batch.source)), config_.dropout);
}

std::unique_ptr<DecoderState> RnnTranslator::start(Precision cache) const {
  HEED_CHECK(cache == Precision::f32, "RnnTranslator: keeps no keys and values, so there are none to keep in {}",
             enum_name(cache));
  return std::make_unique<State>();
}

void RnnTranslator::admit(const Context& context, DecoderState& state, const TokenBatch& sources) const {
  HEED_CHECK(context.tape == nullptr,
             "RnnTranslator::admit: decoding has no gradient, so the context must have no tape");
  dynamic_cast<State&>(state).append(begin(context, sources));
}

Tensor RnnTranslator::step(const Context& context, DecoderState& decoder_state,
                           std::span<const std::int32_t> tokens) const {
  Position& at = dynamic_cast<State&>(decoder_state).position;
  const Tensor ids =
      Tensor::from(std::vector<std::int32_t>(tokens.begin(), tokens.end()), {static_cast<Index>(tokens.size())});
  const Var e = target_embedding().forward(context, ids);
  const Var found = advance(context, e, at);
  const Var read = readout(context, at.states.back().h, found, e);
  if (config_.input_feeding) at.feed = read;
  return linear(context, read, output_weight(), {}).value();
}

}  // namespace heed
