// A trace's form in JSON, but for where its arrays are: inside, or in an archive. For the readers and writers of files.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/io/json.h"
#include "heed/io/json_stream.h"
#include "heed/observe/trace.h"

namespace heed {

inline constexpr std::string_view kTraceFormat = "heed attention traces";
inline constexpr Index kTraceVersion = 2;

// An array that is about to be written.
struct TraceArrayView {
  std::span<const Index> shape;
  std::span<const float> values;
};

// Writes one array as a value of the stream; `field` is its place, "traces[0].maps[3].weights".
using WriteTraceArray = std::function<void(JsonStream& json, const std::string& field, const TraceArrayView& array)>;
// Gives the array that is called by this name in the file beside.
using ReadTraceArray = std::function<TraceArray(const std::string& name)>;

// {"shape": [2, 3], "f32": "<base64>"}
void write_array_inside(JsonStream& json, const std::string& field, const TraceArrayView& array);

// Writes traces that validate() takes, and does not ask it again, piece by piece: as one text, or one Json, arrays
// would take many times their size.
void stream_traces(std::span<const AttentionTrace> traces, const JsonStream::Sink& sink,
                   const WriteTraceArray& write_array);
// Reads and validates them. Without `read_beside`, no array may be beside.
std::vector<AttentionTrace> traces_from_json(const Json& file, const ReadTraceArray& read_beside);

}  // namespace heed
