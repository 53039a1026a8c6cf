#include "heed/tasks/purpose.h"

#include <fmt/format.h>

#include <vector>

#include "heed/base/check.h"
#include "heed/tasks/model_folder.h"

namespace heed {
namespace {

std::string purpose_with_signal(const TransformerConfig& config) {
  if (config.signal.kind == SignalKind::sound) return "hears sound (transcribe)";
  if (config.has_decoder()) return "tells what pictures show (translate --image)";
  const bool has_classes = config.encoder_heads.classifier == ClassifierKind::sequence;
  return has_classes ? "sees pictures and tells their class (classify MODEL PICTURE)" : "sees pictures (view --image)";
}

std::string_view purpose_of_classifier(ClassifierKind kind) {
  switch (kind) {
    case ClassifierKind::sequence:
      return "tells the class of a text (classify)";
    case ClassifierKind::next_sentence:
      return "tells whether a text follows another (classify)";
    case ClassifierKind::tokens:
      return "tells the class of each token (classify)";
    case ClassifierKind::spans:  // of which no command makes an answer
    case ClassifierKind::none:
      break;
  }
  return {};
}

}  // namespace

bool translates_text(const ModelConfig& config) {
  if (config.kind != ModelKind::transformer) return true;
  const TransformerConfig& transformer = config.transformer;
  return config.translates() && !transformer.signal.any() && transformer.has_output;
}

bool continues_text(const ModelConfig& config) {
  return config.kind == ModelKind::transformer && !config.transformer.has_encoder() &&
         config.transformer.has_decoder() && config.transformer.has_output;
}

std::string purpose_of(const ModelConfig& config) {
  if (translates_text(config)) return "translates text (translate)";
  if (continues_text(config)) return "continues text (generate)";
  const TransformerConfig& transformer = config.transformer;
  if (transformer.signal.any()) return purpose_with_signal(transformer);
  std::vector<std::string> purposes;
  if (transformer.encoder_heads.masked_words) purposes.emplace_back("guesses masked words (fill)");
  const std::string_view classes = purpose_of_classifier(transformer.encoder_heads.classifier);
  if (!classes.empty()) purposes.emplace_back(classes);
  purposes.emplace_back("turns text into vectors (embed)");
  return fmt::format("{}", fmt::join(purposes, ", "));
}

void check_purpose(bool is_for_it, const ModelConfig& config, std::string_view name, std::string_view not_it) {
  HEED_CHECK(is_for_it, "{}: {}: it {}", name, not_it, purpose_of(config));
}

void check_purpose(bool is_for_it, const BareModel& model, std::string_view not_it) {
  check_purpose(is_for_it, model.config, model.name(), not_it);
}

}  // namespace heed
