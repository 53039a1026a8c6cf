#include "model_outputs.h"

#include <algorithm>

#include "attention_maps.h"
#include "case.h"
#include "heed/autograd/operators.h"
#include "heed/observe/hidden_recorder.h"
#include "model_case.h"
#include "token_ids.h"

namespace heed::conformance {

ModelOutputs::ModelOutputs(const std::filesystem::path& folder, const PretrainedModel& opened)
    : folder_(folder), model_(*opened.model), config_(model_.config()), begin_(opened.family.begin) {}

Array ModelOutputs::of(const Json& item, const std::string& name, const Array& like) {
  const Context context = Context::inference(workspace_);
  if (name == "pixel_values" || name == "input_features") {
    const Tensor signal = source_of(item, folder_, config_.signal).signal;
    return with_shape(signal, like.shape);
  }
  if (name.ends_with("attentions")) return maps_of(item, name, like);
  if (name.ends_with("hidden_states")) return states_of(item, name, like);
  if (name == "encoder_hidden") return rows_at(encoded(item).value(), item, "positions", like);
  if (!config_.has_decoder()) return of_encoder(item, name, like);
  const SequenceBatch batch = sequences_of(item);
  const auto [key, first] = decoder_rows(item);
  const Var features = model_.features(context, batch);
  const Var hidden = config_.logit_scale == 1 ? features : scale(context, features, 1 / config_.logit_scale);
  if (name == "last_hidden_state") return rows_at(hidden.value(), item, key, like, first);
  if (config_.encoder_heads.classifier != ClassifierKind::none) return of_classes(item, name, like, hidden, key);
  if (name == "logits") return rows_at(model_.project(context, features).value(), item, key, like, first);
  throw Skip("the output " + name);
}

ModelOutputs::Rows ModelOutputs::decoder_rows(const Json& item) const {
  if (config_.has_encoder()) return {"decoder_positions", 0};
  return {"positions", without_padding(item).before};
}

// What each layer of a side reads and the last one gives, [layers + 1, rows, width], or, where the case has it,
// [layers + 1, 1, rows, width].
Array ModelOutputs::states_of(const Json& item, const std::string& name, const Array& like) {
  const bool of_encoder = name == "encoder_hidden_states" || (name == "hidden_states" && !config_.has_decoder());
  const Index layers = of_encoder ? config_.encoder_layers : config_.decoder_layers;
  HiddenRecorder recorder(of_encoder ? EmbeddedSide::source : EmbeddedSide::decoder, 0, layers);
  if (of_encoder) {
    encoded(item, &recorder);
  } else {
    model_.features(Context::inference(workspace_, &recorder), sequences_of(item));
  }
  const auto [key, first] = of_encoder ? Rows{"positions", 0} : decoder_rows(item);
  Tensor all;
  for (Index layer = 0; layer <= layers; ++layer) {
    all = join_rows(all, chosen_rows(recorder.layer(layer), item, key, first));
  }
  const Index rows = all.dim(0) / (layers + 1);
  return with_shape(
      all, like.shape.size() == 4 ? Extents{layers + 1, 1, rows, all.dim(1)} : Extents{layers + 1, rows, all.dim(1)});
}

// The weights of all layers of a kind, [layers, heads, queries, keys], or, where the case has it, [layers, 1, heads,
// queries, keys].
Array ModelOutputs::maps_of(const Json& item, const std::string& name, const Array& like) {
  const bool of_encoder = name == "encoder_attentions" || (name == "attentions" && !config_.has_decoder());
  AttentionMaps maps(name == "cross_attentions" ? AttentionKind::cross
                     : of_encoder               ? AttentionKind::encoder
                                                : AttentionKind::decoder);
  if (config_.has_decoder()) {
    model_.features(Context::inference(workspace_, &maps), sequences_of(item));
  } else {
    encoded(item, &maps);
  }
  const Tensor all = maps.stacked();
  Extents shape{all.dim(0), all.dim(1), all.dim(2), all.dim(3)};
  if (like.shape.size() == 5) shape.insert(shape.begin() + 1, 1);
  return with_shape(all, shape);
}

SequenceBatch ModelOutputs::sequences_of(const Json& item) const {
  SequenceBatch batch;
  const Ids ids = decoder_input(item);
  batch.input = Tensor::from(ids, {1, std::ssize(ids)});
  if (config_.has_encoder()) batch.source = source_of(item, folder_, config_.signal);
  return batch;
}

// Of a model with an encoder the source behind the begin token, where the case has no other.
ModelOutputs::Ids ModelOutputs::decoder_input(const Json& item) const {
  if (!config_.has_encoder()) {
    const Tokens tokens = without_padding(item);
    if (tokens.before > 0 && config_.positions != PositionKind::none) {
      throw Skip("positions that count the padding before a text");
    }
    return tokens.ids;
  }
  if (item.has("decoder_input_ids") || !item.has("input_ids")) return token_ids(item["decoder_input_ids"]);
  Ids ids = without_padding(item).ids;
  ids.insert(ids.begin(), begin_);
  ids.pop_back();
  return ids;
}

Var ModelOutputs::encoded(const Json& item, AttentionObserver* observer) {
  Tensor types;
  if (item.has("token_type_ids")) {
    const Ids ids = token_ids(item["token_type_ids"]);
    // A tokenizer may say that all are of the one type, which a model without any leaves out.
    const bool tells_apart = config_.token_types > 0 || std::ranges::count(ids, 0) != std::ssize(ids);
    if (tells_apart) types = Tensor::from(ids, {1, std::ssize(ids)});
  }
  return model_.encode(Context::inference(workspace_, observer), source_of(item, folder_, config_.signal), types);
}

// `logits` are those of the classes, or, in a model without any, of masked words.
Array ModelOutputs::of_encoder(const Json& item, const std::string& name, const Array& like) {
  const EncoderHeads& heads = model_.heads();
  const ClassifierKind classifier = config_.encoder_heads.classifier;
  const Context context = Context::inference(workspace_);
  const Var hidden = encoded(item);
  const bool has_classes = classifier != ClassifierKind::none;
  if (name == "last_hidden_state") return rows_at(hidden.value(), item, "positions", like);
  if (name == "pooler_output") return of_sequence(heads.pooled(context, hidden).value(), like);
  if (name == "prediction_logits" || (name == "logits" && !has_classes)) {
    return rows_at(heads.masked_word_logits(context, hidden).value(), item, "positions", like);
  }
  return of_classes(item, name, like, hidden, "positions");
}

Array ModelOutputs::of_classes(const Json& item, const std::string& name, const Array& like, const Var& hidden,
                               const char* positions) {
  const Context context = Context::inference(workspace_);
  const Tensor logits = model_.heads().class_logits(context, hidden).value();
  const bool of_spans = config_.encoder_heads.classifier == ClassifierKind::spans;
  if (of_spans && (name == "start_logits" || name == "end_logits")) {
    return of_sequence(one_of_two(logits, name == "end_logits", item, positions), like);
  }
  if (name != "logits" && name != "seq_relationship_logits") throw Skip("the output " + name);
  if (logits.rank() == 3) return rows_at(logits, item, positions, like);
  return of_sequence(logits, like);
}

}  // namespace heed::conformance
