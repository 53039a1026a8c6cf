#include "heed/tasks/train_presets.h"

#include "heed/base/check.h"

namespace heed {

void choose_model(ModelConfig& model, std::string_view name) {
  HEED_CHECK(name == "transformer" || name == "bahdanau" || name == "luong",
             "train: model must be one of transformer, bahdanau, luong, but is {}", name);
  model.kind = name == "transformer" ? ModelKind::transformer : ModelKind::rnn;
  if (name == "luong") model.rnn = luong_config();
}

void apply_preset(TrainOptions& options, std::string_view preset) {
  HEED_CHECK(preset == "tiny" || preset == "small" || preset == "base",
             "train: preset must be one of tiny, small, base, but is {}", preset);
  TransformerConfig& t = options.model.transformer;
  RnnConfig& r = options.model.rnn;
  options.vocabulary_size = 6000, options.batch_tokens = 2500;
  options.rate = options.model.kind == ModelKind::transformer ? 0.004 : 0.002, options.warmup = 500;
  t.dropout = r.dropout = 0.2;
  if (preset == "tiny") {
    options.vocabulary_size = 2000;
    t.width = 128, t.ffn_width = 256, t.heads = 4, t.encoder_layers = 2, t.decoder_layers = 2;
    r.embedding_width = 128, r.state_width = 128, r.attention_width = 128;
  } else if (preset == "small") {
    t.width = 128, t.ffn_width = 256, t.heads = 4, t.encoder_layers = 4, t.decoder_layers = 4;
    r.embedding_width = 256, r.state_width = 256, r.attention_width = 256;
  } else {
    t.width = 512, t.ffn_width = 2048, t.heads = 8, t.encoder_layers = 6, t.decoder_layers = 6;
    r.embedding_width = 512, r.state_width = 1024, r.attention_width = 512;
    options.rate = 0.0007, options.warmup = 4000, options.vocabulary_size = 16000;
  }
  if (options.task == Task::caption) {
    // Captions have few words, and a piece of several would hide what a word attends to.
    options.vocabulary_size = 100, options.label_smoothing = 0;
    if (preset != "base") options.batch_tokens = 1300, options.rate = 0.003, options.warmup = 300;
    t.dropout = t.attention_dropout = 0;
  }
}

void apply_fine_tuning(TrainOptions& options) {
  options.rate = options.low_rank.rank > 0 ? 0.001 : 0.0003;
  options.warmup = 50;
  options.label_smoothing = 0;
}

}  // namespace heed
