#include "heed/decode/sampling.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "heed/base/check.h"
#include "heed/base/random.h"
#include "heed/decode/repeated_ngrams.h"
#include "heed/io/fields.h"

namespace heed {
namespace {

struct Candidate {
  double logit;
  double weight;  // in proportion to its probability
  std::int32_t token;
};

bool likelier(const Candidate& a, const Candidate& b) {
  return a.logit != b.logit ? a.logit > b.logit : a.token < b.token;
}

std::vector<Candidate> candidates_of(std::span<const float> logits, std::span<const std::int32_t> so_far,
                                     double penalty, Index no_repeat_ngram) {
  constexpr double kNever = -std::numeric_limits<double>::infinity();
  std::vector<double> penalised(logits.begin(), logits.end());
  for (std::int32_t token : so_far) {
    HEED_CHECK(token >= 0 && token < std::ssize(logits), "sample_token: token {} came, but there are logits of {}",
               token, logits.size());
    const double x = logits[static_cast<std::size_t>(token)];
    penalised[static_cast<std::size_t>(token)] = x > 0 ? x / penalty : x * penalty;
  }
  for (std::int32_t token : repeated_ngram_ends(so_far, no_repeat_ngram)) {
    penalised[static_cast<std::size_t>(token)] = kNever;
  }
  std::vector<Candidate> candidates;
  candidates.reserve(penalised.size());
  for (std::size_t token = 0; token < penalised.size(); ++token) {
    // False for NaN too.
    if (!(penalised[token] > kNever)) continue;
    candidates.push_back({penalised[token], 0, static_cast<std::int32_t>(token)});
  }
  return candidates;
}

void keep_top_k(std::vector<Candidate>& candidates, Index k) {
  if (k == 0 || k >= std::ssize(candidates)) return;
  std::partial_sort(candidates.begin(), candidates.begin() + k, candidates.end(), likelier);
  candidates.resize(static_cast<std::size_t>(k));
}

void keep_nucleus(std::vector<Candidate>& candidates, double p) {
  if (p >= 1) return;
  double total = 0, reached = 0;
  for (const Candidate& c : candidates) total += c.weight;
  const auto less_likely = [](const Candidate& a, const Candidate& b) { return likelier(b, a); };
  std::make_heap(candidates.begin(), candidates.end(), less_likely);
  std::vector<Candidate> nucleus;
  do {
    std::pop_heap(candidates.begin(), candidates.end(), less_likely);
    nucleus.push_back(candidates.back());
    reached += candidates.back().weight;
    candidates.pop_back();
  } while (reached < p * total && !candidates.empty());
  candidates = std::move(nucleus);
}

// The best has a weight of one.
void keep_near_best(std::vector<Candidate>& candidates, double min_p) {
  std::erase_if(candidates, [&](const Candidate& c) { return c.weight < min_p; });
}

// The candidate at which the running sum of weights passes the share u, in [0, 1), of their total.
std::int32_t at_share(const std::vector<Candidate>& candidates, double u) {
  double total = 0, reached = 0;
  for (const Candidate& c : candidates) total += c.weight;
  std::int32_t last = candidates.front().token;
  for (const Candidate& c : candidates) {
    if (c.weight == 0) continue;
    last = c.token;
    reached += c.weight;
    if (u * total < reached) break;
  }
  return last;
}

}  // namespace

std::int32_t sample_token(std::span<const float> logits, std::span<const std::int32_t> so_far,
                          const SamplingOptions& options, Draw draw) {
  check_ranges(options, "sample_token");
  std::vector<Candidate> candidates =
      candidates_of(logits, so_far, options.repetition_penalty, options.no_repeat_ngram);
  HEED_CHECK(!candidates.empty(), "sample_token: of {} logits none is a number above -infinity", logits.size());
  const Candidate best = *std::min_element(candidates.begin(), candidates.end(), likelier);
  if (options.temperature == 0) return best.token;
  keep_top_k(candidates, options.top_k);
  for (Candidate& c : candidates) {
    // Differences from the best stay finite at any temperature, and an infinite best is as likely as itself.
    c.weight = c.logit == best.logit ? 1 : std::exp((c.logit - best.logit) / options.temperature);
  }
  keep_nucleus(candidates, options.top_p);
  keep_near_best(candidates, options.min_p);
  Rng rng(static_cast<std::uint64_t>(options.seed), static_cast<std::uint64_t>(draw.sequence),
          static_cast<std::uint64_t>(draw.position));
  return at_share(candidates, rng.uniform());
}

}  // namespace heed
