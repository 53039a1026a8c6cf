#include "heed/tasks/generate.h"

#include <algorithm>
#include <memory>
#include <utility>

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

// Whether texts begin with the prompt.
enum class ShownPrompt { no, yes };

void check_task(const ModelFolder& folder, const GenerateOptions& options) {
  check_purpose(continues_text(folder.config), folder, "continues no text");
  HEED_CHECK(options.max_tokens >= 1 && options.rows >= 1,
             "generate: max_tokens and rows must be at least 1, but are {} and {}", options.max_tokens, options.rows);
}

using Prompts = std::vector<std::vector<std::int32_t>>;

// By a session without rows.
std::vector<Generated> continued(const ModelFolder& folder, Session& session, const Prompts& written,
                                 ShownPrompt shown_prompt, const GenerateOptions& options,
                                 const std::function<void(const GeneratedPart&)>& on_part, std::string_view name,
                                 const Progress& progress) {
  const Vocabulary& vocabulary = *folder.target_vocabulary;
  const Index longest = folder.model->max_length();
  for (std::size_t i = 0; i < written.size(); ++i) {
    const Index tokens = std::ssize(written[i]);
    HEED_CHECK(tokens <= longest, "{} {}: has {} tokens, the begin token counted, and the model can hold {}", name,
               i + 1, tokens, longest);
  }

  // Parts are gathered while the rows advance, on several threads, and told from this one.
  std::vector<std::vector<std::int32_t>> drawn(written.size());
  std::vector<char> ended(written.size());
  std::vector<std::size_t> running;
  std::vector<Generated> results(written.size());
  std::size_t next = 0;
  Index first = -1;  // the session's number of the first prompt
  const auto text_of = [&](std::size_t i, std::span<const std::int32_t> tokens) {
    std::vector<int> ids = shown_prompt == ShownPrompt::yes ? written[i] : std::vector<int>();
    ids.insert(ids.end(), tokens.begin(), tokens.end());
    return vocabulary.decode(ids);
  };
  std::vector<std::size_t> begins(written.size());  // where the continuation does in that text
  for (std::size_t i = 0; i < written.size() && !options.stop.empty(); ++i) begins[i] = text_of(i, {}).size();
  const auto shown = [&](std::size_t i, std::span<const std::int32_t> tokens, bool at_end) {
    return std::string(options.stop.before(text_of(i, tokens), begins[i], at_end));
  };
  while (next < written.size() || session.rows() > 0) {
    std::vector<std::vector<int>> entering;
    Searches searches;
    for (; next < written.size() && session.rows() + std::ssize(searches) < options.rows; ++next) {
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
    if (!searches.empty()) {
      const Index number = session.admit(make_prompt_batch(entering), std::move(searches));
      if (first < 0) first = number;
    }
    session.step();
    for (const std::size_t i : running) {
      if (on_part) on_part({i, shown(i, drawn[i], ended[i] != 0), ended[i] != 0});
    }
    std::erase_if(running, [&](std::size_t i) { return ended[i] != 0; });
    if (progress) progress(static_cast<Index>(next - running.size()));
    for (Session::Ended& one : session.take()) {
      const auto i = static_cast<std::size_t>(one.sequence - first);
      results[i].tokens = std::move(one.hypotheses[0].tokens);
      results[i].token_scores = std::move(one.hypotheses[0].token_scores);
      results[i].text = shown(i, results[i].tokens, true);
    }
  }
  return results;
}

void check_prompts(const ModelFolder& folder, std::span<const std::vector<int>> prompts, std::string_view name) {
  const Index size = folder.target_vocabulary->size();
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    HEED_CHECK(!prompts[i].empty(), "{} {}: has no tokens", name, i + 1);
    for (const int id : prompts[i])
      HEED_CHECK(id >= 0 && id < size, "{} {}: the vocabulary has ids below {}, and not {}", name, i + 1, size, id);
  }
}

}  // namespace

std::vector<Generated> generate(const ModelFolder& folder, std::span<const std::string> prompts,
                                const GenerateOptions& options,
                                const std::function<void(const GeneratedPart&)>& on_part, std::string_view name,
                                const Progress& progress) {
  check_task(folder, options);
  Prompts written;
  for (const std::string& prompt : prompts) written.push_back(folder.prompt_ids(prompt));
  Workspace workspace;
  Session session(*folder.model, workspace, options.cache);
  return continued(folder, session, written, ShownPrompt::yes, options, on_part, name, progress);
}

std::vector<Generated> generate_behind(const ModelFolder& folder, std::span<const std::vector<int>> prompts,
                                       const GenerateOptions& options,
                                       const std::function<void(const GeneratedPart&)>& on_part, std::string_view name,
                                       const Progress& progress) {
  check_task(folder, options);
  check_prompts(folder, prompts, name);
  Workspace workspace;
  Session session(*folder.model, workspace, options.cache);
  return continued(folder, session, {prompts.begin(), prompts.end()}, ShownPrompt::no, options, on_part, name,
                   progress);
}

GrowingText::GrowingText(const ModelFolder& folder) : folder_(folder), workspace_(std::make_unique<Workspace>()) {}

Generated GrowingText::go_on(const std::vector<int>& prompt, const GenerateOptions& options,
                             const std::function<void(const GeneratedPart&)>& on_part, std::string_view name,
                             const Progress& progress) {
  check_task(folder_, options);
  check_prompts(folder_, {&prompt, 1}, name);
  // Should something throw, what was read is forgotten.
  std::optional<Session> session = std::exchange(session_, std::nullopt);
  if (!session || cache_ != options.cache) session.emplace(*folder_.model, *workspace_, options.cache);
  std::vector<Generated> one =
      continued(folder_, *session, {prompt}, ShownPrompt::no, options, on_part, name, progress);
  session_.emplace(std::move(*session)), cache_ = options.cache;
  return std::move(one[0]);
}

}  // namespace heed
