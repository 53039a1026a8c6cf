#include "heed/tasks/trace.h"

#include <algorithm>

#include "heed/base/check.h"
#include "heed/observe/recorder.h"
#include "heed/tasks/model_batch.h"

namespace heed {
namespace {

std::vector<int> fit_to_model(std::string_view name, std::span<const int> ids, Index max_length, bool crop) {
  const auto most = static_cast<std::size_t>(max_length - 1);
  HEED_CHECK(crop || ids.size() <= most, "{} has {} tokens, and the model can hold {}", name, ids.size(), most);
  ids = ids.first(std::min(ids.size(), most));
  return {ids.begin(), ids.end()};
}

std::vector<std::string> pieces(const Vocabulary& vocabulary, std::span<const std::int32_t> ids) {
  std::vector<std::string> tokens;
  for (std::int32_t id : ids) tokens.push_back(vocabulary.piece(id));
  return tokens;
}

// One pass over the source, if there is one, and the target (ids without what stands around them). Where nothing stands
// before a text, its first token is predicted by nobody, and where nothing stands behind it, its last predicts nothing.
AttentionTrace record(const ModelFolder& folder, const TokenBatch& source, const std::vector<int>& target_ids) {
  const Vocabulary& target = *folder.target_vocabulary;
  const int begin = folder.target_symbols.begin, end = folder.target_symbols.end;
  std::vector<std::int32_t> input(target_ids.begin(), target_ids.end());
  std::vector<std::int32_t> output(target_ids.begin() + (begin >= 0 ? 0 : 1), target_ids.end());
  if (begin >= 0) input.insert(input.begin(), begin);
  if (end >= 0) output.push_back(end);
  const Index length = std::ssize(input);

  AttentionRecorder recorder({.row = 0, .source_length = source.ids ? source.ids.size() : 0, .target_length = length});
  Workspace workspace;
  const Context context = Context::inference(workspace, &recorder);
  folder.model->features(context, {.source = source, .input = Tensor::from(input, {1, length})});
  AttentionTrace trace;
  trace.target_text = target.decode(target_ids);
  trace.decoder_tokens = pieces(target, input);
  trace.target_tokens = pieces(target, output);
  trace.target_tokens.resize(input.size());
  trace.maps = recorder.take_maps();
  return trace;
}

}  // namespace

AttentionTrace trace_pair(const ModelFolder& folder, const std::string& source_text, std::span<const int> given_ids,
                          bool crop) {
  HEED_CHECK(folder.model->has_source(), "trace_pair: the model is a language model: it reads no source");
  const Vocabulary& vocabulary = *folder.source_vocabulary;
  const Index max_length = folder.model->max_length();
  const std::vector<int> source_ids =
      fit_to_model("trace_pair: the source", folder.source_ids(source_text), max_length, crop);
  const std::vector<int> target_ids = fit_to_model("trace_pair: the target", given_ids, max_length, crop);
  HEED_CHECK(!source_ids.empty(), "trace_pair: the source has no tokens");
  const TokenBatch source = make_token_batch({&source_ids, 1}, folder.source_symbols);
  AttentionTrace trace = record(folder, source, target_ids);
  trace.source_text = source_text;
  const auto source_length = static_cast<std::size_t>(source.ids.size());  // with the end token
  trace.source_tokens = pieces(vocabulary, {source.ids.data<std::int32_t>(), source_length});
  return trace;
}

AttentionTrace trace_text(const ModelFolder& folder, std::span<const int> ids, bool crop, std::string_view name) {
  HEED_CHECK(!folder.model->has_source(), "trace_text: the model translates: its text has a source");
  HEED_CHECK(!ids.empty(), "{}: has no tokens", name);
  return record(folder, {}, fit_to_model(std::string(name) + ":", ids, folder.model->max_length(), crop));
}

}  // namespace heed
