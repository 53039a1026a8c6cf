// A model that somebody else trained: a folder or a file of another toolkit, as a model of heed.
//
//   PretrainedModel model = open_pretrained("gpt2");            // or "stories260K.gguf"
//   Var logits = model.model->logits(context, batch);
#pragma once

#include <filesystem>
#include <memory>

#include "heed/layers/parameters.h"
#include "heed/models/transformer.h"
#include "heed/pretrained/family.h"

namespace heed {

struct PretrainedModel {
  FamilyModel family;
  std::unique_ptr<Transformer> model;
  ParameterList parameters;  // the file's own memory where heed reads it as it lies there
};

// What a path holds, without its numbers: config.json and safetensors of Hugging Face, GGUF, CTranslate2's model.bin or
// llama2.c's file. Throws heed::Error that names the file and the place: what was expected and what is there.
FamilyModel describe_pretrained(const std::filesystem::path& path);

// The model. Tensors are mapped, not read: opening costs what heed has to lay out anew (docs/decisions/0028). Where
// positions are computed for texts of any length, it takes at least `length` tokens, whatever the file says that it was
// trained with. Throws as describe_pretrained does, and where the file's tensors are not those of its configuration.
PretrainedModel open_pretrained(const std::filesystem::path& path, Index length = 0);

}  // namespace heed
