// What a folder of sentence-transformers (Reimers and Gurevych 2019) says of how a text's vector is made of its
// tokens': modules.json, and the config.json of the folder that it names for pooling.
#pragma once

#include <filesystem>
#include <span>
#include <string_view>
#include <utility>

#include "heed/base/error.h"

namespace heed {

enum class Pool {
  mean,   // of all its tokens, those that the vocabulary's template added too
  first,  // the first token's: BERT's [CLS]
  last,   // the last token's, which alone has seen all others in a language model
};
inline constexpr std::pair<std::string_view, Pool> kPoolNames[] = {
    {"mean", Pool::mean}, {"first", Pool::first}, {"last", Pool::last}};
inline std::span<const std::pair<std::string_view, Pool>> enum_names(Pool) { return kPoolNames; }

struct SentenceModules {
  Pool pool = Pool::mean;
  bool normalise = false;  // each vector is divided by its length

  friend bool operator==(const SentenceModules&, const SentenceModules&) = default;
};

// Those of a model's folder; of a file, or a folder without modules.json, the mean. Throws heed::Error that names the
// file and the place for what heed has not: a module behind the model but Pooling and Normalize, another pooling than
// Pool has, or several at once.
SentenceModules read_sentence_modules(const std::filesystem::path& model);

// Copies modules.json and the configurations of what it names, whatever they are, where they are there. Throws
// heed::Error as reading and writing do, and for a module whose folder does not lie in the model's.
void copy_sentence_modules(const std::filesystem::path& model, const std::filesystem::path& folder);

}  // namespace heed
