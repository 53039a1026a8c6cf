// What a folder of sentence-transformers (Reimers and Gurevych 2019) says of how a text's vector is made of its
// tokens': modules.json, and the folders that it names.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heed/base/error.h"
#include "heed/kernels/activation.h"  // enum class Activation
#include "heed/tensor/tensor.h"

namespace heed {

enum class Pool {
  mean,   // of all its tokens, those that the vocabulary's template added too
  first,  // the first token's: BERT's [CLS]
  last,   // the last token's, which alone has seen all others in a language model
};
inline constexpr std::pair<std::string_view, Pool> kPoolNames[] = {
    {"mean", Pool::mean}, {"first", Pool::first}, {"last", Pool::last}};
inline std::span<const std::pair<std::string_view, Pool>> enum_names(Pool) { return kPoolNames; }

// A layer behind the pooled vectors: f(x weight^T + bias).
struct DenseModule {
  std::string name;  // of its folder, for errors
  Tensor weight;     // f32 [Out, In]
  Tensor bias;       // f32 [Out]; empty: none
  Activation activation = Activation::identity;

  // f32 [texts, In] to [texts, Out], each row as by itself to the bit. Throws heed::Error for another width.
  Tensor apply(const Tensor& vectors) const;
};

struct SentenceModules {
  Pool pool = Pool::mean;
  std::vector<DenseModule> dense = {};  // one after the other
  bool normalise = false;               // each vector is divided by its length, at last
};

// Those of a model's folder; of a file, or a folder without modules.json, the mean. Throws heed::Error that names the
// file and the place for what heed has not: a module behind the model but Pooling, Dense and Normalize, in this order,
// another pooling than Pool has, several at once, or one that leaves a prompt out; and as the layers' files are read.
SentenceModules read_sentence_modules(const std::filesystem::path& model);

// Copies modules.json, the configurations of what it names, whatever they are, where they are there, and the weights
// of its layers. Throws heed::Error as reading and writing do, and for a module whose folder does not lie in the
// model's.
void copy_sentence_modules(const std::filesystem::path& model, const std::filesystem::path& folder);

}  // namespace heed
