#include "heed/tasks/light_traces.h"

#include <fmt/format.h>

namespace heed {
namespace {

constexpr Index kMostNumbersOfAPage = 2'000'000;  // besides the weights

Index numbers_of_scores(const AttentionTrace& trace) {
  std::size_t numbers = 0;
  for (const AttentionTrace::Map& map : trace.maps) {
    numbers += map.q.values.size() + map.k.values.size() + map.bias.values.size();
  }
  return static_cast<Index>(numbers);
}

Index numbers_of_embeddings(const AttentionTrace& trace) {
  std::size_t numbers = 0;
  for (const AttentionTrace::Embeddings* side : {&trace.source_embeddings, &trace.decoder_embeddings}) {
    numbers += side->before.values.size() + side->after.values.size();
  }
  return static_cast<Index>(numbers);
}

}  // namespace

std::string lighten(std::span<AttentionTrace* const> traces) {
  Index scores = 0, embeddings = 0;
  for (const AttentionTrace* trace : traces) {
    scores += numbers_of_scores(*trace), embeddings += numbers_of_embeddings(*trace);
  }
  if (scores + embeddings <= kMostNumbersOfAPage) return {};
  const bool without_embeddings = embeddings > kMostNumbersOfAPage;
  for (AttentionTrace* trace : traces) {
    for (AttentionTrace::Map& map : trace->maps) map.q = map.k = map.bias = {}, map.scale = 0;
    if (without_embeddings) trace->source_embeddings = trace->decoder_embeddings = {};
  }
  return fmt::format("queries and keys{} are {} numbers, too many for a page to open fast, and were left out",
                     without_embeddings ? " and embeddings" : "", scores + (without_embeddings ? embeddings : 0));
}

}  // namespace heed
