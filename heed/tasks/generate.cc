#include "heed/tasks/generate.h"

#include <algorithm>
#include <memory>

#include "heed/base/check.h"
#include "heed/decode/sampler.h"
#include "heed/tasks/model_batch.h"
#include "heed/tasks/purpose.h"

namespace heed {
namespace {

// Returns whether that is enough.
using Told = std::function<bool(std::span<const std::int32_t> tokens, bool ended)>;

// A sampler that tells what it has drawn, and ends where that is enough.
class TellingSampler : public Sampler {
 public:
  TellingSampler(const SamplingOptions& options, const SpecialTokens& special, std::vector<std::int32_t> written,
                 Index sequence, Index max_tokens, Told told)
      : Sampler(options, special, std::move(written), sequence, max_tokens), told_(std::move(told)) {}

  std::vector<Index> advance(const View& logits) override {
    std::vector<Index> rows = Sampler::advance(logits);
    if (told_(drawn().tokens, rows.empty())) rows.clear();
    return rows;
  }

 private:
  Told told_;
};

std::vector<int> asked(const ChatTemplate& chat, const std::string& system, const std::string& question,
                       const Vocabulary& vocabulary) {
  std::vector<ChatMessage> messages{{"user", question}};
  if (!system.empty()) messages.insert(messages.begin(), {"system", system});
  return chat.encode(vocabulary, messages);
}

}  // namespace

std::vector<Generated> generate(const ModelFolder& folder, std::span<const std::string> prompts,
                                const GenerateOptions& options,
                                const std::function<void(const GeneratedPart&)>& on_part, std::string_view name,
                                const Progress& progress) {
  check_purpose(continues_text(folder.config), folder, "continues no text");
  HEED_CHECK(options.max_tokens >= 1 && options.rows >= 1,
             "generate: max_tokens and rows must be at least 1, but are {} and {}", options.max_tokens, options.rows);
  const Vocabulary& vocabulary = *folder.target_vocabulary;
  const Index longest = folder.model->max_length();
  std::vector<std::vector<std::int32_t>> written;
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    written.push_back(options.chat ? asked(*options.chat, options.system, prompts[i], vocabulary)
                                   : folder.prompt_ids(prompts[i]));
    const Index tokens = std::ssize(written.back());
    HEED_CHECK(tokens <= longest, "{} {}: has {} tokens, the begin token counted, and the model can hold {}", name,
               i + 1, tokens, longest);
  }

  // Parts are gathered while the rows advance, on several threads, and told from this one.
  std::vector<std::vector<std::int32_t>> drawn(prompts.size());
  std::vector<char> ended(prompts.size());
  std::vector<std::size_t> running;
  std::vector<Generated> results(prompts.size());
  Workspace workspace;
  Session session(*folder.model, workspace, options.cache);
  std::size_t next = 0;
  const auto text_of = [&](std::size_t i, std::span<const std::int32_t> tokens) {
    std::vector<int> ids = options.chat ? std::vector<int>() : written[i];
    ids.insert(ids.end(), tokens.begin(), tokens.end());
    return vocabulary.decode(ids);
  };
  std::vector<std::size_t> begins(prompts.size());  // where the continuation does in that text
  for (std::size_t i = 0; i < prompts.size() && !options.stop.empty(); ++i) begins[i] = text_of(i, {}).size();
  const auto shown = [&](std::size_t i, std::span<const std::int32_t> tokens, bool at_end) {
    return std::string(options.stop.before(text_of(i, tokens), begins[i], at_end));
  };
  while (next < prompts.size() || session.rows() > 0) {
    std::vector<std::vector<int>> entering;
    Searches searches;
    for (; next < prompts.size() && session.rows() + std::ssize(searches) < options.rows; ++next) {
      const std::vector<std::int32_t>& all = written[next];
      entering.emplace_back(all.begin(), all.end() - 1);
      const Index room = longest - std::ssize(all) + 1;
      searches.push_back(std::make_unique<TellingSampler>(
          options.sampling, folder.special, all, static_cast<Index>(next), std::min(options.max_tokens, room),
          [&, i = next](std::span<const std::int32_t> tokens, bool at_end) {
            drawn[i].assign(tokens.begin(), tokens.end());
            ended[i] = at_end ||
                       (!options.stop.empty() && options.stop.find(text_of(i, tokens), begins[i]) != std::string::npos);
            return ended[i] != 0;
          }));
      running.push_back(next);
    }
    if (!searches.empty()) session.admit(make_prompt_batch(entering), std::move(searches));
    session.step();
    for (const std::size_t i : running) {
      if (on_part) on_part({i, shown(i, drawn[i], ended[i] != 0), ended[i] != 0});
    }
    std::erase_if(running, [&](std::size_t i) { return ended[i] != 0; });
    if (progress) progress(static_cast<Index>(next - running.size()));
    for (Session::Ended& one : session.take()) {
      Generated& result = results[static_cast<std::size_t>(one.sequence)];
      result.tokens = std::move(one.hypotheses[0].tokens);
      result.token_scores = std::move(one.hypotheses[0].token_scores);
      result.text = shown(static_cast<std::size_t>(one.sequence), result.tokens, true);
    }
  }
  return results;
}

}  // namespace heed
