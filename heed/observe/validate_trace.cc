#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <span>

#include "heed/base/check.h"
#include "heed/base/printable.h"
#include "heed/base/utf8.h"
#include "heed/io/base64.h"
#include "heed/io/fields.h"
#include "heed/observe/trace.h"

namespace heed {
namespace {

constexpr std::size_t kMostImageCharacters = std::size_t{1} << 25;

void check_text(std::string_view text, std::string_view field) {
  Index offset = 0;
  HEED_CHECK(valid_utf8(text, &offset), "{}: byte {} is not valid UTF-8", field, offset + 1);
}

void check_texts(std::span<const std::string> texts, std::string_view field) {
  HEED_CHECK(std::ssize(texts) <= kMaxTraceTokens, "{}: must be at most {}, but there are {}", field, kMaxTraceTokens,
             texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) check_text(texts[i], fmt::format("{}[{}]", field, i));
}

void check_numbers(std::span<const float> numbers, std::string_view field) {
  const auto bad = std::ranges::find_if_not(numbers, [](float number) { return std::isfinite(number); });
  HEED_CHECK(bad == numbers.end(), "{}: number {} must be finite, but is {}", field, bad - numbers.begin(), *bad);
}

// --- Sides -----------------------------------------------------------------------------------------------------------

// One of `count` for each token.
void check_per_token(const TraceSide& side, std::size_t count, std::string_view field) {
  HEED_CHECK(count == 0 || count == side.tokens.size(), "{}: must be one for each of the {} tokens, but there are {}",
             field, side.tokens.size(), count);
}

void check_words(const TraceSide& side, const std::string& place) {
  check_per_token(side, side.words.size(), place + ".words");
  Index last = -1;
  for (std::size_t i = 0; i < side.words.size(); ++i) {
    const Index word = side.words[i];
    HEED_CHECK(word >= -1 && word < kMaxTraceTokens, "{}.words[{}]: must be from -1 to {}, but is {}", place, i,
               kMaxTraceTokens - 1, word);
    HEED_CHECK(word == -1 || word >= last, "{}.words[{}]: must not fall, but is {} after {}", place, i, word, last);
    last = std::max(last, word);
  }
  check_texts(side.word_texts, place + ".word_texts");
  HEED_CHECK(side.word_texts.empty() || last < std::ssize(side.word_texts),
             "{}.word_texts: must be one for each of the {} words, but there are {}", place, last + 1,
             side.word_texts.size());
  check_per_token(side, side.segments.size(), place + ".segments");
  for (std::size_t i = 0; i < side.segments.size(); ++i) {
    HEED_CHECK(side.segments[i] >= 0 && side.segments[i] < kMaxTraceTokens,
               "{}.segments[{}]: must be from 0 to {}, but is {}", place, i, kMaxTraceTokens - 1, side.segments[i]);
  }
}

// Who draws a picture's patches asks each token which one it is, and keeps a number for each.
void check_grid(const TraceSide& side, const std::string& place) {
  const auto [rows, columns] = *side.grid;
  HEED_CHECK(rows >= 1 && columns >= 1 && rows <= kMaxTraceTokens / columns,
             "{}.grid: must be from 1 to {} patches, but is {} x {}", place, kMaxTraceTokens, rows, columns);
  HEED_CHECK(side.words.size() == side.tokens.size(),
             "{}.words: must tell the patch of each of the {} tokens, but there are {}", place, side.tokens.size(),
             side.words.size());
  const Index patches = rows * columns, count = side.word_count();
  HEED_CHECK(count >= 1 && count <= patches, "{}.words: must number the {} patches of the grid, but count {}", place,
             patches, count);
}

void check_side(const TraceSide& side, const std::string& place) {
  check_text(side.text, place + ".text");
  check_texts(side.tokens, place + ".tokens");
  check_words(side, place);
  if (side.grid) check_grid(side, place);
  HEED_CHECK(!side.seconds || (std::isfinite(*side.seconds) && *side.seconds > 0),
             "{}.seconds: must be a finite number greater than 0, but is {}", place, side.seconds.value_or(0));
}

// --- Maps ------------------------------------------------------------------------------------------------------------

std::string extents(std::span<const Index> shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

// A wanted extent of kAny may be anything from 1 to kMaxTraceWidth.
constexpr Index kAny = -1;

void check_array(const TraceArray& array, std::initializer_list<Index> wanted, const char* names,
                 const std::string& field) {
  const bool fits = std::ranges::equal(array.shape, wanted, [](Index extent, Index wish) {
    return wish == kAny ? extent >= 1 && extent <= kMaxTraceWidth : extent == wish;
  });
  if (!fits) {
    std::string wishes;
    for (Index wish : wanted) {
      wishes +=
          (wishes.empty() ? "" : ", ") + (wish == kAny ? fmt::format("1 to {}", kMaxTraceWidth) : std::to_string(wish));
    }
    fail("{}: must be {}, here [{}], but is {}", field, names, wishes, extents(array.shape));
  }
  // At most 2^10 x 2^16 x 2^16: no overflow.
  Index numbers = 1;
  for (Index extent : array.shape) numbers *= extent;
  HEED_CHECK(std::ssize(array.values) == numbers, "{}: {} takes {} numbers, but there are {}", field,
             extents(array.shape), numbers, array.values.size());
  check_numbers(array.values, field);
}

void check_scores(const AttentionTrace::Map& map, const std::string& place) {
  HEED_CHECK(map.q.empty() == map.k.empty(), "{}: must be there where {} is, and only there",
             place + (map.q.empty() ? ".q" : ".k"), map.q.empty() ? "k" : "q");
  if (map.q.empty()) {
    HEED_CHECK(map.scale == 0, "{}.scale: is of q and k, which are not there", place);
  } else {
    check_array(map.q, {map.heads, map.queries, kAny}, "[heads, queries, d]", place + ".q");
    const Index kv_heads = map.k.shape.front();
    HEED_CHECK(kv_heads >= 1 && kv_heads <= map.heads && map.heads % kv_heads == 0,
               "{}.k: the {} heads must share its heads evenly, but it has {}", place, map.heads, kv_heads);
    check_array(map.k, {kv_heads, map.keys, map.q.shape.back()}, "[KV heads, keys, d]", place + ".k");
    HEED_CHECK(std::isfinite(map.scale), "{}.scale: must be finite, but is {}", place, map.scale);
  }
  if (map.bias.empty()) return;
  const Index heads = map.bias.shape.front() == 1 ? 1 : map.heads;
  check_array(map.bias, {heads, map.queries, map.keys}, "[1 or heads, queries, keys]", place + ".bias");
}

void check_map(const AttentionTrace& trace, const AttentionTrace::Map& map, const std::string& place) {
  HEED_CHECK(!map.path.empty(), "{}.path: must not be empty", place);
  check_text(map.path, place + ".path");
  HEED_CHECK(map.layer >= 0 && map.layer < kMaxTraceLayers, "{}.layer: must be from 0 to {}, but is {}", place,
             kMaxTraceLayers - 1, map.layer);
  HEED_CHECK(!enum_name(map.kind).empty(), "{}.kind: there is no kind {}", place, static_cast<int>(map.kind));
  HEED_CHECK(map.heads >= 1 && map.heads <= kMaxTraceHeads, "{}.heads: must be from 1 to {}, but is {}", place,
             kMaxTraceHeads, map.heads);
  const Index queries = trace.query_side(map.kind).size(), keys = trace.key_side(map.kind).size();
  HEED_CHECK(queries >= 1 && keys >= 1, "{}.kind: {} attention needs tokens on both sides, but there are {} and {}",
             place, enum_name(map.kind), queries, keys);
  HEED_CHECK(map.queries == queries && map.keys == keys,
             "{}.weights: a map of kind {} must be {} queries x {} keys, one for each token, but is {} x {}", place,
             enum_name(map.kind), queries, keys, map.queries, map.keys);
  HEED_CHECK(std::ssize(map.weights) == map.heads * queries * keys,
             "{}.weights: {} heads x {} queries x {} keys need {} numbers, but there are {}", place, map.heads, queries,
             keys, map.heads * queries * keys, map.weights.size());
  check_numbers(map.weights, place + ".weights");
  check_scores(map, place);
}

// --- What is beside them ---------------------------------------------------------------------------------------------

void check_embeddings(const AttentionTrace::Embeddings& embeddings, const TraceSide& side, const std::string& place) {
  if (embeddings.empty()) return;
  check_array(embeddings.before, {side.size(), kAny}, "[tokens, d]", place + ".before");
  check_array(embeddings.after, {side.size(), embeddings.before.shape.back()}, "[tokens, d]", place + ".after");
}

void check_hypothesis(const AttentionTrace::Hypothesis& hypothesis, Index parents, const std::string& place) {
  if (parents < 0) {
    HEED_CHECK(hypothesis.parent == -1, "{}.parent: must be -1 in the first step, but is {}", place, hypothesis.parent);
  } else {
    HEED_CHECK(hypothesis.parent >= 0 && hypothesis.parent < parents,
               "{}.parent: the step before has hypotheses 0 to {}, and no {}", place, parents - 1, hypothesis.parent);
  }
  check_text(hypothesis.token, place + ".token");
  HEED_CHECK(std::isfinite(hypothesis.log_probability), "{}.log_probability: must be finite, but is {}", place,
             hypothesis.log_probability);
  HEED_CHECK(std::isfinite(hypothesis.total), "{}.total: must be finite, but is {}", place, hypothesis.total);
  HEED_CHECK(std::ssize(hypothesis.candidates) <= kMaxTraceHypotheses,
             "{}.candidates: must be at most {}, but there are {}", place, kMaxTraceHypotheses,
             hypothesis.candidates.size());
  for (std::size_t i = 0; i < hypothesis.candidates.size(); ++i) {
    const auto& [token, probability] = hypothesis.candidates[i];
    check_text(token, fmt::format("{}.candidates[{}].token", place, i));
    HEED_CHECK(probability >= 0 && probability <= 1, "{}.candidates[{}].probability: must be from 0 to 1, but is {}",
               place, i, probability);
  }
}

void check_steps(std::span<const AttentionTrace::Step> steps, const std::string& place) {
  HEED_CHECK(std::ssize(steps) <= kMaxTraceTokens, "{}: must be at most {}, but there are {}", place, kMaxTraceTokens,
             steps.size());
  Index parents = -1;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const std::vector<AttentionTrace::Hypothesis>& hypotheses = steps[i].hypotheses;
    const std::string here = fmt::format("{}[{}].hypotheses", place, i);
    HEED_CHECK(!hypotheses.empty() && std::ssize(hypotheses) <= kMaxTraceHypotheses,
               "{}: must be from 1 to {}, but there are {}", here, kMaxTraceHypotheses, hypotheses.size());
    for (std::size_t j = 0; j < hypotheses.size(); ++j) {
      check_hypothesis(hypotheses[j], parents, fmt::format("{}[{}]", here, j));
    }
    parents = std::ssize(hypotheses);
  }
}

void check_gold(const AttentionTrace& trace, const std::string& place) {
  for (std::size_t i = 0; i < trace.gold.size(); ++i) {
    const auto& [source, target, sure] = trace.gold[i];
    HEED_CHECK(source >= 0 && source < trace.source.word_count() && target >= 0 && target < trace.target.word_count(),
               "{}[{}]: must be a word of the source's {} and one of the target's {}, but is {} and {}", place, i,
               trace.source.word_count(), trace.target.word_count(), source, target);
  }
}

void check_image(std::string_view image, const std::string& field) {
  if (image.empty()) return;
  HEED_CHECK(image.size() <= kMostImageCharacters, "{}: must be at most {} characters, but has {}", field,
             kMostImageCharacters, image.size());
  for (std::string_view begin : {"data:image/png;base64,", "data:image/jpeg;base64,"}) {
    if (!image.starts_with(begin)) continue;
    base64_bytes(image.substr(begin.size()), field);
    return;
  }
  fail("{}: must begin with data:image/png;base64, or data:image/jpeg;base64, but is {}", field,
       printable(image.substr(0, 40)));
}

}  // namespace

void validate(const AttentionTrace& trace, std::string_view place) {
  const std::string at = fmt::format("{}.", place);
  check_text(trace.model, at + "model");
  check_side(trace.source, at + "source");
  check_side(trace.decoder, at + "decoder");
  check_side(trace.target, at + "target");
  HEED_CHECK(trace.decoder.size() == 0 || trace.target.size() == 0 || trace.decoder.size() == trace.target.size(),
             "{}target.tokens: must be as many as the decoder's, {}, but there are {}", at, trace.decoder.size(),
             trace.target.size());
  std::set<std::string_view> paths;
  for (std::size_t i = 0; i < trace.maps.size(); ++i) {
    const std::string map = fmt::format("{}maps[{}]", at, i);
    check_map(trace, trace.maps[i], map);
    HEED_CHECK(paths.insert(trace.maps[i].path).second, "{}.path: another map has it too: {}", map,
               printable(trace.maps[i].path));
  }
  check_embeddings(trace.source_embeddings, trace.source, at + "embeddings.source");
  check_embeddings(trace.decoder_embeddings, trace.decoder, at + "embeddings.decoder");
  check_steps(trace.steps, at + "steps");
  check_gold(trace, at + "gold");
  check_image(trace.image, at + "image");
}

}  // namespace heed
