// One vector for each text, made of the model's vectors of its tokens.
//
//   ModelFolder folder = load_model_folder("bert-base-uncased");
//   const Tensor vectors = embed(folder, lines, Pool::mean);          // f32 [lines, width]
//   cosine(vectors, 0, 1);
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "heed/base/progress.h"
#include "heed/tasks/model_folder.h"

namespace heed {

enum class Pool {
  mean,   // of all its tokens, those that the vocabulary's template added too (Reimers and Gurevych 2019)
  first,  // the first token's: BERT's [CLS]
  last,   // the last token's, which alone has seen all others in a language model
};
inline constexpr std::pair<std::string_view, Pool> kPoolNames[] = {
    {"mean", Pool::mean}, {"first", Pool::first}, {"last", Pool::last}};
inline std::span<const std::pair<std::string_view, Pool>> enum_names(Pool) { return kPoolNames; }

// Of each text, f32 [texts, width]: the model's encoder's, or where it has none what its projection reads. A tab parts
// two texts that are read together. Batches hold about batch_tokens tokens; a text's vector has the same bits in any.
// Throws heed::Error where the model is no Transformer and, naming `name` and the line, for a text of no tokens or of
// more than the model can hold. Progress counts texts.
Tensor embed(const ModelFolder& folder, std::span<const std::string> texts, Pool pool, std::string_view name = "input",
             Index batch_tokens = kBatchTokens, const Progress& progress = {});

// Of two rows: their product over their lengths', from -1 to 1; 0 where one has no length.
double cosine(const Tensor& vectors, Index a, Index b);

}  // namespace heed
