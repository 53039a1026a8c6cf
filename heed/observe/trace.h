// The attention maps of translated sentences as plain data: recorded once, then saved, drawn and compared without the
// model.
//
//   write_traces("trace.json", traces);
//   for (const AttentionTrace& trace : read_traces("trace.json"))
//     for (const AttentionTrace::Map& map : trace.maps) draw(trace.target_tokens, trace.source_tokens, map);
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/index.h"
#include "heed/observe/observer.h"

namespace heed {

// One sentence and its translation; or, without a source, a text that a language model read.
struct AttentionTrace {
  // The weights of one attention layer.
  struct Map {
    std::string path;  // AttentionSite::path
    AttentionKind kind = AttentionKind::encoder;
    Index heads = 0, queries = 0, keys = 0;
    std::vector<float> weights;  // [heads, queries, keys]

    float weight(Index head, Index query, Index key) const {
      return weights[static_cast<std::size_t>((head * queries + query) * keys + key)];
    }
    friend bool operator==(const Map&, const Map&) = default;
  };

  std::string model;                        // what made it: a name or a path
  std::string source_text, target_text;     // as a reader sees them
  std::vector<std::string> source_tokens;   // the keys of encoder and cross maps, the queries of encoder maps
  std::vector<std::string> decoder_tokens;  // what the decoder reads (a begin token first): both axes of decoder maps
  std::vector<std::string> target_tokens;   // what it answers to each of them: the queries of cross maps
  std::vector<Map> maps;

  // What the map's queries and keys are.
  const std::vector<std::string>& query_tokens(AttentionKind kind) const;
  const std::vector<std::string>& key_tokens(AttentionKind kind) const;

  friend bool operator==(const AttentionTrace&, const AttentionTrace&) = default;
};

inline constexpr Index kMaxTraceHeads = 1024;
inline constexpr Index kMaxTraceTokens = 65536;

// Throws heed::Error that begins with `name` and names the map, where there is one, unless: text is UTF-8; there are at
// most kMaxTraceTokens tokens a side, and as many decoder_tokens as target_tokens; every map has its own non-empty
// path, 1 to kMaxTraceHeads heads, as many queries and keys as its kind has tokens, and heads x queries x keys finite
// weights.
void validate(const AttentionTrace& trace, std::string_view name);

// A file of traces: {"format": "heed attention traces", "version": 1, "traces": [{"model": ..., "source_text": ...,
// ..., "maps": [{"path": ..., "kind": "cross", "heads": ..., "weights": [...]}]}]}. Weights keep their bits, and the
// same traces give the same bytes. All throw heed::Error for what validate refuses, reading also for missing and
// unknown keys.
std::string traces_to_text(std::span<const AttentionTrace> traces);
std::vector<AttentionTrace> parse_traces(std::string_view text, std::string_view name);
void write_traces(const std::filesystem::path& path, std::span<const AttentionTrace> traces);
std::vector<AttentionTrace> read_traces(const std::filesystem::path& path);

// The same of a file with exactly one.
void write_trace(const std::filesystem::path& path, const AttentionTrace& trace);
AttentionTrace read_trace(const std::filesystem::path& path);

}  // namespace heed
