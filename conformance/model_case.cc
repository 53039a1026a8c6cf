#include "model_case.h"

#include <algorithm>
#include <map>

#include "case.h"
#include "heed/image/image.h"
#include "heed/io/npy.h"
#include "heed/pretrained/pixel_values.h"
#include "heed/sound/log_mel.h"
#include "heed/sound/wave.h"
#include "token_ids.h"

namespace heed::conformance {
namespace {

namespace fs = std::filesystem;

using Ids = std::vector<std::int32_t>;

// Hugging Face has sound's channels before its frames; with as many of both it cannot be told, and stays.
Tensor frames_first(const Tensor& sound, const SignalOptions& signal) {
  const bool is_sound = signal.kind == SignalKind::sound && sound.rank() == 3 && sound.dtype() == DType::f32;
  if (!is_sound || sound.dim(1) != signal.channels || sound.dim(2) != signal.frames) return sound;
  Tensor turned = Tensor::empty(sound.dtype(), {sound.dim(0), sound.dim(2), sound.dim(1)});
  for (Index b = 0; b < sound.dim(0); ++b) {
    for (Index channel = 0; channel < sound.dim(1); ++channel) {
      for (Index frame = 0; frame < sound.dim(2); ++frame)
        turned.at<float>({b, frame, channel}) = sound.at<float>({b, channel, frame});
    }
  }
  return turned;
}

}  // namespace

Tokens without_padding(const Json& item) {
  Ids ids = token_ids(item["input_ids"]);
  if (!item.has("attention_mask")) return {std::move(ids)};
  const std::vector<Index> mask = item["attention_mask"].integer_list(0, 1);
  const auto begin = std::ranges::find(mask, 1), end = std::find(begin, mask.end(), 0);
  if (mask.size() != ids.size() || std::find(end, mask.end(), 1) != mask.end()) {
    item["attention_mask"].refuse("must be ones for the tokens, with zeros for padding before or behind them");
  }
  const Index before = begin - mask.begin();
  return {{ids.begin() + before, ids.begin() + (end - mask.begin())}, before};
}

TokenBatch batch_of(const Ids& ids) {
  return {Tensor::from(ids, {1, std::ssize(ids)}), Tensor::from(Ids{static_cast<std::int32_t>(ids.size())}, {1})};
}

TokenBatch source_of(const Json& item, const fs::path& folder, const SignalOptions& signal) {
  if (item.has("picture")) {
    const Image image = read_image(folder / item["picture"].string());
    return {.signal = pixel_values(image, read_pixel_options(folder), signal)};
  }
  if (item.has("wave")) {
    const Wave wave = resampled(read_wave(folder / item["wave"].string()), kLogMelRate);
    return {.signal = log_mel(wave.samples, {.bands = signal.channels, .frames = signal.frames})};
  }
  for (const char* array : {"pixel_values", "input_features"}) {
    if (item.has(array)) return {.signal = frames_first(read_npy(folder / item[array].string()), signal)};
  }
  const Tokens tokens = without_padding(item);
  if (tokens.before > 0) throw Skip("padding before a source");
  const Ids ids = token_ids(item["input_ids"]), length{static_cast<std::int32_t>(tokens.ids.size())};
  return {Tensor::from(ids, {1, std::ssize(ids)}), Tensor::from(length, {1})};
}

Tensor chosen_rows(const Tensor& rows, const Json& item, std::string_view key, Index first) {
  std::vector<Index> positions;
  if (item.has(key)) {
    for (Index position : item[key].integer_list(first, first + rows.dim(1) - 1)) positions.push_back(position - first);
  } else {
    for (Index i = 0; i < rows.dim(1); ++i) positions.push_back(i);
  }
  return rows.reshape({rows.dim(1), rows.dim(2)}).gather_rows(positions);
}

Array rows_at(const Tensor& rows, const Json& item, std::string_view key, const Array& like, Index first) {
  const Tensor chosen = chosen_rows(rows, item, key, first);
  Extents shape{chosen.dim(0), chosen.dim(1)};
  if (like.shape.size() == 3) shape.insert(shape.begin(), 1);
  return with_shape(chosen, shape);
}

Array of_sequence(const Tensor& numbers, const Array& like) {
  const Index width = numbers.dim(1);
  return with_shape(numbers, like.shape.size() == 1 ? Extents{width} : Extents{1, width});
}

Tensor one_of_two(const Tensor& logits, bool second, const Json& item, std::string_view key) {
  std::vector<float> column;
  for (Index i = 0; i < logits.dim(1); ++i) {
    const bool wanted = !item.has(key) || std::ranges::count(item[key].integer_list(), i) > 0;
    if (wanted) column.push_back(logits.at<float>({0, i, second ? 1 : 0}));
  }
  return Tensor::from(column, {1, std::ssize(column)});
}

std::string output_named(const std::string& name) {
  static const std::map<std::string, std::string> kNames{{"encoder_last_hidden_state", "encoder_hidden"},
                                                         {"encoder_hidden_state", "encoder_hidden"},
                                                         {"encoder_output", "encoder_hidden"},
                                                         {"decoder_hidden", "last_hidden_state"},
                                                         {"decoder_last_hidden_state", "last_hidden_state"},
                                                         {"hidden", "last_hidden_state"},
                                                         {"pooled", "pooler_output"},
                                                         {"pooler", "pooler_output"},
                                                         {"sop_logits", "seq_relationship_logits"}};
  const auto found = kNames.find(name);
  return found == kNames.end() ? name : found->second;
}

}  // namespace heed::conformance
