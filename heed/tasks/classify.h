// The class of a text, or of each of its tokens.
//
//   ModelFolder folder = load_model_folder("distilbert-sst2");
//   for (const Classified& line : classify(folder, lines)) print(labels[line.likeliest()], line.probabilities);
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/progress.h"
#include "heed/tasks/model_folder.h"

namespace heed {

// How likely each class is: they sum to one, or, where classes do not exclude each other, each is between 0 and 1. Of a
// model that estimates numbers, those.
struct Classified {
  std::vector<double> probabilities;

  // The likeliest class; of two that are equally likely the first.
  Index likeliest() const;
};

// Of each row of logits [..., classes], which are overwritten: their softmax, or, where classes do not exclude each
// other or there is one, 1 / (1 + e^-x), or, where they are what is asked for, themselves.
std::vector<Classified> class_probabilities(const EncoderHeadsOptions& heads, const Tensor& logits);

// The names of the model's classes, in the order of Classified::probabilities. Throws heed::Error where the model tells
// the class of nothing.
const std::vector<std::string>& class_labels(const ModelFolder& folder);
// Whether it tells the classes of tokens, not of whole texts.
bool classifies_tokens(const ModelFolder& folder);

// Of each text; a tab parts two that are read together. Batches hold about batch_tokens tokens; a text's probabilities
// have the same bits in any. Throws heed::Error where the model does not tell the class of a text and, naming `name`
// and the line, for a text of no tokens or of more than the model can hold.
std::vector<Classified> classify(const ModelFolder& folder, std::span<const std::string> texts,
                                 std::string_view name = "input", Index batch_tokens = kBatchTokens,
                                 const Progress& progress = {});

struct ClassifiedToken : Classified {
  std::int32_t token;
};
// Of each token of each text, but for what the vocabulary's template puts around it. Throws as classify does, where the
// model does not tell the classes of tokens.
std::vector<std::vector<ClassifiedToken>> classify_tokens(const ModelFolder& folder, std::span<const std::string> texts,
                                                          std::string_view name = "input",
                                                          Index batch_tokens = kBatchTokens,
                                                          const Progress& progress = {});

}  // namespace heed
