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

// Nothing for what is no target.
std::vector<std::string> pieces(const Vocabulary& vocabulary, const Tensor& ids) {
  std::vector<std::string> tokens;
  for (Index i = 0; i < ids.size(); ++i) {
    const std::int32_t id = ids.data<std::int32_t>()[i];
    tokens.push_back(id == kNoTarget ? std::string() : vocabulary.piece(id));
  }
  return tokens;
}

// One pass over the source, if there is one, and the target.
AttentionTrace record(const ModelFolder& folder, std::span<const int> source_ids, const std::vector<int>& target_ids) {
  const SequenceBatch batch = make_taught_batch(folder, source_ids, target_ids);
  const Tensor& source = batch.source.ids;
  AttentionRecorder recorder(
      {.row = 0, .source_length = source ? source.size() : 0, .target_length = batch.input.size()});
  Workspace workspace;
  folder.model->features(Context::inference(workspace, &recorder), batch);
  AttentionTrace trace;
  trace.target.text = folder.target_vocabulary->decode(target_ids);
  if (source) trace.source.tokens = pieces(*folder.source_vocabulary, source);
  trace.decoder.tokens = pieces(*folder.target_vocabulary, batch.input);
  trace.target.tokens = pieces(*folder.target_vocabulary, batch.output);
  trace.maps = recorder.take_maps();
  return trace;
}

}  // namespace

AttentionTrace trace_pair(const ModelFolder& folder, const std::string& source_text, std::span<const int> given_ids,
                          bool crop) {
  HEED_CHECK(folder.model->has_source(), "trace_pair: the model is a language model: it reads no source");
  const Index max_length = folder.model->max_length();
  const std::vector<int> source_ids =
      fit_to_model("trace_pair: the source", folder.source_ids(source_text), max_length, crop);
  const std::vector<int> target_ids = fit_to_model("trace_pair: the target", given_ids, max_length, crop);
  HEED_CHECK(!source_ids.empty(), "trace_pair: the source has no tokens");
  AttentionTrace trace = record(folder, source_ids, target_ids);
  trace.source.text = source_text;
  return trace;
}

AttentionTrace trace_text(const ModelFolder& folder, std::span<const int> ids, bool crop, std::string_view name) {
  HEED_CHECK(!folder.model->has_source(), "trace_text: the model translates: its text has a source");
  HEED_CHECK(!ids.empty(), "{}: has no tokens", name);
  return record(folder, {}, fit_to_model(std::string(name) + ":", ids, folder.model->max_length(), crop));
}

}  // namespace heed
