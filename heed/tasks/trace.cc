#include "heed/tasks/trace.h"

#include <algorithm>

#include "heed/base/check.h"
#include "heed/observe/recorder.h"
#include "heed/tasks/model_batch.h"

namespace heed {

namespace {

std::vector<int> fit_to_model(std::string_view side, std::span<const int> ids, Index max_length, bool crop) {
  const auto most = static_cast<std::size_t>(max_length - 1);
  HEED_CHECK(crop || ids.size() <= most, "trace_pair: the {} has {} tokens, and the model can hold {}", side,
             ids.size(), most);
  ids = ids.first(std::min(ids.size(), most));
  return {ids.begin(), ids.end()};
}

}  // namespace

AttentionTrace trace_pair(const ModelFolder& folder, const std::string& source_text, std::span<const int> given_ids,
                          bool crop) {
  HEED_CHECK(folder.model->has_source(), "trace_pair: the model is a language model: it reads no source");
  const Vocabulary& source = *folder.source_vocabulary;
  const Vocabulary& target = *folder.target_vocabulary;
  const Index max_length = folder.model->max_length();
  const std::vector<int> source_ids = fit_to_model("source", source.encode(source_text), max_length, crop);
  const std::vector<int> target_ids = fit_to_model("target", given_ids, max_length, crop);
  HEED_CHECK(!source_ids.empty(), "trace_pair: the source has no tokens");
  std::vector<std::int32_t> input{target.begin()}, output(target_ids.begin(), target_ids.end());
  input.insert(input.end(), target_ids.begin(), target_ids.end());
  output.push_back(target.end());
  const Index length = static_cast<Index>(output.size());

  AttentionRecorder recorder(
      {.row = 0, .source_length = static_cast<Index>(source_ids.size()) + 1, .target_length = length});
  Workspace workspace;
  const Context context = Context::inference(workspace, &recorder);
  const SequenceBatch batch{make_token_batch({&source_ids, 1}), Tensor::from(input, {1, length}),
                            Tensor::from(output, {1, length})};
  folder.model->features(context, batch);

  AttentionTrace trace;
  trace.source_text = source_text;
  trace.target_text = target.decode(target_ids);
  for (int id : source_ids) trace.source_tokens.push_back(source.piece(id));
  trace.source_tokens.push_back(source.piece(source.end()));
  for (std::int32_t id : input) trace.decoder_tokens.push_back(target.piece(id));
  for (std::int32_t id : output) trace.target_tokens.push_back(target.piece(id));
  trace.maps = recorder.take_maps();
  return trace;
}

}  // namespace heed
