#include "generation.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "heed/base/check.h"
#include "heed/decode/beam_search.h"
#include "heed/decode/prompted_search.h"
#include "heed/decode/sampler.h"
#include "model_case.h"
#include "token_ids.h"

namespace heed::conformance {
namespace {

using Ids = std::vector<std::int32_t>;

std::unique_ptr<Search> search_of(const Json& how, const SpecialTokens& special, const Ids& prompt, Index most) {
  const std::string method = how["method"].string();
  if (method == "greedy") {
    SamplingOptions options{.temperature = 0};
    if (how.has("min_new")) options.min_tokens = how["min_new"].integer(0, most);
    if (how.has("repetition_penalty")) options.repetition_penalty = how["repetition_penalty"].number();
    if (how.has("no_repeat_ngram_size")) options.no_repeat_ngram = how["no_repeat_ngram_size"].integer(0, kLargestId);
    return std::make_unique<Sampler>(options, special, prompt, 0, most);
  }
  if (method != "beam") how["method"].refuse("must be greedy or beam");
  BeamOptions options{.beam = how["num_beams"].integer(1, kWidestBeam), .early_stopping = false, .complete = false};
  if (how.has("length_penalty")) options.length_penalty = how["length_penalty"].number();
  if (how.has("early_stopping")) {
    const Json early = how["early_stopping"];
    options.any_length = early.kind() == Json::Kind::string && early.string() == "never";
    options.early_stopping = !options.any_length && early.boolean();
  }
  if (how.has("repetition_penalty")) options.repetition_penalty = how["repetition_penalty"].number();
  if (how.has("no_repeat_ngram_size")) options.no_repeat_ngram = how["no_repeat_ngram_size"].integer(0, kLargestId);
  if (how.has("min_new")) options.min_tokens = how["min_new"].integer(0, most);
  // A search counts no end that is put last.
  auto search = std::make_unique<BeamSearch>(options, special, prompt.back(), most - (special.last >= 0 ? 1 : 0));
  search->continues(prompt);
  return search;
}

}  // namespace

Generation generate(const Json& item, const std::filesystem::path& folder, const PretrainedModel& opened,
                    Workspace& workspace) {
  const Transformer& model = *opened.model;
  const Json how = item["generate"];
  SpecialTokens special{.begin = opened.family.begin,
                        .ends = opened.family.ends,
                        .never = opened.family.never,
                        .first = opened.family.first,
                        .last = opened.family.last,
                        .never_first = opened.family.never_first};
  if (how.has("ignore_eos") && how["ignore_eos"].boolean()) special.ends.clear(), special.last = -1;
  if (how.has("ban")) {
    for (const std::int32_t id : token_ids(how["ban"])) special.never.push_back(id);
  }
  if (how.has("decoder_start")) special.begin = static_cast<std::int32_t>(how["decoder_start"].integer(0, kLargestId));
  Generation made;
  Ids read = model.has_source() ? Ids{special.begin} : without_padding(item).ids;
  made.prompt = model.has_source() ? read : token_ids(item["input_ids"]);
  if (model.has_source() && item.has("decoder_input_ids")) made.prompt = read = token_ids(item["decoder_input_ids"]);
  HEED_CHECK(!read.empty(), "{}: has no token to begin with", item.where());
  const TokenBatch admitted =
      model.has_source() ? source_of(item, folder, model.config().signal) : batch_of(Ids(read.begin(), read.end() - 1));
  Index most = how.has("max_new") ? how["max_new"].integer(1, kLargestId)
                                  : how["max_length"].integer(1, kLargestId) - std::ssize(made.prompt);
  most = std::min(most, model.max_steps(std::ssize(read) - 1));
  HEED_CHECK(most >= 1, "{}: leaves no room for a token", how.where());
  std::unique_ptr<Search> search = search_of(how, special, read, most);
  if (model.has_source()) search = std::make_unique<PromptedSearch>(read, std::move(search));
  Searches searches;
  searches.push_back(std::move(search));
  const Hypothesis best = decode(model, admitted, std::move(searches), workspace)[0][0];
  made.generated = best.tokens;
  made.ended = best.end >= 0;
  if (made.ended) made.generated.push_back(best.end);
  return made;
}

}  // namespace heed::conformance
