#include "heed/observe/recorder.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "heed/base/check.h"

namespace heed {
namespace {

// The number that is a part of a layer's path: 3 of "decoder.layers.3.multihead_attn".
std::optional<Index> number_in(std::string_view path) {
  while (!path.empty()) {
    const std::string_view part = path.substr(0, path.find('.'));
    Index number = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), number);
    if (error == std::errc() && end == part.data() + part.size() && number >= 0) return number;
    path.remove_prefix(std::min(path.size(), part.size() + 1));
  }
  return {};
}

}  // namespace

AttentionRecorder::AttentionRecorder(Sentence sentence, std::function<bool(const AttentionSite&)> wanted)
    : sentence_(sentence), wanted_(std::move(wanted)) {
  HEED_CHECK(sentence.row >= 0 && sentence.source_length >= 0 && sentence.target_length >= 0,
             "AttentionRecorder: row and lengths must not be negative, but are {}, {} and {}", sentence.row,
             sentence.source_length, sentence.target_length);
}

bool AttentionRecorder::wants(const AttentionSite& site) const { return !wanted_ || wanted_(site); }

void AttentionRecorder::on_weights(const AttentionSite& site, ConstView weights) {
  HEED_CHECK(!weights.empty() && weights.dtype == DType::f32 && weights.rank == 4 && sentence_.row < weights.shape[0],
             "AttentionRecorder: {}: weights must be f32 [B, H, Lq, Lk] with row {} in the batch, but are {}",
             site.path, sentence_.row, describe(weights));
  const Index heads = weights.shape[1];
  auto found =
      std::ranges::find(recorded_, site.path, [](const Recorded& r) -> std::string_view { return r.map.path; });
  if (found == recorded_.end()) {
    AttentionTrace::Map map{.path = std::string(site.path), .kind = site.kind, .heads = heads};
    const auto before = std::ranges::count(recorded_, site.kind, [](const Recorded& r) { return r.map.kind; });
    map.layer = number_in(site.path).value_or(static_cast<Index>(before));
    map.queries = site.kind == AttentionKind::encoder ? sentence_.source_length : sentence_.target_length;
    map.keys = site.kind == AttentionKind::decoder ? sentence_.target_length : sentence_.source_length;
    map.weights.resize(static_cast<std::size_t>(heads * map.queries * map.keys));
    found = recorded_.insert(recorded_.end(), {std::move(map), 0});
  }
  AttentionTrace::Map& map = found->map;
  HEED_CHECK(map.heads == heads && map.kind == site.kind, "AttentionRecorder: {}: had {} heads, and now weights are {}",
             site.path, map.heads, describe(weights));

  const Index queries = std::min(weights.shape[2], map.queries - found->filled);
  const Index keys = std::min(weights.shape[3], map.keys);
  // Only self-attention of the target may see fewer keys than the sentence has: those of the steps so far.
  const Index needed = map.kind == AttentionKind::decoder ? found->filled + queries : map.keys;
  HEED_CHECK(queries == 0 || keys >= needed,
             "AttentionRecorder: {}: queries up to {} of the sentence need {} keys, but weights are {}", site.path,
             found->filled + queries, needed, describe(weights));
  for (Index h = 0; h < heads; ++h) {
    for (Index i = 0; i < queries; ++i) {
      float* const row = map.weights.data() + (h * map.queries + found->filled + i) * map.keys;
      for (Index j = 0; j < keys; ++j) row[j] = weights.at<float>({sentence_.row, h, i, j});
    }
  }
  found->filled += queries;
}

std::vector<AttentionTrace::Map> AttentionRecorder::take_maps() {
  std::vector<AttentionTrace::Map> maps;
  for (Recorded& recorded : recorded_) {
    HEED_CHECK(recorded.filled == recorded.map.queries,
               "AttentionRecorder: {}: was shown {} of the sentence's {} queries", recorded.map.path, recorded.filled,
               recorded.map.queries);
    maps.push_back(std::move(recorded.map));
  }
  recorded_.clear();
  return maps;
}

}  // namespace heed
