// Weights that somebody has trained, in whatever file they lie: tensors by name, and what the file says about them.
//
//   const Checkpoint checkpoint = open_checkpoint("stories260K.gguf");      // heed/io/open_checkpoint.h: or a folder
//   const Index layers = checkpoint.metadata()["llama.block_count"].integer(1, 1024);
//   for (const auto& [name, stored] : checkpoint.tensors()) show(name, name_of(stored.type), stored.shape);
//   Tensor weight = checkpoint.tensor("blk.0.attn_q.weight");
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "heed/base/error.h"
#include "heed/io/json.h"
#include "heed/io/stored_tensor.h"
#include "heed/tensor/tensor.h"

namespace heed {

enum class CheckpointFormat : std::uint8_t { safetensors, gguf, ctranslate2, llama2c };

constexpr std::string_view name_of(CheckpointFormat format) {
  constexpr std::string_view kNames[] = {"safetensors", "GGUF", "CTranslate2", "llama2.c"};
  return kNames[static_cast<int>(format)];
}

// Files of weights that are open: they have been checked as a whole (every name, shape and place of bytes), and their
// numbers have not been looked at. Cost: what it says about its tensors, and the pages of those that are used.
class Checkpoint {
 public:
  using Tensors = std::map<std::string, StoredTensor, std::less<>>;

  // What a reader of a format has found. `name` stands for the file in errors; `metadata` is an object.
  Checkpoint(CheckpointFormat format, std::string name, Tensors tensors, Json metadata);

  CheckpointFormat format() const { return format_; }
  // The path of the file, or of the index of several, for errors.
  const std::string& name() const { return name_; }
  // In the order of their names; those that are scales of others (StoredTensor::scales) are not among them.
  const Tensors& tensors() const { return tensors_; }
  bool has(std::string_view tensor) const { return tensors_.contains(tensor); }

  // What the file says beside its tensors. Its getters' errors name the file, the key and what is there. Safetensors:
  // texts. GGUF: every key with its value, integers, numbers, texts and arrays of them. CTranslate2: binary_version,
  // spec, spec_revision. llama2.c: version, dim, hidden_dim, n_layers, n_heads, n_kv_heads, vocab_size, max_seq_len,
  // shared_classifier, group_size (0: numbers are not grouped).
  const Json& metadata() const { return metadata_; }

  // The tensor, in StoredTensor::dtype. Where heed has numbers of the file's type and they lie aligned, it is the
  // file's own pages, which live as long as it does and are copied where somebody writes to them: calls for one name
  // share them, and so do names of one tensor (aliases). Otherwise each call makes a tensor in memory of its own. A
  // number may be infinite or NaN. Throws heed::Error that names the file and the tensor: there is none of this name,
  // the file has changed since it was opened, or as load_values does.
  Tensor tensor(std::string_view name) const;
  // The f32 scales of the rows of a matrix of i8 (heed/ops/weight.h); empty where it has none. Throws as tensor does.
  Tensor scales(std::string_view name) const;
  // The bytes of a matrix of blocks, i8 [rows, bytes of a row] of blocks_of(tensors().at(name).type): the file's own
  // pages, which tensor() widens. Empty for any other tensor. Throws as tensor does.
  Tensor blocks(std::string_view name) const;

 private:
  const StoredTensor& found(std::string_view name) const;

  CheckpointFormat format_;
  std::string name_;
  Tensors tensors_;
  Json metadata_;
};

}  // namespace heed
