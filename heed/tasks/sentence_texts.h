// What a folder of sentence-transformers (Reimers and Gurevych 2019) says of the texts that a model turns into vectors:
// sentence_bert_config.json and its like, and config_sentence_transformers.json; where they give no greatest length,
// tokenizer_config.json's model_max_length.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "heed/base/error.h"
#include "heed/base/index.h"

namespace heed {

struct SentenceTexts {
  std::optional<Index> most_tokens;                         // of a text, with what the vocabulary's template adds
  bool lower_case = false;                                  // as Python's str.lower
  std::map<std::string, std::string, std::less<>> prompts;  // what stands before a text, by what that is for
  std::string prompt;                                       // the name of the one where none is asked for; empty: none

  // The text as the model reads it, behind the prompt of this name, or of `prompt` where it is empty. `name` stands for
  // the text's place in errors. Throws heed::Error for a name that is not among the prompts, and where a text that
  // should be in lower case is not UTF-8.
  std::string as_read(const std::string& text, const std::string& prompt_name, std::string_view name) const;
};

// Of a model's folder; of a file, or a folder without these files, nothing. Throws heed::Error that names the file and
// the place.
SentenceTexts read_sentence_texts(const std::filesystem::path& model);

// Writes what read_sentence_texts reads of the model's folder. Throws heed::Error as reading and writing do.
void copy_sentence_texts(const std::filesystem::path& model, const std::filesystem::path& folder);

}  // namespace heed
