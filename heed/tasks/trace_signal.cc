#include "heed/tasks/trace_signal.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "heed/base/check.h"
#include "heed/image/resize.h"
#include "heed/io/base64.h"
#include "heed/tasks/trace_side.h"

namespace heed {
TraceSide picture_side(const SignalOptions& signal) {
  const Index rows = signal.height / signal.patch, columns = signal.width / signal.patch;
  TraceSide side{.tokens = {"[CLS]"}, .words = {-1}, .grid = TraceGrid{rows, columns}};
  if (signal.distilled) side.tokens.emplace_back("[DIST]"), side.words.push_back(-1);
  for (Index patch = 0; patch < rows * columns; ++patch) {
    side.tokens.push_back(fmt::format("{},{}", patch / columns, patch % columns));
    side.words.push_back(patch);
  }
  return side;
}

TraceSide sound_side(Index frames, double seconds) {
  TraceSide side{.seconds = seconds};
  for (Index frame = 0; frame < frames; ++frame) {
    side.tokens.push_back(fmt::format("{:.2f}", static_cast<double>(frame) * seconds));
  }
  return side;
}

std::string picture_uri(const Image& image) {
  constexpr Index kMostPixelsOfASide = 448;
  const Index longest = std::max(image.height, image.width);
  const auto scaled = [&](Index side) { return std::max<Index>(1, side * kMostPixelsOfASide / longest); };
  const std::string bytes =
      longest <= kMostPixelsOfASide
          ? png_bytes(image)
          : png_bytes(resized(image, scaled(image.height), scaled(image.width), Resampling::bilinear));
  return "data:image/png;base64," + base64(bytes);
}

AttentionTrace take_trace(AttentionRecorder& recorder, TraceSide source) {
  AttentionTrace trace;
  trace.source = std::move(source);
  trace.maps = recorder.take_maps();
  trace.source_embeddings = recorder.take_embeddings(EmbeddedSide::source);
  trace.decoder_embeddings = recorder.take_embeddings(EmbeddedSide::decoder);
  return trace;
}

AttentionTrace trace_signal(const Transformer& model, const Tensor& signal, TraceSide source, const TraceParts& parts) {
  AttentionRecorder recorder({.row = 0, .source_length = source.size(), .target_length = 0}, parts);
  Workspace workspace;
  model.encode(Context::inference(workspace, &recorder), {.signal = signal});
  return take_trace(recorder, std::move(source));
}

AttentionTrace trace_signal(const SequenceModel& model, const Tensor& signal, TraceSide source,
                            const Vocabulary& vocabulary, std::span<const std::int32_t> ids, const std::string& text,
                            const TraceParts& parts) {
  const Index read = std::ssize(ids) - 1;
  HEED_CHECK(read >= 1, "trace_signal: a decoder needs a token to read and one to answer");
  AttentionRecorder recorder({.row = 0, .source_length = source.size(), .target_length = read}, parts);
  Workspace workspace;
  const std::vector<std::int32_t> input(ids.begin(), ids.end() - 1);
  model.features(Context::inference(workspace, &recorder), {{.signal = signal}, Tensor::from(input, {1, read})});
  AttentionTrace trace = take_trace(recorder, std::move(source));
  const TraceSide side = trace_side(vocabulary, ids, {.text = text});
  trace.decoder = part_of(side, 0, read), trace.target = part_of(side, 1, read);
  return trace;
}

}  // namespace heed
