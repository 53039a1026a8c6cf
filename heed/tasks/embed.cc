#include "heed/tasks/embed.h"

#include <algorithm>
#include <cmath>

#include "heed/base/check.h"
#include "heed/observe/hidden_recorder.h"
#include "heed/tasks/read_texts.h"
#include "heed/tasks/sentence_modules.h"
#include "heed/tasks/sentence_texts.h"

namespace heed {
namespace {

// What is not said is read.
SentenceModules modules_of(const EmbedOptions& options, const std::filesystem::path& model) {
  if (options.pool) return {.pools = {*options.pool}, .normalise = options.normalise.value_or(false)};
  SentenceModules modules = read_sentence_modules(model);
  modules.normalise = options.normalise.value_or(modules.normalise);
  return modules;
}

std::vector<EncodedText> encoded(const TextReader& reader, std::span<const std::string> texts,
                                 const EmbedOptions& options, const std::filesystem::path& model,
                                 std::string_view name) {
  const SentenceTexts said = read_sentence_texts(model);
  std::vector<std::string> read;
  for (const std::string& text : texts) {
    read.push_back(said.as_read(text, options.prompt, fmt::format("{}:{}", name, read.size() + 1)));
  }
  return reader.encode(read, name, {.most = said.most_tokens, .cut = options.cut});
}

}  // namespace

Tensor embed(const ModelFolder& folder, std::span<const std::string> texts, const EmbedOptions& options,
             std::string_view name, const Progress& progress) {
  const TextReader reader(folder);
  const Index width = reader.model().config().width, layers = reader.layers();
  const Index layer = options.layer < 0 ? layers + 1 + options.layer : options.layer;
  HEED_CHECK(layer >= 0 && layer <= layers, "{}: has layers 0 to {}, or {} to -1 from the end, and none of number {}",
             folder.name(), layers, -layers - 1, options.layer);
  const SentenceModules modules = modules_of(options, folder.path);
  HiddenRecorder recorder(reader.side(), layer, layer);
  const Index pooled = std::ssize(modules.pools) * width;
  Tensor vectors = Tensor::zeros(DType::f32, {std::ssize(texts), pooled});
  reader.read(
      encoded(reader, texts, options, folder.path, name), options.batch_tokens,
      [&](const ReadBatch& batch) {
        const Tensor& hidden = recorder.layer(layer);
        for (std::size_t row = 0; row < batch.texts.size(); ++row) {
          const Index at = static_cast<Index>(row), length = batch.tokens.lengths.at<std::int32_t>({at});
          float* vector = vectors.data<float>() + batch.texts[row] * pooled;
          for (Pool pool : modules.pools) {
            pool_rows(hidden.data<float>() + at * hidden.dim(1) * width, length, width, pool, vector);
            vector += width;
          }
        }
      },
      progress, &recorder);
  for (const auto& behind : modules.layers) vectors = behind->apply(vectors);
  return modules.normalise ? with_length_one(vectors) : vectors;
}

Tensor hidden_states(const ModelFolder& folder, const std::string& text, std::string_view name) {
  const TextReader reader(folder);
  const Index layers = reader.layers();
  HiddenRecorder recorder(reader.side(), 0, layers);
  Tensor states;
  reader.read(
      encoded(reader, {&text, 1}, {}, folder.path, name), kBatchTokens,
      [&](const ReadBatch&) {
        const Index tokens = recorder.layer(0).dim(1), width = recorder.layer(0).dim(2);
        states = Tensor::empty(DType::f32, {layers + 1, tokens, width});
        for (Index layer = 0; layer <= layers; ++layer)
          std::copy_n(recorder.layer(layer).data<float>(), tokens * width,
                      states.data<float>() + layer * tokens * width);
      },
      {}, &recorder);
  return states;
}

double cosine(const Tensor& vectors, Index a, Index b) {
  HEED_CHECK(
      vectors.rank() == 2 && vectors.dtype() == DType::f32 && std::min(a, b) >= 0 && std::max(a, b) < vectors.dim(0),
      "cosine: rows {} and {} of {}", a, b, describe(vectors.view()));
  const Index width = vectors.dim(1);
  const float *x = vectors.data<float>() + a * width, *y = vectors.data<float>() + b * width;
  double xy = 0, xx = 0, yy = 0;
  for (Index i = 0; i < width; ++i) {
    const double p = static_cast<double>(x[i]), q = static_cast<double>(y[i]);
    xy += p * q, xx += p * p, yy += q * q;
  }
  return xx > 0 && yy > 0 ? std::clamp(xy / std::sqrt(xx) / std::sqrt(yy), -1.0, 1.0) : 0;
}

}  // namespace heed
