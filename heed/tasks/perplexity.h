// How well a language model predicts text, beside what counts of the same tokens predict.
//
//   const std::vector<std::string> lines = read_text_lines("test.txt");
//   Perplexity of_model = measure_perplexity(model, lines);
//   Perplexity of_counts = measure_ngram_perplexity(5, *model.target_vocabulary, training_lines, lines);
//   of_model.perplexity() < of_counts.perplexity();
#pragma once

#include <span>
#include <string>

#include "heed/base/progress.h"
#include "heed/tasks/model_folder.h"

namespace heed {

struct Perplexity {
  double nats = 0;        // minus the natural logarithm of the text's probability
  Index tokens = 0;       // the ends of documents counted
  Index documents = 0;    // lines that have tokens
  std::size_t bytes = 0;  // of these lines, each with its end

  // exp of the mean nats of a token. Only comparable between models of one vocabulary.
  double perplexity() const;
  // Comparable between all models.
  double bits_per_byte() const;
};

// Of documents, one a line. Throws heed::Error as score_documents does, and where no line has tokens.
Perplexity measure_perplexity(const ModelFolder& folder, std::span<const std::string> lines,
                              const Progress& progress = {});

// The same of an NgramModel (heed/metrics/ngram_model.h) of this order, counted on the training text's tokens.
Perplexity measure_ngram_perplexity(int order, const Vocabulary& vocabulary, std::span<const std::string> training,
                                    std::span<const std::string> lines);

}  // namespace heed
