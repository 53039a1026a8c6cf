#include "heed/tasks/score.h"

#include <numeric>

#include "heed/base/check.h"
#include "heed/ops/softmax.h"
#include "heed/tasks/model_batch.h"
#include "heed/tasks/purpose.h"
#include "heed/text/documents.h"

namespace heed {
namespace {

// The log-probabilities of batch.output, without padding, row after row.
std::vector<double> log_probabilities(const SequenceModel& model, const SequenceBatch& batch, Workspace& workspace) {
  const Context context = Context::inference(workspace);
  const Tensor logits = model.logits(context, batch).value();
  log_softmax(logits, logits);
  std::vector<double> scores;
  const Index vocabulary = model.vocabulary();
  for (Index i = 0; i < batch.output.size(); ++i) {
    const std::int32_t token = batch.output.data<std::int32_t>()[i];
    if (token != kNoTarget) scores.push_back(logits.data<float>()[i * vocabulary + token]);
  }
  return scores;
}

}  // namespace

double TokenScores::sum() const { return std::accumulate(log_probabilities.begin(), log_probabilities.end(), 0.0); }

std::vector<TokenScores> score_translations(const ModelFolder& folder, std::span<const std::string> sources,
                                            std::span<const std::string> targets, std::string_view name,
                                            Index batch_tokens, const Progress& progress) {
  check_purpose(translates_text(folder.config), folder, "scores no translations");
  HEED_CHECK(sources.size() == targets.size(), "score_translations: there are {} sources and {} targets",
             sources.size(), targets.size());
  const Index length = folder.model->max_length();
  const Index source_room = folder.source_room(length), target_room = folder.target_room(length);
  EncodedCorpus corpus{.source_symbols = folder.source_symbols, .target_symbols = folder.target_symbols};
  for (std::size_t i = 0; i < sources.size(); ++i) {
    corpus.pairs.push_back({folder.source_ids(sources[i]), folder.target_ids(targets[i])});
    const auto& [source, target] = corpus.pairs.back();
    HEED_CHECK(std::ssize(source) <= source_room && std::ssize(target) <= target_room,
               "{}:{}: the sides have {} and {} tokens, and the model can hold {} and {}", name, i + 1, source.size(),
               target.size(), source_room, target_room);
  }
  std::vector<TokenScores> results(sources.size());
  Workspace workspace;
  Index done = 0;
  const Index budget = std::max(batch_tokens, folder.model->max_length());
  for (const std::vector<Index>& pairs :
       plan_batches(padded_lengths(corpus), {.token_budget = budget}, /*seed=*/0, /*epoch=*/0)) {
    const std::vector<double> scores =
        log_probabilities(*folder.model, make_translation_batch(make_batch(corpus, pairs)), workspace);
    std::size_t at = 0;
    for (const Index pair : pairs) {
      TokenScores& result = results[static_cast<std::size_t>(pair)];
      result.tokens.assign(corpus.pairs[pair].target.begin(), corpus.pairs[pair].target.end());
      result.tokens.push_back(corpus.target_symbols.end);
      result.log_probabilities.assign(scores.begin() + at, scores.begin() + at + result.tokens.size());
      at += result.tokens.size();
    }
    done += std::ssize(pairs);
    if (progress) progress(done);
  }
  return results;
}

std::vector<TokenScores> score_documents(const ModelFolder& folder, std::span<const std::string> lines,
                                         Index batch_tokens, const Progress& progress) {
  check_purpose(continues_text(folder.config), folder, "scores no text by itself");
  const Index longest = folder.model->max_length();
  std::vector<TokenScores> results(lines.size());
  Workspace workspace;
  // Passages in order, as many as a batch takes, with the line that each is of.
  Documents batch;
  std::vector<std::size_t> line_of;
  const auto flush = [&] {
    if (batch.passages.empty()) return;
    std::vector<Index> all(batch.passages.size());
    std::iota(all.begin(), all.end(), Index{0});
    const std::vector<double> scores = log_probabilities(*folder.model, make_packed_batch(pack(batch, all)), workspace);
    std::size_t at = 0;
    for (std::size_t p = 0; p < line_of.size(); ++p) {
      TokenScores& result = results[line_of[p]];
      const std::vector<int>& output = batch.passages[p].output;
      result.tokens.insert(result.tokens.end(), output.begin(), output.end());
      result.log_probabilities.insert(result.log_probabilities.end(), scores.begin() + at,
                                      scores.begin() + at + output.size());
      at += output.size();
    }
    if (progress) progress(static_cast<Index>(line_of.back()) + 1);
    batch = {}, line_of.clear();
  };
  for (std::size_t i = 0; i < lines.size(); ++i) {
    for (Passage& passage : passages_of(folder.target_ids(lines[i]), folder.target_symbols, longest)) {
      if (batch.tokens + passage.length() > batch_tokens) flush();
      batch.tokens += passage.length();
      batch.passages.push_back(std::move(passage));
      line_of.push_back(i);
    }
  }
  flush();
  return results;
}

}  // namespace heed
