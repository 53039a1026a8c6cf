// Random noun phrases, places and times that make sense; the ground on which clause_sampler.h stands.
#pragma once

#include <span>

#include "heed/base/random.h"
#include "heed/corpus/clause.h"

namespace heed::grammar {

// Draws from one stream of random numbers.
class Sampler {
 public:
  explicit Sampler(Rng& rng) : rng_(rng) {}

  bool chance(double probability) { return rng_.uniform() < probability; }
  std::uint64_t number() { return rng_.next(); }
  // One of the choices, uniformly; count >= 1.
  template <typename T>
  const T& pick(std::span<const T> choices) {
    return choices[static_cast<std::size_t>(rng_.below(static_cast<Index>(choices.size())))];
  }
  // One of the choices for which fits(choice) holds; null where none does.
  template <typename T, typename Fits>
  const T* pick_where(std::span<const T> choices, Fits fits) {
    Index count = 0;
    for (const T& choice : choices) count += fits(choice) ? 1 : 0;
    if (count == 0) return nullptr;
    Index skip = rng_.below(count);
    for (const T& choice : choices) {
      if (fits(choice) && skip-- == 0) return &choice;
    }
    return nullptr;
  }
  // An index with probability proportional to its weight.
  std::size_t weighted(std::span<const double> weights);

 private:
  Rng& rng_;
};

// A noun of one of the kinds with determiner, number and perhaps an adjective. As a subject its possessives are free
// ("mein", "sein"); else they are the clause's subject's or a speaker's: of 3rd persons only the subject owns, so that
// "ihr" is always "her" or always "their".
NounPhrase sample_subject_noun(Sampler& sampler, Kinds kinds);
NounPhrase sample_object_noun(Sampler& sampler, Kinds kinds, const Agreement& subject, bool indefinite_only = false);

// ich, du, er, sie, wir, ihr, sie.
NounPhrase sample_subject_pronoun(Sampler& sampler);
// Another person than the subject. Only the dative has one for "them": "sie" would be the same word as "her".
NounPhrase sample_object_pronoun(Sampler& sampler, Case the_case, const Agreement& subject);
NounPhrase sample_name(Sampler& sampler);
// "jemand" / "someone", "niemand" / "nobody", in the nominative or accusative; "etwas" / "something", "nichts" /
// "nothing".
NounPhrase someone(Case the_case);
NounPhrase nobody(Case the_case);
NounPhrase something();
NounPhrase nothing();

// kinds: of the noun, where it must be one ("in der Küche").
PrepositionalPhrase sample_place(Sampler& sampler, Kinds kinds = 0);
// Where one lives: "in Wien", "in diesem Dorf".
PrepositionalPhrase sample_home(Sampler& sampler);
PrepositionalPhrase sample_direction(Sampler& sampler, const Verb& verb);
// "auf dem Tisch" with the dative, "auf den Tisch" with the accusative.
PrepositionalPhrase sample_spot(Sampler& sampler, Case the_case);

// A time that the tense allows.
Expression sample_time(Sampler& sampler, Tense tense);

// Whether the phrase is a noun whose kinds meet `kinds`.
inline bool is_kind(const Noun& noun, Kinds kinds) { return (noun.kinds & kinds) != 0; }

}  // namespace heed::grammar
