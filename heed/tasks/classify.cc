#include "heed/tasks/classify.h"

#include <algorithm>
#include <cmath>

#include "heed/base/check.h"
#include "heed/ops/softmax.h"
#include "heed/tasks/purpose.h"
#include "heed/tasks/read_texts.h"

namespace heed {
namespace {

const EncoderHeadsOptions& heads_of(const ModelFolder& folder) {
  const auto* model = dynamic_cast<const Transformer*>(folder.model.get());
  const bool has_classes = model != nullptr && model->config().encoder_heads.classifier != ClassifierKind::none;
  check_purpose(has_classes, folder, "tells the class of nothing");
  return model->config().encoder_heads;
}

}  // namespace

Index Classified::likeliest() const { return std::ranges::max_element(probabilities) - probabilities.begin(); }

std::vector<Classified> class_probabilities(const EncoderHeadsOptions& heads, const Tensor& logits) {
  float* x = logits.data<float>();
  if (!heads.independent && !heads.regression && heads.labels.size() > 1) {
    softmax(logits, logits);
  } else if (!heads.regression) {
    for (Index i = 0; i < logits.size(); ++i) x[i] = static_cast<float>(1 / (1 + std::exp(-static_cast<double>(x[i]))));
  }
  std::vector<Classified> rows;
  const Index classes = logits.dim(logits.rank() - 1);
  for (const float* row = x; row < x + logits.size(); row += classes) rows.push_back({{row, row + classes}});
  return rows;
}

const std::vector<std::string>& class_labels(const ModelFolder& folder) { return heads_of(folder).labels; }

bool classifies_tokens(const ModelFolder& folder) { return heads_of(folder).classifier == ClassifierKind::tokens; }

std::vector<Classified> classify(const ModelFolder& folder, std::span<const std::string> texts, std::string_view name,
                                 Index batch_tokens, const Progress& progress) {
  const EncoderHeadsOptions& heads = heads_of(folder);
  const bool of_texts =
      heads.classifier == ClassifierKind::sequence || heads.classifier == ClassifierKind::next_sentence;
  check_purpose(of_texts, folder, "tells the class of no whole text");
  const bool has_decoder = folder.config.transformer.has_decoder();
  const TextReader reader(folder, has_decoder ? ReadBy::decoder : ReadBy::encoder);
  std::vector<Classified> classified(texts.size());
  reader.read(
      reader.encode(texts, name), batch_tokens,
      [&](const ReadBatch& batch) {
        const Tensor logits =
            reader.model().heads().class_logits(batch.context, batch.hidden, batch.tokens.lengths).value();
        std::vector<Classified> rows = class_probabilities(heads, logits);
        for (std::size_t row = 0; row < batch.texts.size(); ++row) {
          classified[static_cast<std::size_t>(batch.texts[row])] = std::move(rows[row]);
        }
      },
      progress);
  return classified;
}

std::vector<std::vector<ClassifiedToken>> classify_tokens(const ModelFolder& folder, std::span<const std::string> texts,
                                                          std::string_view name, Index batch_tokens,
                                                          const Progress& progress) {
  const EncoderHeadsOptions& heads = heads_of(folder);
  check_purpose(heads.classifier == ClassifierKind::tokens, folder, "tells the classes of no tokens");
  const TextReader reader(folder);
  const std::vector<EncodedText> encoded = reader.encode(texts, name);
  std::vector<std::vector<ClassifiedToken>> classified(texts.size());
  reader.read(
      encoded, batch_tokens,
      [&](const ReadBatch& batch) {
        const Tensor logits =
            reader.model().heads().class_logits(batch.context, batch.hidden, batch.tokens.lengths).value();
        const std::vector<Classified> rows = class_probabilities(heads, logits);
        for (std::size_t row = 0; row < batch.texts.size(); ++row) {
          const std::size_t text = static_cast<std::size_t>(batch.texts[row]);
          const std::size_t first = row * static_cast<std::size_t>(logits.dim(1));
          for (std::size_t at = 0; at < encoded[text].ids.size(); ++at) {
            const int id = encoded[text].ids[at];
            if (id != reader.vocabulary().unknown() && reader.vocabulary().is_special(id)) continue;
            classified[text].push_back({rows[first + at], id});
          }
        }
      },
      progress);
  return classified;
}

}  // namespace heed
