#include "heed/tasks/training_start.h"

#include "heed/base/check.h"
#include "heed/base/file.h"
#include "heed/io/fields.h"
#include "heed/tasks/adapter_folder.h"
#include "heed/tasks/parameter_fingerprint.h"

namespace heed {
namespace {

void check_trainable(const std::string& name, const ModelFolder& model, Task task) {
  const ModelConfig& config = model.config;
  const TransformerConfig& t = config.transformer;
  if (config.kind == ModelKind::transformer) {
    HEED_CHECK(t.has_decoder(), "{}: is an encoder alone: heed trains translators and language models", name);
    HEED_CHECK(!t.signal.any(), "{}: reads {}: heed trains on texts", name, enum_name(t.signal.kind));
    HEED_CHECK(t.causal, "{}: its decoder sees the tokens that it would learn to predict (causal is false)", name);
    HEED_CHECK(t.logit_soft_cap == 0,
               "{}: its logits are bounded (logit_soft_cap {}), and heed's loss has no gradient of that", name,
               t.logit_soft_cap);
  }
  HEED_CHECK(config.translates() == (task == Task::translation), "{}: {}", name,
             config.translates() ? "translates: train it with the task translation and pairs of sentences"
                                 : "continues text: train it with the task language-model and documents");
  HEED_CHECK(!config.translates() || (model.target_symbols.begin >= 0 && model.target_symbols.end >= 0),
             "{}: has no token that a translation begins with, or none that it ends with", name);
}

}  // namespace

TrainingStart open_training_start(const std::filesystem::path& path, const TrainOptions& options) {
  const std::filesystem::path config = path / "config.json";
  HEED_CHECK(options.task != Task::caption, "train: a run that learns captions goes on from no other model");
  HEED_CHECK(options.low_rank.rank == 0 || !file_exists(config) || !is_adapter(read_json(config)),
             "{}: is an adapter itself: make a model of it (heed convert), and adapt that", path.string());
  TrainingStart start{path, load_model_folder(path), {}};
  check_trainable(path.string(), start.model, options.task);
  start.fingerprint = fingerprint_of(start.model.parameters);
  return start;
}

TrainOptions options_from(const TrainOptions& options, const TrainingStart& start) {
  TrainOptions all = options;
  all.model = start.model.config;
  TransformerConfig& t = all.model.transformer;
  t.dropout = options.model.transformer.dropout;
  t.attention_dropout = options.model.transformer.attention_dropout;
  t.activation_dropout = options.model.transformer.activation_dropout;
  all.model.rnn.dropout = options.model.rnn.dropout;
  return all;
}

}  // namespace heed
