// Questions.
#include <utility>

#include "heed/corpus/clause_sampler.h"
#include "heed/corpus/sentence.h"

namespace heed::grammar {
namespace {

// A clause that a speaker may well ask about: not often what he does himself.
Clause sample_asked_clause(Sampler& sampler, const ClauseWishes& wishes) {
  while (true) {
    Clause clause = sample_clause(sampler, wishes);
    bool own = clause.subject.head == Head::kPronoun && clause.subject.pronoun.person == 1 && clause.modal == nullptr;
    if (!own || sampler.chance(0.15)) return clause;
  }
}

// "welchen Hund", "wie viele Bücher", "welchen Wein"
NounPhrase sample_asked_noun(Sampler& sampler, Kinds kinds) {
  NounPhrase phrase;
  phrase.noun = sampler.pick_where(nouns(), [&](const Noun& noun) { return is_kind(noun, kinds); });
  phrase.plural = !is_kind(*phrase.noun, kMass) && sampler.chance(0.4);
  phrase.determiner = phrase.plural && sampler.chance(0.6) ? Determiner::kHowMany : Determiner::kWhich;
  return phrase;
}

}  // namespace

Phrase sample_yes_no_question(Sampler& sampler) {
  bool exists = sampler.chance(0.15);
  Clause clause = exists ? sample_existential(sampler) : sample_asked_clause(sampler, {.relatives = false});
  clause.front = Front::kNothing;
  return question(clause);
}

Phrase sample_adverb_question(Sampler& sampler) {
  if (sampler.chance(0.12)) {
    NounPhrase who = sampler.chance(0.5) ? sample_name(sampler) : sample_subject_noun(sampler, kPerson);
    if (who.head == Head::kNoun && !is_definite(who)) who.determiner = Determiner::kDefinite;
    return question(
        {.subject = who, .verb = &copula(), .time = Expression{"wie:1 alt:2", "how:1 old:2"}, .front = Front::kTime});
  }
  Clause clause = sample_asked_clause(sampler, {.relatives = false, .adverbials = false});
  if (clause.tense == Tense::kSince) clause.tense = Tense::kPresent;
  if (clause.direction && clause.verb->frame == Frame::kMotion && sampler.chance(0.6)) {
    clause.direction = PrepositionalPhrase{.fixed = {"wohin", "where"}};
    clause.front = Front::kDirection;
  } else if (clause.place && sampler.chance(0.7)) {
    clause.place = PrepositionalPhrase{.fixed = {"wo", "where"}};
    clause.front = Front::kPlace;
  } else {
    bool why = clause.negated || sampler.chance(0.5);
    clause.time = why ? Expression{"warum", "why"} : Expression{"wann", "when"};
    clause.front = Front::kTime;
  }
  return question(clause);
}

Phrase sample_pronoun_question(Sampler& sampler) {
  const NounPhrase who{.head = Head::kWhoWhat};
  const NounPhrase what{.head = Head::kWhoWhat, .noun = &noun("Buch")};
  if (sampler.chance(0.25)) {
    Clause clause = sample_clause(sampler, {.subject = who, .relatives = false});
    return question(clause);
  }
  while (true) {
    Clause clause = sample_asked_clause(sampler, {.negation = false, .relatives = false});
    Kinds kinds = clause.verb->object;
    bool person = (kinds & kPerson) != 0;
    NounPhrase asked = person && sampler.chance(0.6) ? who : what;
    if (clause.verb->frame == Frame::kExperiencer) {
      if (clause.subject.head != Head::kNoun || is_kind(*clause.subject.noun, kPerson)) continue;
      clause.subject = what;
      clause.tense = Tense::kPresent;
    } else if (clause.verb->frame == Frame::kPrepositional) {
      clause.prepositional = asked;
      clause.front = Front::kPrepositional;
    } else if (clause.dative && sampler.chance(0.6)) {
      clause.dative = who;
      clause.front = Front::kDative;
    } else if (clause.accusative && (kinds & kLanguage) == 0) {
      bool alive = (kinds & (kPerson | kAnimal)) != 0;
      clause.accusative = alive ? who : what;
      if (sampler.chance(0.4)) clause.accusative = sample_asked_noun(sampler, kinds);
      clause.front = Front::kAccusative;
    } else {
      continue;
    }
    if (clause.tense == Tense::kSince || clause.tense == Tense::kFutureByTime || clause.gladly) continue;
    return question(clause);
  }
}

}  // namespace heed::grammar
