// Random clauses that make sense.
#pragma once

#include <optional>

#include "heed/corpus/sampler.h"

namespace heed::grammar {

enum class Period { kAny, kPresent, kPast };  // kPresent: no future; what subordinate and main clause share

struct ClauseWishes {
  std::optional<NounPhrase> subject = std::nullopt;  // else drawn
  Period period = Period::kAny;
  bool wilful = false;  // only what one may be told to do, without modal
  bool negation = true;
  bool relatives = true;   // may hold a relative clause
  bool adverbials = true;  // time, frequency
};

// A clause that begins with its subject.
Clause sample_clause(Sampler& sampler, const ClauseWishes& wishes = {});
// The same for one verb.
Clause sample_clause(Sampler& sampler, const Verb& verb, const ClauseWishes& wishes);

// A clause with "sein" and an adjective, a comparison, a profession, an age or a place.
Clause sample_copula(Sampler& sampler, const ClauseWishes& wishes = {});

// "es gibt einen Park"
Clause sample_existential(Sampler& sampler);
// "es regnet", "es ist kalt"
Clause sample_weather(Sampler& sampler, Period period);

// Gives one of the clause's definite nouns a relative clause, now and then. One that is its object has no "sie" as
// subject: "die Frau, die sie sieht" would have two readings.
void sample_relatives(Sampler& sampler, Clause& clause);

// Puts something other than the subject in front of a statement, now and then.
void vary_front(Sampler& sampler, Clause& clause);

// The pronoun that refers to the phrase, where that is a person or several; else a pronoun drawn freely.
NounPhrase refer_to(Sampler& sampler, const NounPhrase& phrase);

}  // namespace heed::grammar
