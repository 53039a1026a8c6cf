#include "heed/tasks/caption_score.h"

#include <algorithm>

#include "heed/base/check.h"

namespace heed {
namespace {

bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }

Index visible_characters(std::string_view text) {
  return std::ranges::count_if(text, [](char c) { return begins_character(c) && c != ' '; });
}

// Where the character of this number begins.
std::size_t offset_of(std::string_view text, Index character) {
  std::size_t at = 0;
  for (; at < text.size(); ++at) {
    if (begins_character(text[at]) && character-- == 0) break;
  }
  return at;
}

// The last layer of cross-attention, or the one that is asked for.
const AttentionTrace::Map& map_of(const AttentionTrace& trace, const CaptionLook& look) {
  const AttentionTrace::Map* found = nullptr;
  for (const AttentionTrace::Map& map : trace.maps) {
    if (map.kind == AttentionKind::cross && (!look.layer || map.layer == *look.layer)) found = &map;
  }
  HEED_CHECK(found != nullptr, "the decoder has no layer {}", look.layer.value_or(0));
  return *found;
}

// How many visible characters each of the caption's pieces has.
std::vector<Index> piece_lengths(const Vocabulary& vocabulary, std::span<const int> ids) {
  std::vector<Index> lengths;
  for (int id : ids) lengths.push_back(visible_characters(vocabulary.decode({&id, 1})));
  return lengths;
}

// Whether the middle of the most attended patch is in the box.
bool looks_into(const PatchMap& map, const SignalOptions& signal, const SceneBox& box) {
  const Index most = std::ranges::max_element(map.weights) - map.weights.begin();
  const double x = (static_cast<double>(most % map.columns) + 0.5) * static_cast<double>(signal.patch);
  const double y = (static_cast<double>(most / map.columns) + 0.5) * static_cast<double>(signal.patch);
  return x >= static_cast<double>(box.left) && x <= static_cast<double>(box.left + box.width) &&
         y >= static_cast<double>(box.top) && y <= static_cast<double>(box.top + box.height);
}

void look_at_nouns(const ModelFolder& folder, const Image& image, const std::string& reference,
                   const std::vector<PlacedWord>& words, const CaptionLook& look, CaptionScore& score) {
  const AttentionTrace trace = trace_caption(folder, image, folder.target_ids(reference));
  for (const PlacedWord& word : words) {
    if (!word.noun) continue;
    const PatchMap map = map_of_characters(folder, trace, reference, word.begin, word.end, look);
    ++score.nouns;
    score.found += looks_into(map, folder.config.transformer.signal, word.box) ? 1 : 0;
  }
}

}  // namespace

PatchMap map_of_characters(const ModelFolder& folder, const AttentionTrace& trace, const std::string& text, Index begin,
                           Index end, const CaptionLook& look) {
  const std::vector<int> ids = folder.target_ids(text);
  const std::vector<Index> lengths = piece_lengths(*folder.target_vocabulary, ids);
  const std::size_t first_byte = offset_of(text, begin), last_byte = offset_of(text, end);
  const std::string_view whole = text;
  const Index first = visible_characters(whole.substr(0, first_byte));
  const Index last = first + visible_characters(whole.substr(first_byte, last_byte - first_byte));
  HEED_CHECK(last > first, "there is nothing to see from character {} to {} of '{}'", begin, end, text);
  const SignalOptions& signal = folder.config.transformer.signal;
  PatchMap sum{{}, signal.height / signal.patch, signal.width / signal.patch, {}};
  sum.weights.resize(static_cast<std::size_t>(sum.rows * sum.columns));
  HeadChoice heads;
  if (look.head) heads.chosen = {*look.head};
  sum.title = whole.substr(first_byte, last_byte - first_byte);
  Index at = 0;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const Index covered = std::min(at + lengths[i], last) - std::max(at, first);
    if (covered > 0) {
      const Index query[] = {static_cast<Index>(i)};
      const PatchMap piece = patch_maps(trace, map_of(trace, look), heads, query).front();
      const double share = static_cast<double>(covered) / static_cast<double>(last - first);
      for (std::size_t j = 0; j < sum.weights.size(); ++j) sum.weights[j] += share * piece.weights[j];
    }
    at += lengths[i];
  }
  HEED_CHECK(at == visible_characters(whole), "the vocabulary's pieces do not spell '{}'", text);
  return sum;
}

CaptionScore score_captions(const ModelFolder& folder, std::span<const Image> images,
                            std::span<const std::string> references, std::span<const std::vector<PlacedWord>> places,
                            const CaptionLook& look) {
  HEED_CHECK(images.size() == references.size() && (places.empty() || places.size() == images.size()),
             "score_captions: {} pictures, {} captions and {} lines of places must be as many", images.size(),
             references.size(), places.size());
  CaptionScore score{.captions = std::ssize(images)};
  const auto captions = Captioner(folder).caption(images, {.beam = 1});
  for (std::size_t i = 0; i < images.size(); ++i) {
    score.exact += captions[i].front().text == references[i] ? 1 : 0;
    if (!places.empty()) look_at_nouns(folder, images[i], references[i], places[i], look, score);
  }
  return score;
}

}  // namespace heed
