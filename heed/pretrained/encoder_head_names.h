// What the files of a family call the heads that a model may have above its layers.
//
//   model.heads = encoder_head_names(config);      // the architecture and the labels
//   model.heads->pooler = "bert.pooler.dense";
#pragma once

#include <string>
#include <vector>

#include "heed/io/json.h"
#include "heed/models/encoder_heads_options.h"

namespace heed {

// Each is a path that begins its tensors' names; empty where the family has no such head.
struct EncoderHeadNames {
  std::string architecture;  // "BertForMaskedLM"; empty where config.json names none
  std::vector<std::string> labels;
  bool independent = false;  // whether a text may have several of them
  bool regression = false;   // whether their numbers are what is asked for
  std::string pooler;        // by tanh, over the first token
  // The layer below the classifier of sequences, where it is not `pooler`.
  std::string sequence_pooler;
  PoolerKind sequence_pooler_kind = PoolerKind::tanh;
  bool pools_sequences = true;  // else the classifier of sequences reads a token itself (ViT, language models)
  // The same of what gives a score to each of several texts.
  std::string choice_pooler;
  PoolerKind choice_pooler_kind = PoolerKind::tanh;
  std::string with_teacher, teacher;  // of pictures: over the class token, and over the one that learned from a teacher
  std::string sequences, choices, next_sentence, tokens, spans;  // classifiers
  std::string masked_dense, masked_norm, masked_output;          // whose output has a weight where it is not tied
  std::vector<std::string> masked_bias;                          // the names that files have for the bias of the output
  bool masked_gelu = false;  // whether their layer has gelu, whatever the others have
};

// The architecture and the labels of a config.json: `id2label`, else as many as `num_labels` says, else two, which are
// called LABEL_0, ...; `problem_type` says whether classes exclude each other, or are numbers that are asked for.
// Throws heed::Error that names the place for ids that are not 0, 1, ...
EncoderHeadNames encoder_head_names(const Json& config);
// Those of a language model that was made a classifier: `score` for sequences, `tokens`, and `qa_outputs` for spans.
// Labels are read where the architecture is a classifier's, or not named.
EncoderHeadNames language_model_head_names(const Json& config, const std::string& tokens);
// Those of a model with an encoder and a decoder: `classification_head` for sequences, `qa_outputs` for spans.
EncoderHeadNames translator_head_names(const Json& config);

}  // namespace heed
