// One vector for each text, made of the model's vectors of its tokens.
//
//   ModelFolder folder = load_model_folder("bert-base-uncased");
//   const Tensor vectors = embed(folder, lines, {.pool = Pool::mean});   // f32 [lines, width]
//   cosine(vectors, 0, 1);
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "heed/base/progress.h"
#include "heed/tasks/model_folder.h"
#include "heed/tasks/pool.h"

namespace heed {

struct EmbedOptions {
  std::optional<Pool> pool = {};       // with its layers as the model's folder says (read_sentence_modules)
  std::optional<bool> normalise = {};  // each vector has the length 1; as the folder says where it says how to pool
  Index layer = -1;                    // as hidden_states counts them, or from the end: -1 is the last
  std::string prompt = {};  // before each text: one that the folder has of this name (SentenceTexts::as_read)
  bool cut = false;         // of a text of too many tokens the first are read, and it is not refused
  Index batch_tokens = kBatchTokens;
};

// Of each text, f32 [texts, width], from a layer of the model's encoder, or where it has none of its decoder
// (hidden_states); layers behind it are computed, too. A tab parts two texts that are read together. Batches hold about
// batch_tokens tokens; a text's vector has the same bits in any. Throws heed::Error where the model is no Transformer
// or has no such layer, as read_sentence_texts and SentenceTexts::as_read do, as read_sentence_modules does where the
// folder is to say how and, naming `name` and the line, for a text of no tokens or, unless it may be cut, of more than
// the model can hold or its folder says (read_sentence_texts); two texts that are read together are not cut. Progress
// counts texts.
Tensor embed(const ModelFolder& folder, std::span<const std::string> texts, const EmbedOptions& options = {},
             std::string_view name = "input", const Progress& progress = {});

// f32 [layers + 1, tokens, width]: what each layer makes of a text's tokens. Layer 0 is what the first block reads, n
// what block n gives; the last has been through the model's final norm, where there is one. Throws as embed does.
Tensor hidden_states(const ModelFolder& folder, const std::string& text, std::string_view name = "input");

// Of two rows: their product over their lengths', from -1 to 1; 0 where one has no length.
double cosine(const Tensor& vectors, Index a, Index b);

}  // namespace heed
