#include "heed/tasks/translate.h"

#include <algorithm>
#include <functional>
#include <mutex>

#include "heed/base/check.h"
#include "heed/base/parallel.h"
#include "heed/tasks/model_batch.h"
#include "heed/tasks/purpose.h"

namespace heed {
namespace {

constexpr Index kThreadTokens = 512;  // fewer make products too small for a core
constexpr Index kUsualBeam = 5;       // that a budget of tokens is for

// Lines in order of length, cut into batches: each is a range of that order.
struct LineBatches {
  struct Range {
    std::size_t begin, end;
  };
  std::vector<std::size_t> order;  // lines that have tokens
  std::vector<Range> ranges;
};

Index token_count(const std::vector<int>& sentence) { return static_cast<Index>(sentence.size()) + 1; }

// A wider beam has more rows for each sentence.
Index budget_for_beam(Index tokens, Index beam) {
  return std::max<Index>(1, tokens / ceil_div(std::clamp<Index>(beam, 1, kWidestBeam), kUsualBeam));
}

// The longest sentences are in the first batch, so that no thread begins one when the others are done.
LineBatches batch_lines(std::span<const std::vector<int>> ids, Index budget) {
  LineBatches batches;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (!ids[i].empty()) batches.order.push_back(i);
  }
  std::ranges::stable_sort(batches.order, std::greater<>(), [&](std::size_t line) { return ids[line].size(); });
  for (std::size_t begin = 0; begin < batches.order.size();) {
    const Index most = std::max<Index>(1, budget / token_count(ids[batches.order[begin]]));
    const std::size_t end = std::min(batches.order.size(), begin + static_cast<std::size_t>(most));
    batches.ranges.push_back({begin, end});
    begin = end;
  }
  return batches;
}

// Batches that together are within the budget where each thread works on one, and so small that there is one for each.
LineBatches batch_lines_for_threads(std::span<const std::vector<int>> ids, Index batch_tokens, Index beam,
                                    int threads) {
  Index tokens = 0;
  for (const std::vector<int>& sentence : ids) tokens += sentence.empty() ? 0 : token_count(sentence);
  const Index share = std::max(batch_tokens / threads, std::min(batch_tokens, kThreadTokens));
  return batch_lines(ids, std::min(budget_for_beam(share, beam), std::max<Index>(1, tokens / threads)));
}

const ModelFolder& checked(const ModelFolder& folder) {
  check_purpose(translates_text(folder.config), folder, "translates no text");
  return folder;
}

}  // namespace

Translator::Translator(const SequenceModel& model, const TextCodec& codec, LongLines long_lines)
    : model_(model), codec_(codec), source_(codec.source_encoding()), treatment_(long_lines) {
  HEED_CHECK(model.has_source(), "Translator: the model reads no source");
  HEED_CHECK(codec.special.begin >= 0,
             "Translator: the model's files do not say what its texts begin with (decoder_start_token is null)");
}

Translator::Translator(const ModelFolder& folder, LongLines long_lines)
    : Translator(*checked(folder).model, folder, long_lines) {}

std::vector<std::vector<Translation>> Translator::translate(std::span<const std::string> lines,
                                                            const BeamOptions& options, std::string_view name,
                                                            Index first_line, Index batch_tokens,
                                                            const Progress& progress) {
  HEED_CHECK(batch_tokens >= 1, "Translator: batch_tokens must be at least 1, but is {}", batch_tokens);
  std::vector<Ids> ids = encode(lines);
  treat_long_lines(ids, name, first_line);
  // Threads share out whole batches. Where there are too few for that, all work together on one after the other.
  int threads = thread_count();
  LineBatches batches = batch_lines_for_threads(ids, batch_tokens, options.beam, threads);
  if (std::ssize(batches.ranges) < threads) {
    threads = 1;
    batches = batch_lines(ids, budget_for_beam(batch_tokens, options.beam));
  }
  workspaces_.resize(std::max(workspaces_.size(), static_cast<std::size_t>(threads)));
  std::vector<std::vector<Translation>> results(lines.size(), std::vector<Translation>(1));
  Index done = std::ssize(lines) - std::ssize(batches.order);  // those without tokens
  std::mutex telling;
  parallel_for(std::ssize(batches.ranges), 1, threads, [&](Index batch, Index, int thread) {
    const auto [begin, end] = batches.ranges[static_cast<std::size_t>(batch)];
    std::vector<Ids> sentences;
    for (std::size_t i = begin; i < end; ++i) sentences.push_back(std::move(ids[batches.order[i]]));
    auto translations = translate_batch(sentences, options, workspaces_[static_cast<std::size_t>(thread)]);
    for (std::size_t i = begin; i < end; ++i) results[batches.order[i]] = std::move(translations[i - begin]);
    const std::lock_guard<std::mutex> lock(telling);
    done += static_cast<Index>(end - begin);
    if (progress) progress(done);
  });
  return results;
}

std::size_t Translator::count_before_long_line(std::span<const std::string> lines) const {
  const std::vector<Ids> ids = encode(lines);
  const auto first = std::ranges::find_if(ids, [&](const Ids& line) { return line.size() > most_tokens(); });
  return static_cast<std::size_t>(first - ids.begin());
}

std::vector<std::vector<int>> Translator::encode(std::span<const std::string> lines) const {
  constexpr Index kGrain = 64;
  std::vector<Ids> ids(lines.size());
  parallel_for(static_cast<Index>(lines.size()), kGrain, [&](Index begin, Index end) {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      ids[i] = source_.ids(lines[i]);
    }
  });
  return ids;
}

std::size_t Translator::most_tokens() const {
  return static_cast<std::size_t>(codec_.source_room(model_.max_length()));
}

void Translator::treat_long_lines(std::vector<Ids>& ids, std::string_view name, Index first_line) {
  long_lines_.clear();
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (ids[i].size() <= most_tokens()) continue;
    const Index line = first_line + static_cast<Index>(i);
    HEED_CHECK(treatment_ != LongLines::fail, "{}:{}: the sentence has {} tokens, and the model can hold {}", name,
               line, ids[i].size(), most_tokens());
    ids[i].resize(treatment_ == LongLines::crop ? most_tokens() : 0);
    long_lines_.push_back(line);
  }
}

std::vector<std::vector<Translation>> Translator::translate_batch(std::span<const Ids> sentences,
                                                                  const BeamOptions& options,
                                                                  Workspace& workspace) const {
  std::vector<std::vector<Translation>> translations;
  for (const auto& hypotheses :
       beam_search(model_, make_token_batch(sentences, source_.symbols), options, codec_.special, workspace)) {
    std::vector<Translation>& best = translations.emplace_back();
    for (const Hypothesis& h : hypotheses)
      best.push_back({codec_.target_vocabulary->decode(h.tokens), h.score, h.tokens, h.token_scores});
  }
  return translations;
}

}  // namespace heed
