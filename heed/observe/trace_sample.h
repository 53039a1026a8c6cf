// A trace that has one of everything, for tests.
#pragma once

#include "heed/observe/trace.h"

namespace heed {

// Two source tokens, three target tokens, one map of each kind, the last with queries and keys.
inline AttentionTrace sample_trace() {
  AttentionTrace trace;
  trace.model = "tiny";
  trace.source = {.text = "ein Hund",
                  .tokens = {"ein", "\xE2\x96\x81Hund"},
                  .words = {0, 1},
                  .word_texts = {"ein", "Hund"},
                  .segments = {0, 1},
                  .seconds = 0.02};
  trace.decoder.tokens = {"<s>", "a", "dog"};
  trace.target = {
      .text = "a \"dog\"\n", .tokens = {"a", "dog", "</s>"}, .words = {0, 1, -1}, .word_texts = {"a", "\"dog\""}};
  trace.maps = {
      {"encoder.layers.0.self_attn", 0, AttentionKind::encoder, 1, 2, 2, {0.1f, 0.9f, 1.0f / 3, 2.0f / 3}},
      {"decoder.layers.0.self_attn", 0, AttentionKind::decoder, 1, 3, 3, {1, 0, 0, 0.5f, 0.5f, 0, 0.2f, 0.3f, 0.5f}},
      {"decoder.layers.7.multihead_attn", 7, AttentionKind::cross, 2, 3, 2, std::vector<float>(12, 0.5f)}};
  AttentionTrace::Map& cross = trace.maps.back();
  cross.q = {{2, 3, 2}, {1, -0.0f, 0.1f, 4, 5, 6, 7, 8, 9, 10, 11, 1e-45f}};
  cross.k = {{1, 2, 2}, {1, 2, 3, -3.4e38f}};
  cross.scale = 0.1;
  cross.bias = {{1, 3, 2}, {0, 1, 2, 3, 4, 5}};
  trace.source_embeddings = {{{2, 3}, {1, 2, 3, 4, 5, 6}}, {{2, 3}, {1, 3, 5, 7, 9, 11}}};
  trace.decoder_embeddings = {{{3, 1}, {1, 2, 3}}, {{3, 1}, {2, 3, 4}}};
  trace.steps = {{{{-1, "a", -0.1, -0.1, {{"a", 0.9}, {"the", 0.1}}}, {-1, "the", -2.3, -2.3, {{"a", 0.9}}}}},
                 {{{1, "dog", -0.25, -2.55, {}}}}};
  trace.gold = {{0, 0, true}, {1, 1, false}};
  trace.image = "data:image/png;base64,iVBORw0KGgo=";
  return trace;
}

}  // namespace heed
