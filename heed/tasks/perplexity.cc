#include "heed/tasks/perplexity.h"

#include <cmath>
#include <numbers>

#include "heed/base/check.h"
#include "heed/metrics/ngram_model.h"
#include "heed/tasks/score.h"

namespace heed {
namespace {

void add(Perplexity& sum, const std::string& line, Index tokens, double log_probability) {
  if (tokens == 0) return;
  sum.nats -= log_probability;
  sum.tokens += tokens;
  sum.documents += 1;
  sum.bytes += line.size() + 1;
}

const Perplexity& checked(const Perplexity& sum, std::size_t lines) {
  HEED_CHECK(sum.tokens > 0, "perplexity: none of the {} lines has tokens", lines);
  return sum;
}

// begin, ids, end; nothing where there are no ids.
std::vector<int> document_of(const Vocabulary& vocabulary, const std::string& line) {
  std::vector<int> ids = vocabulary.encode(line);
  if (ids.empty()) return ids;
  if (vocabulary.begin() >= 0) ids.insert(ids.begin(), vocabulary.begin());
  if (vocabulary.end() >= 0) ids.push_back(vocabulary.end());
  return ids;
}

}  // namespace

double Perplexity::perplexity() const { return std::exp(nats / static_cast<double>(tokens)); }
double Perplexity::bits_per_byte() const { return nats / std::numbers::ln2 / static_cast<double>(bytes); }

Perplexity measure_perplexity(const ModelFolder& folder, std::span<const std::string> lines, const Progress& progress) {
  const std::vector<TokenScores> scores = score_documents(folder, lines, kBatchTokens, progress);
  Perplexity sum;
  for (std::size_t i = 0; i < lines.size(); ++i) add(sum, lines[i], std::ssize(scores[i].tokens), scores[i].sum());
  return checked(sum, lines.size());
}

Perplexity measure_ngram_perplexity(int order, const Vocabulary& vocabulary, std::span<const std::string> training,
                                    std::span<const std::string> lines) {
  NgramModel counts(order);
  for (const std::string& line : training) counts.add(document_of(vocabulary, line));
  counts.finish(vocabulary.size());
  Perplexity sum;
  for (const std::string& line : lines) {
    const std::vector<int> document = document_of(vocabulary, line);
    if (!document.empty()) add(sum, line, std::ssize(document) - 1, counts.log_probability(document));
  }
  return checked(sum, lines.size());
}

}  // namespace heed
