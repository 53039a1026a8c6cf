#include "heed/pretrained/encoder_head_names.h"

#include <fmt/format.h>

#include "heed/pretrained/config_fields.h"

namespace heed {
namespace {

constexpr Index kMostLabels = 1 << 16;

std::vector<std::string> labels_of(const Json& config) {
  std::vector<std::string> labels;
  if (const std::optional<Json> named = find_field(config, {"id2label"})) {
    const auto count = static_cast<Index>(named->members().size());
    for (Index id = 0; id < count; ++id) {
      const Json label = (*named)[std::to_string(id)];
      labels.push_back(label.kind() == Json::Kind::string ? label.string() : label.dump());
    }
    return labels;
  }
  const std::optional<Json> given = find_field(config, {"num_labels", "_num_labels"});
  const Index count = given ? given->integer(1, kMostLabels) : 2;
  for (Index id = 0; id < count; ++id) labels.push_back(fmt::format("LABEL_{}", id));
  return labels;
}

EncoderHeadNames without_labels(const Json& config) {
  EncoderHeadNames names;
  const std::optional<Json> problem = find_field(config, {"problem_type"});
  names.independent = problem && problem->string() == "multi_label_classification";
  names.regression = problem && problem->string() == "regression";
  const std::optional<Json> architectures = find_field(config, {"architectures"});
  if (architectures && !architectures->items().empty()) names.architecture = (*architectures)[Index{0}].string();
  return names;
}

}  // namespace

EncoderHeadNames encoder_head_names(const Json& config) {
  EncoderHeadNames names = without_labels(config);
  names.labels = labels_of(config);
  return names;
}

EncoderHeadNames language_model_head_names(const Json& config, const std::string& tokens) {
  EncoderHeadNames names = without_labels(config);
  // One that was made no classifier may have any.
  if (names.architecture.empty() || names.architecture.ends_with("Classification")) names.labels = labels_of(config);
  names.sequences = "score";
  names.pools_sequences = false;
  names.tokens = tokens;
  names.spans = "qa_outputs";
  return names;
}

EncoderHeadNames translator_head_names(const Json& config) {
  EncoderHeadNames names = encoder_head_names(config);
  names.sequence_pooler = "classification_head.dense";
  names.sequences = "classification_head.out_proj";
  names.spans = "qa_outputs";
  return names;
}

}  // namespace heed
