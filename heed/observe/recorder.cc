#include "heed/observe/recorder.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <utility>

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

// Rows [0, rows) of [B, rows or more, width] of batch element `row`.
TraceArray rows_of(const ConstView& view, Index row, Index rows) {
  TraceArray array{{rows, view.shape[2]}, {}};
  array.values.reserve(static_cast<std::size_t>(rows * view.shape[2]));
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < view.shape[2]; ++j) array.values.push_back(view.at<float>({row, i, j}));
  return array;
}

// Rows [0, rows) and columns [0, columns) of each head of batch element `row` of [B, heads, rows, columns].
ConstView part_of(const ConstView& view, Index row, Index rows, Index columns) {
  return slice(slice(select(view, 0, row), 1, 0, rows), 2, 0, columns);
}

// Puts [heads, rows, columns] at rows [first, ...) of [heads, all rows, width].
void put_rows(const ConstView& from, Index first, Index all_rows, Index width, float* to) {
  for (Index h = 0; h < from.shape[0]; ++h) {
    for (Index i = 0; i < from.shape[1]; ++i) {
      float* const row = to + (h * all_rows + first + i) * width;
      for (Index j = 0; j < from.shape[2]; ++j) row[j] = from.at<float>({h, i, j});
    }
  }
}

// The same of an array as wide, which is made where it is empty.
void put_rows(const ConstView& from, Index first, Index all_rows, TraceArray& array) {
  const Index heads = from.shape[0], width = from.shape[2];
  if (array.empty())
    array = {{heads, all_rows, width}, std::vector<float>(static_cast<std::size_t>(heads * all_rows * width))};
  put_rows(from, first, all_rows, width, array.values.data());
}

bool is_f32_of(const ConstView& view, Index row) {
  return !view.empty() && view.dtype == DType::f32 && view.rank == 4 && row < view.shape[0];
}

// Whether there is nothing yet, or what there is has this many heads, this wide.
bool goes_with(const TraceArray& array, Index heads, Index width) {
  return array.empty() || (array.shape[0] == heads && array.shape[2] == width);
}

}  // namespace

AttentionRecorder::AttentionRecorder(Sentence sentence, TraceParts parts,
                                     std::function<bool(const AttentionSite&)> wanted)
    : sentence_(sentence), parts_(parts), wanted_(std::move(wanted)) {
  HEED_CHECK(sentence.row >= 0 && sentence.source_length >= 0 && sentence.target_length >= 0,
             "AttentionRecorder: row and lengths must not be negative, but are {}, {} and {}", sentence.row,
             sentence.source_length, sentence.target_length);
}

bool AttentionRecorder::wants(const AttentionSite& site) const { return !wanted_ || wanted_(site); }

AttentionRecorder::Site& AttentionRecorder::site_of(const AttentionSite& site, Index heads) {
  auto found = std::ranges::find(sites_, site.path, [](const Site& one) -> std::string_view { return one.map.path; });
  if (found == sites_.end()) {
    AttentionTrace::Map map{.path = std::string(site.path), .kind = site.kind, .heads = heads};
    const auto before = std::ranges::count(sites_, site.kind, [](const Site& one) { return one.map.kind; });
    map.layer = number_in(site.path).value_or(static_cast<Index>(before));
    map.queries = site.kind == AttentionKind::encoder ? sentence_.source_length : sentence_.target_length;
    map.keys = site.kind == AttentionKind::decoder ? sentence_.target_length : sentence_.source_length;
    map.weights.resize(static_cast<std::size_t>(heads * map.queries * map.keys));
    found = sites_.insert(sites_.end(), {std::move(map), 0});
  }
  return *found;
}

void AttentionRecorder::on_weights(const AttentionSite& site, ConstView weights) {
  HEED_CHECK(is_f32_of(weights, sentence_.row),
             "AttentionRecorder: {}: weights must be f32 [B, H, Lq, Lk] with row {} in the batch, but are {}",
             site.path, sentence_.row, describe(weights));
  const Index heads = weights.shape[1];
  Site& found = site_of(site, heads);
  AttentionTrace::Map& map = found.map;
  HEED_CHECK(map.heads == heads && map.kind == site.kind, "AttentionRecorder: {}: had {} heads, and now weights are {}",
             site.path, map.heads, describe(weights));

  const Index queries = std::min(weights.shape[2], map.queries - found.filled);
  const Index keys = std::min(weights.shape[3], map.keys);
  // Only self-attention of the target may see fewer keys than the sentence has: those of the steps so far.
  const Index needed = map.kind == AttentionKind::decoder ? found.filled + queries : map.keys;
  HEED_CHECK(queries == 0 || keys >= needed,
             "AttentionRecorder: {}: queries up to {} of the sentence need {} keys, but weights are {}", site.path,
             found.filled + queries, needed, describe(weights));
  put_rows(part_of(weights, sentence_.row, queries, keys), found.filled, map.queries, map.keys, map.weights.data());
  found.filled += queries;
}

void AttentionRecorder::on_scores(const AttentionSite& site, const AttentionScores& scores) {
  const auto& [q, k, scale, bias] = scores;
  const Index row = sentence_.row;
  HEED_CHECK(is_f32_of(q, row) && is_f32_of(k, row) && q.shape[3] == k.shape[3],
             "AttentionRecorder: {}: scores must be of f32 [B, H, L, D] with row {} in the batch, but are of {} and {}",
             site.path, row, describe(q), describe(k));
  const Index heads = q.shape[1], width = q.shape[3];
  Site& found = site_of(site, heads);
  AttentionTrace::Map& map = found.map;
  const bool goes_on = map.heads == heads && map.kind == site.kind && goes_with(map.q, heads, width) &&
                       goes_with(map.k, k.shape[1], width);
  HEED_CHECK(goes_on && k.shape[2] >= map.keys,
             "AttentionRecorder: {}: scores of {} heads over {} keys are now of {} and {}", site.path, map.heads,
             map.keys, describe(q), describe(k));
  const Index queries = std::min(q.shape[2], map.queries - found.filled);
  HEED_CHECK(bias.empty() || (is_f32_of(bias, row) && bias.shape[1] == heads && bias.shape[2] >= queries &&
                              bias.shape[3] >= map.keys),
             "AttentionRecorder: {}: a bias must be f32 [B, H, Lq, Lk] as scores of {} and {} are, but is {}",
             site.path, describe(q), describe(k), describe(bias));
  put_rows(part_of(q, row, queries, width), found.filled, map.queries, map.q);
  put_rows(part_of(k, row, map.keys, width), 0, map.keys, map.k);
  map.scale = scale;
  if (bias.empty()) return;
  put_rows(part_of(bias, row, queries, map.keys), found.filled, map.queries, map.bias);
  // A bias may refuse a key, whose weight is 0; a trace has finite numbers.
  for (float& number : map.bias.values) number = std::max(number, std::numeric_limits<float>::lowest());
}

Index AttentionRecorder::length_of(EmbeddedSide side) const {
  return side == EmbeddedSide::source ? sentence_.source_length : sentence_.target_length;
}

void AttentionRecorder::on_embeddings(EmbeddedSide side, ConstView before, ConstView after) {
  const Index length = length_of(side), row = sentence_.row;
  HEED_CHECK(before.rank == 3 && row < before.shape[0] && before.shape[1] >= length && after.rank == 3 &&
                 std::ranges::equal(before.shape, after.shape),
             "AttentionRecorder: embeddings must be f32 [B, L, width] of {} tokens with row {} in the batch, but are "
             "{} and {}",
             length, row, describe(before), describe(after));
  AttentionTrace::Embeddings& kept = side == EmbeddedSide::source ? source_embeddings_ : decoder_embeddings_;
  kept = {rows_of(before, row, length), rows_of(after, row, length)};
}

AttentionTrace::Embeddings AttentionRecorder::take_embeddings(EmbeddedSide side) {
  return std::exchange(side == EmbeddedSide::source ? source_embeddings_ : decoder_embeddings_, {});
}

std::vector<AttentionTrace::Map> AttentionRecorder::take_maps() {
  std::vector<AttentionTrace::Map> maps;
  for (Site& site : sites_) {
    HEED_CHECK(site.filled == site.map.queries, "AttentionRecorder: {}: was shown {} of the sentence's {} queries",
               site.map.path, site.filled, site.map.queries);
    maps.push_back(std::move(site.map));
  }
  sites_.clear();
  return maps;
}

}  // namespace heed
