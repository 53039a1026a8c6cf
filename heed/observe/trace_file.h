// Files of traces: for --trace and `heed view`, for programs, and from other toolkits. docs/trace.md has their form.
//
//   write_traces("trace.json", traces);
//   for (const AttentionTrace& trace : read_traces("trace.json"))
//     for (const AttentionTrace::Map& map : trace.maps) draw(trace, map);
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/observe/trace.h"

namespace heed {

class NpzReader;

// {"format": "heed attention traces", "version": 2, "traces": [{"model": ..., "source": {"tokens": [...], ...}, ...,
// "maps": [{"path": ..., "layer": 0, "kind": "cross", "weights": {"shape": [4, 7, 8], "f32": "<base64>"}}]}]}, with
// what a trace does not have left out. A file whose name ends in .npz is the same as an archive: "traces.json", where
// {"shape": [4, 7, 8], "npz": "traces[0].maps[0].weights"} stands for an array, and the arrays, each under the name of
// its field. Arrays keep their bits, and the same traces give the same bytes. Read, arrays may also be nested lists of
// numbers, and those of x.json may lie in x.npz beside it; all but a map's kind and weights may be missing. All throw
// heed::Error for what validate refuses, reading also for unknown keys and for another version: what an older heed
// wrote is to be recorded again.
std::string traces_to_text(std::span<const AttentionTrace> traces);
std::vector<AttentionTrace> parse_traces(std::string_view text, std::string_view name);
void write_traces(const std::filesystem::path& path, std::span<const AttentionTrace> traces);
std::vector<AttentionTrace> read_traces(const std::filesystem::path& path);
std::vector<AttentionTrace> read_trace_archive(const NpzReader& archive);

// The same of a file with exactly one.
void write_trace(const std::filesystem::path& path, const AttentionTrace& trace);
AttentionTrace read_trace(const std::filesystem::path& path);

}  // namespace heed
