// Relative clauses.
#include <memory>
#include <utility>

#include "heed/corpus/clause_sampler.h"

namespace heed::grammar {
namespace {

// "der Mann, der das Auto kauft", "das Buch, das er liest", "die Frau, der ich helfe", "der Bus, auf den wir warten".
void add_relative(Sampler& sampler, NounPhrase& phrase) {
  NounPhrase relative{.head = Head::kRelative, .noun = phrase.noun, .plural = phrase.plural};
  Kinds kinds = kinds_of(relative);
  ClauseWishes wishes{.relatives = false, .adverbials = false};
  wishes.period = sampler.chance(0.6) ? Period::kPresent : Period::kPast;
  wishes.subject = relative;
  bool as_subject = is_kind(*phrase.noun, kPerson | kAnimal) && sampler.chance(0.55);
  if (as_subject) {
    phrase.relative = std::make_shared<const Clause>(sample_clause(sampler, wishes));
    return;
  }
  const Verb* verb = sampler.pick_where(verbs(), [&](const Verb& v) {
    bool takes_object = v.frame == Frame::kTransitive || v.frame == Frame::kDative || v.frame == Frame::kPrepositional;
    return takes_object && (v.object & kinds) != 0 && (v.subject & kPerson) != 0;
  });
  if (verb == nullptr) return;
  do {
    wishes.subject = sample_subject_pronoun(sampler);
  } while (german_pronoun(wishes.subject->pronoun, Case::kNominative) == "sie");
  wishes.negation = false;
  Clause clause = sample_clause(sampler, *verb, wishes);
  clause.gladly = false;
  if (verb->frame == Frame::kTransitive) clause.accusative = relative, clause.front = Front::kAccusative;
  if (verb->frame == Frame::kDative) clause.dative = relative, clause.front = Front::kDative;
  if (verb->frame == Frame::kPrepositional) clause.prepositional = relative, clause.front = Front::kPrepositional;
  phrase.relative = std::make_shared<const Clause>(std::move(clause));
}

bool may_take_relative(const NounPhrase& phrase) {
  return has_determiner(phrase, {Determiner::kDefinite}) && phrase.modifier == nullptr && phrase.joined == nullptr &&
         !is_kind(*phrase.noun, kMass) && phrase.degree == Degree::kPositive;
}

}  // namespace

void sample_relatives(Sampler& sampler, Clause& clause) {
  constexpr double kChance = 0.11;
  if (may_take_relative(clause.subject) && sampler.chance(kChance)) {
    add_relative(sampler, clause.subject);
  } else if (clause.accusative && may_take_relative(*clause.accusative) && sampler.chance(kChance)) {
    add_relative(sampler, *clause.accusative);
  } else if (clause.dative && may_take_relative(*clause.dative) && sampler.chance(kChance)) {
    add_relative(sampler, *clause.dative);
  } else if (clause.prepositional && may_take_relative(*clause.prepositional) && sampler.chance(kChance)) {
    add_relative(sampler, *clause.prepositional);
  }
}

}  // namespace heed::grammar
