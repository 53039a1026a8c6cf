// The layers that a folder of sentence-transformers may have behind the pooled vectors of its texts.
//
//   for (const auto& layer : modules.layers) vectors = layer->apply(vectors);
#pragma once

#include <filesystem>
#include <memory>

#include "heed/base/error.h"
#include "heed/tensor/tensor.h"

namespace heed {

class SentenceLayer {
 public:
  SentenceLayer() = default;
  SentenceLayer(const SentenceLayer&) = delete;
  SentenceLayer& operator=(const SentenceLayer&) = delete;
  virtual ~SentenceLayer() = default;

  // f32 [texts, In] to [texts, Out], each row as by itself to the bit. Throws heed::Error for another width.
  virtual Tensor apply(const Tensor& vectors) const = 0;
};

// f(x weight^T + bias), and x to that, or residual x where it has not its width, where `use_residual` says so; f is
// tanh where config.json does not say. Throws heed::Error that names the file and the place for an activation that heed
// has not, for another input than the pooled vectors, and for weights of other shapes than these.
std::shared_ptr<const SentenceLayer> read_dense_layer(const std::filesystem::path& folder);
// LayerNorm, by PyTorch's default epsilon. Throws heed::Error as it does.
std::shared_ptr<const SentenceLayer> read_norm_layer(const std::filesystem::path& folder);

// Each vector over its length; one of zeros stays.
Tensor with_length_one(const Tensor& vectors);
std::shared_ptr<const SentenceLayer> length_one_layer();

}  // namespace heed
