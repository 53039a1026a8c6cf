// What a folder of sentence-transformers (Reimers and Gurevych 2019) says of how a text's vector is made of its
// tokens': modules.json, and the folders that it names.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "heed/base/error.h"
#include "heed/tasks/pool.h"
#include "heed/tasks/sentence_layers.h"

namespace heed {

struct SentenceModules {
  std::vector<Pool> pools = {Pool::mean};                         // side by side
  std::vector<std::shared_ptr<const SentenceLayer>> layers = {};  // one after the other
  bool normalise = false;                                         // each vector is divided by its length, at last
};

// Those of a model's folder; of a file, or a folder without modules.json, the mean. Throws heed::Error that names the
// file and the place for what heed has not: a module behind the model but Pooling, Dense, LayerNorm, Normalize and
// Dropout, which does nothing where nothing is trained; another pooling than Pool has, or one that leaves a prompt out;
// and as the layers' files are read.
SentenceModules read_sentence_modules(const std::filesystem::path& model);

// Where the weights of such a folder and its tokenizer lie: in the folder of its model's module, unless it has a
// config.json itself. Any other path is itself.
std::filesystem::path weights_of_sentence_folder(const std::filesystem::path& model);

// Copies modules.json, the configurations of what it names, whatever they are, where they are there, and the weights
// of its layers. Throws heed::Error as reading and writing do, and for a module whose folder does not lie in the
// model's.
void copy_sentence_modules(const std::filesystem::path& model, const std::filesystem::path& folder);

}  // namespace heed
