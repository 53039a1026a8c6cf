#include "heed/tasks/trace.h"

#include <algorithm>

#include "heed/base/check.h"
#include "heed/observe/recorder.h"
#include "heed/tasks/model_batch.h"
#include "heed/tasks/translate.h"

namespace heed {

AttentionTrace trace_pair(const ModelFolder& folder, const std::string& source_text, std::span<const int> target_ids) {
  const Vocabulary& source = *folder.source_vocabulary;
  const Vocabulary& target = *folder.target_vocabulary;
  const std::vector<int> source_ids = source.encode(source_text);
  HEED_CHECK(!source_ids.empty(), "trace: the source sentence has no tokens");
  const Index longest = static_cast<Index>(std::max(source_ids.size(), target_ids.size())) + 1;
  HEED_CHECK(longest <= folder.model->max_length(), "trace: a side has {} tokens, and the model can hold {}",
             longest - 1, folder.model->max_length() - 1);
  std::vector<std::int32_t> input{target.begin()}, output(target_ids.begin(), target_ids.end());
  input.insert(input.end(), target_ids.begin(), target_ids.end());
  output.push_back(target.end());
  const Index length = static_cast<Index>(output.size());

  AttentionRecorder recorder(
      {.row = 0, .source_length = static_cast<Index>(source_ids.size()) + 1, .target_length = length});
  Workspace workspace;
  Rng rng(0);
  const Context context{.workspace = workspace, .rng = rng, .observer = &recorder};
  const TranslationBatch batch{make_token_batch({&source_ids, 1}), Tensor::from(input, {1, length}),
                               Tensor::from(output, {1, length})};
  folder.model->loss(context, batch, {.ignore_index = target.pad()});

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

AttentionTrace trace_translation(const ModelFolder& folder, const std::string& source_text,
                                 const BeamOptions& options) {
  Translator translator(folder);
  const auto best = translator.translate({&source_text, 1}, options);
  return trace_pair(folder, source_text, best[0][0].tokens);
}

}  // namespace heed
