// Clauses with "sein", "es gibt", and the weather.
#include <fmt/format.h>

#include <array>

#include "heed/corpus/clause_sampler.h"

namespace heed::grammar {
namespace {

const Noun& sample_noun_with_adjectives(Sampler& sampler) {
  return *sampler.pick_where(nouns(), [](const Noun& n) { return !is_kind(n, kMass | kLanguage); });
}

NounPhrase sample_copula_subject(Sampler& sampler) {
  if (sampler.chance(0.35)) return sample_subject_pronoun(sampler);
  if (sampler.chance(0.12)) return sample_name(sampler);
  NounPhrase phrase = sample_subject_noun(sampler, sampler.chance(0.4) ? static_cast<Kinds>(kPerson) : ~0u);
  bool says_nothing = is_kind(*phrase.noun, kLanguage) || phrase.determiner == Determiner::kIndefinite ||
                      phrase.determiner == Determiner::kNone || phrase.determiner == Determiner::kNo;
  if (says_nothing) phrase.determiner = Determiner::kDefinite;
  if (is_kind(*phrase.noun, kLanguage)) phrase.noun = &sample_noun_with_adjectives(sampler);
  return phrase;
}

Kinds described_kinds(const NounPhrase& phrase) {
  return phrase.head == Head::kNoun ? phrase.noun->kinds & ~(kMass | kWeak) : static_cast<Kinds>(kPerson);
}

const Adjective* sample_adjective(Sampler& sampler, const NounPhrase& subject, bool comparable) {
  Kinds kinds = described_kinds(subject);
  return sampler.pick_where(adjectives(), [&](const Adjective& a) {
    return (a.kinds & kinds) != 0 && &a != subject.adjective && (!comparable || !a.german_comparative.empty());
  });
}

// Something of the subject's kind, in the same case: "als dein Bruder", "als ich".
NounPhrase sample_compared(Sampler& sampler, const NounPhrase& subject) {
  Kinds kinds = described_kinds(subject) & ~kProfession;
  if ((kinds & kPerson) != 0 && sampler.chance(0.5)) {
    if (sampler.chance(0.4)) return sample_name(sampler);
    return sample_object_pronoun(sampler, Case::kNominative, agreement(subject));
  }
  NounPhrase phrase = sample_object_noun(sampler, kinds, agreement(subject));
  if (!is_definite(phrase)) phrase.determiner = Determiner::kDefinite;
  phrase.adjective = nullptr;
  phrase.degree = Degree::kPositive;
  phrase.modifier = nullptr;
  return phrase;
}

Predicate sample_profession(Sampler& sampler, const NounPhrase& subject) {
  Agreement who = agreement(subject);
  bool woman = who.sex == Sex::kShe && !who.plural;
  NounPhrase profession{.plural = who.plural};
  profession.noun = sampler.pick_where(nouns(), [&](const Noun& n) {
    bool fits = who.person != 3 || who.plural || (n.gender == Gender::kFeminine) == woman;
    return is_kind(n, kProfession) && fits;
  });
  return {.noun_phrase = profession};
}

}  // namespace

Clause sample_copula(Sampler& sampler, const ClauseWishes& wishes) {
  Clause clause;
  clause.verb = &copula();
  clause.subject = wishes.subject ? *wishes.subject : sample_copula_subject(sampler);
  bool past = wishes.period == Period::kPast || (wishes.period == Period::kAny && sampler.chance(0.25));
  clause.tense = past ? Tense::kPast : Tense::kPresent;
  bool person = described_kinds(clause.subject) & kPerson;
  constexpr std::array<double, 5> kPersonWeights = {0.48, 0.2, 0.14, 0.12, 0.06};
  constexpr std::array<double, 5> kThingWeights = {0.7, 0.3, 0.0, 0.0, 0.0};
  switch (sampler.weighted(person ? kPersonWeights : kThingWeights)) {
    case 0:
      clause.predicate = Predicate{.adjective = sample_adjective(sampler, clause.subject, false)};
      break;
    case 1:
      clause.predicate =
          Predicate{.adjective = sample_adjective(sampler, clause.subject, true), .equal = sampler.chance(0.3)};
      if (clause.predicate->adjective == nullptr) break;
      clause.predicate->compared = sample_compared(sampler, clause.subject);
      break;
    case 2:
      clause.predicate = sample_profession(sampler, clause.subject);
      break;
    case 3:
      clause.place = sample_place(sampler);
      break;
    default: {
      int years = 3 + static_cast<int>(sampler.number() % 28);
      clause.predicate = Predicate{.fixed = {fmt::format("{}:1 Jahre:2 alt:3", german_number(years)),
                                             fmt::format("{}:1 years:2 old:3", english_number(years))}};
    }
  }
  bool unused = clause.predicate && clause.predicate->adjective == nullptr && !clause.predicate->noun_phrase &&
                clause.predicate->fixed.german.empty();
  if (unused) clause.predicate = Predicate{.adjective = &adjective("schön")};
  bool may_vary = !clause.predicate || clause.predicate->adjective != nullptr;
  bool simple = may_vary && !(clause.predicate && clause.predicate->compared);
  if (person && simple && wishes.adverbials && sampler.chance(0.3)) {
    clause.time = sample_time(sampler, clause.tense);
  } else if (person && simple && wishes.adverbials && sampler.chance(0.15)) {
    clause.frequency =
        sampler.pick_where(frequencies(), [&](const Adverb& a) { return (a.use & bit(clause.tense)) != 0; })->text;
  }
  bool quantified = clause.subject.head == Head::kNoun &&
                    (clause.subject.determiner == Determiner::kEvery || clause.subject.determiner == Determiner::kAll ||
                     clause.subject.determiner == Determiner::kSome || clause.subject.determiner == Determiner::kMany);
  if (wishes.negation && !quantified && !clause.frequency && sampler.chance(0.16)) {
    if (clause.predicate && clause.predicate->noun_phrase) {
      clause.predicate->noun_phrase->determiner = Determiner::kNo;
    } else if (!clause.predicate || !clause.predicate->compared || clause.predicate->equal) {
      clause.negated = true;
    }
  }
  return clause;
}

Clause sample_existential(Sampler& sampler) {
  Clause clause;
  clause.verb = &existential();
  clause.subject = {.head = Head::kFixed, .fixed = {"es", "there"}};
  clause.place = sample_place(sampler, kOutdoors | kBuilding | kRoom);
  Kinds scene = kOutdoors | kBuilding | kVehicle | kFurniture | kPlant | kAnimal;
  if (is_kind(*clause.place->object.noun, kRoom)) scene = kFurniture | kDevice | kContainer;
  if (is_kind(*clause.place->object.noun, kBuilding)) scene = kRoom | kReadable | kFurniture;
  NounPhrase what = sample_object_noun(sampler, scene, {3, false, Gender::kNeuter, Sex::kIt});
  bool indefinite = what.determiner == Determiner::kIndefinite || what.determiner == Determiner::kNone ||
                    what.determiner == Determiner::kMany || what.determiner == Determiner::kNumber ||
                    what.determiner == Determiner::kSome;
  if (!indefinite) what.determiner = what.plural ? Determiner::kMany : Determiner::kIndefinite;
  if (sampler.chance(0.2) && (what.determiner == Determiner::kIndefinite || what.determiner == Determiner::kNone)) {
    what.determiner = Determiner::kNo;
  }
  what.degree = Degree::kPositive;
  what.modifier = nullptr;
  clause.accusative = what;
  if (sampler.chance(0.4)) clause.front = Front::kPlace;
  return clause;
}

Clause sample_weather(Sampler& sampler, Period period) {
  constexpr auto kStates = std::to_array<std::string_view>({"warm", "kalt", "heiß", "dunkel", "hell", "schön"});
  Clause clause;
  clause.subject = {.head = Head::kFixed, .fixed = {"es", "it"}};
  bool past = period == Period::kPast || (period == Period::kAny && sampler.chance(0.3));
  clause.tense = past ? Tense::kPast : Tense::kPresent;
  if (sampler.chance(0.5)) {
    clause.verb = &verb(sampler.chance(0.7) ? "regnen" : "schneien", Frame::kIntransitive);
  } else {
    clause.verb = &copula();
    const Adjective& state = adjective(kStates[sampler.number() % kStates.size()]);
    clause.predicate = Predicate{.adjective = &state};
  }
  if (sampler.chance(0.2)) clause.negated = true;
  if (sampler.chance(0.3)) clause.place = sample_place(sampler, kOutdoors);
  return clause;
}

}  // namespace heed::grammar
