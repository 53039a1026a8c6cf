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

// Puts rows [0, rows) of each head of batch element `row` of [B, heads, rows, columns] at rows [first, ...) of
// [heads, all rows, columns], where the array is made if it is empty.
void put_rows(const ConstView& from, Index row, Index rows, Index first, Index all_rows, Index columns,
              TraceArray& array) {
  const Index heads = from.shape[1];
  if (array.empty()) {
    array.shape = {heads, all_rows, columns};
    array.values.resize(static_cast<std::size_t>(heads * all_rows * columns));
  }
  for (Index h = 0; h < heads; ++h) {
    for (Index i = 0; i < rows; ++i) {
      float* const to = array.values.data() + (h * all_rows + first + i) * columns;
      for (Index j = 0; j < columns; ++j) to[j] = from.at<float>({row, h, i, j});
    }
  }
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
  HEED_CHECK(!weights.empty() && weights.dtype == DType::f32 && weights.rank == 4 && sentence_.row < weights.shape[0],
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
  for (Index h = 0; h < heads; ++h) {
    for (Index i = 0; i < queries; ++i) {
      float* const row = map.weights.data() + (h * map.queries + found.filled + i) * map.keys;
      for (Index j = 0; j < keys; ++j) row[j] = weights.at<float>({sentence_.row, h, i, j});
    }
  }
  found.filled += queries;
}

void AttentionRecorder::on_scores(const AttentionSite& site, const AttentionScores& scores) {
  const auto& [q, k, scale, bias] = scores;
  HEED_CHECK(q.dtype == DType::f32 && q.rank == 4 && k.dtype == DType::f32 && k.rank == 4 &&
                 sentence_.row < q.shape[0] && sentence_.row < k.shape[0],
             "AttentionRecorder: {}: scores must be of f32 [B, H, L, D] with row {} in the batch, but are of {} and {}",
             site.path, sentence_.row, describe(q), describe(k));
  Site& found = site_of(site, q.shape[1]);
  AttentionTrace::Map& map = found.map;
  HEED_CHECK(map.heads == q.shape[1] && k.shape[2] >= map.keys,
             "AttentionRecorder: {}: scores of {} heads over {} keys are now of {} and {}", site.path, map.heads,
             map.keys, describe(q), describe(k));
  const Index queries = std::min(q.shape[2], map.queries - found.filled), row = sentence_.row;
  put_rows(q, row, queries, found.filled, map.queries, q.shape[3], map.q);
  put_rows(k, row, map.keys, 0, map.keys, k.shape[3], map.k);
  map.scale = scale;
  if (bias.empty()) return;
  put_rows(bias, row, queries, found.filled, map.queries, map.keys, map.bias);
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
