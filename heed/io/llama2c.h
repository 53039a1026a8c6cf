// The files of https://github.com/karpathy/llama2.c: a Llama's numbers behind a header of seven, and its vocabulary.
//
//   const Checkpoint file = open_llama2c("stories260K.bin");
//   const Index width = file.metadata()["dim"].integer();                        // 64
//   Tensor query = file.tensor("layers.0.attention.wq.weight");                  // [64, 64]
//   const Llama2cVocabulary vocabulary = read_llama2c_vocabulary("tok512.bin");
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/error.h"
#include "heed/io/checkpoint.h"

namespace heed {

// Version 0, which has no magic, version 1 and version 2, whose matrices are int8 with a scale for each group of
// numbers and become f32. The tensors have the names of Meta's own Llama: tok_embeddings.weight, norm.weight,
// output.weight (where it is not the embedding), and of layer N layers.N.attention_norm.weight, .ffn_norm.weight,
// .attention.{wq,wk,wv,wo}.weight and .feed_forward.{w1,w2,w3}.weight. Rows of queries and keys are in the order of
// neighbouring pairs. The tables of rotary positions that version 0 holds are left out.
//
// Nothing in the file is trusted: throws heed::Error that names the file for extents that are none or do not go
// together, and a file that is shorter or longer than they say.
Checkpoint open_llama2c(const std::filesystem::path& path);
Checkpoint parse_llama2c(const std::shared_ptr<MappedFile>& file);

// Whether bytes begin as such a file does: with the magic, or with seven extents that go together.
bool looks_like_llama2c(std::string_view bytes);

// The pieces of tokenizer.bin and tok512.bin in the order of their ids, with the scores that merges are chosen by.
struct Llama2cVocabulary {
  std::vector<std::string> pieces;
  std::vector<float> scores;
  Index longest = 0;  // the bytes of the longest piece, as the file says
};

// Throws heed::Error naming the file and the byte.
Llama2cVocabulary read_llama2c_vocabulary(const std::filesystem::path& path);
Llama2cVocabulary parse_llama2c_vocabulary(std::string_view bytes, std::string_view name);

}  // namespace heed
