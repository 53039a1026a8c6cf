// Clauses with "sein", "es gibt", and the weather.
#include <fmt/core.h>

#include <algorithm>
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
  if (has_determiner(phrase, {Determiner::kIndefinite, Determiner::kNone, Determiner::kNo})) {
    phrase.determiner = Determiner::kDefinite;
  }
  if (is_kind(*phrase.noun, kLanguage)) phrase.noun = &sample_noun_with_adjectives(sampler);
  return phrase;
}

const Adjective* sample_adjective(Sampler& sampler, const NounPhrase& subject, bool comparable) {
  Kinds kinds = kinds_of(subject);  // "ein guter Koch", but not "der Koch ist gut"
  return sampler.pick_where(adjectives(), [&](const Adjective& a) {
    return (a.kinds & kinds) != 0 && &a != subject.adjective && (!comparable || !a.german_comparative.empty());
  });
}

// Something of the subject's kind, in the same case: "als dein Bruder", "als ich".
NounPhrase sample_compared(Sampler& sampler, const NounPhrase& subject) {
  Kinds kinds = kinds_of(subject);
  if ((kinds & kPerson) != 0 && sampler.chance(0.5)) {
    if (sampler.chance(0.4)) return sample_name(sampler);
    Agreement who = agreement(subject);
    NounPhrase pronoun;
    do {
      pronoun = sample_object_pronoun(sampler, Case::kNominative, who);
    } while (who.person == 3 && pronoun.pronoun.person == 3);  // not "sie ist älter als sie"
    return pronoun;
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

// Puts a predicate, or the place of a person, into the clause.
void add_predicate(Sampler& sampler, Clause& clause) {
  const NounPhrase& subject = clause.subject;
  bool person = (kinds_of(subject) & kPerson) != 0;
  bool profession = person && !(subject.head == Head::kNoun && is_kind(*subject.noun, kProfession));
  const std::array<double, 5> weights = {0.48, 0.2, profession ? 0.14 : 0.0, person ? 0.12 : 0.0, person ? 0.06 : 0.0};
  switch (sampler.weighted(weights)) {
    case 1:
      if (const Adjective* adjective = sample_adjective(sampler, subject, true)) {
        clause.predicate = Predicate{.adjective = adjective, .equal = sampler.chance(0.3)};
        clause.predicate->compared = sample_compared(sampler, subject);
        return;
      }
      break;
    case 2:
      clause.predicate = sample_profession(sampler, subject);
      return;
    case 3:
      clause.place = sample_place(sampler);
      return;
    case 4: {
      int years = 3 + static_cast<int>(sampler.number() % 28);
      clause.predicate = Predicate{.fixed = {fmt::format("{}:1 Jahre:2 alt:3", german_number(years)),
                                             fmt::format("{}:1 years:2 old:3", english_number(years))}};
      return;
    }
    default:
      break;
  }
  const Adjective* adjective = sample_adjective(sampler, subject, false);
  // The rare noun that no adjective describes may still please.
  clause.predicate = Predicate{.adjective = adjective != nullptr ? adjective : &grammar::adjective("schön")};
}

// Whether the clause says something that passes: a mood, or where somebody is.
bool is_passing(const Clause& clause) {
  constexpr auto kMoods = std::to_array<std::string_view>(
      {"müde", "glücklich", "traurig", "krank", "wütend", "nervös", "hungrig", "ruhig", "laut", "freundlich"});
  if (!clause.predicate) return true;
  const Predicate& predicate = *clause.predicate;
  return predicate.adjective != nullptr && !predicate.compared &&
         std::find(kMoods.begin(), kMoods.end(), predicate.adjective->german) != kMoods.end();
}

void negate_copula(Clause& clause) {
  bool quantified =
      has_determiner(clause.subject, {Determiner::kEvery, Determiner::kAll, Determiner::kSome, Determiner::kMany});
  if (clause.frequency || quantified) return;
  if (clause.predicate && clause.predicate->noun_phrase) {
    clause.predicate->noun_phrase->determiner = Determiner::kNo;
  } else {
    // "nicht so alt wie", but not "nicht älter als"
    clause.negated = !clause.predicate || !clause.predicate->compared || clause.predicate->equal;
  }
}

}  // namespace

Clause sample_copula(Sampler& sampler, const ClauseWishes& wishes) {
  Clause clause;
  clause.verb = &copula();
  clause.subject = wishes.subject ? *wishes.subject : sample_copula_subject(sampler);
  bool past = wishes.period == Period::kPast || (wishes.period == Period::kAny && sampler.chance(0.25));
  clause.tense = past ? Tense::kPast : Tense::kPresent;
  add_predicate(sampler, clause);
  if (wishes.adverbials && is_passing(clause)) {
    if (sampler.chance(0.4)) {
      clause.time = sample_time(sampler, clause.tense);
    } else if (sampler.chance(0.2)) {
      auto fits = [&](const Adverb& a) { return (a.use & bit(clause.tense)) != 0; };
      clause.frequency = sampler.pick_where(frequencies(), fits)->text;
    }
  }
  if (wishes.negation && sampler.chance(0.16)) negate_copula(clause);
  return clause;
}

Clause sample_existential(Sampler& sampler) {
  Clause clause;
  clause.verb = &existential();
  clause.subject = {.head = Head::kFixed, .fixed = {"es", "there"}};
  clause.place = sample_place(sampler, kOutdoors | kBuilding | kRoom);
  Kinds scene = kBuilding | kVehicle | kFurniture | kPlant | kAnimal;
  if (is_kind(*clause.place->object.noun, kRoom)) scene = kFurniture | kDevice | kContainer;
  if (is_kind(*clause.place->object.noun, kBuilding)) scene = kFurniture | kDevice;
  NounPhrase what = sample_object_noun(sampler, scene, {3, false, Gender::kNeuter, Sex::kIt});
  if (is_definite(what) || has_determiner(what, {Determiner::kAll})) {
    what.determiner = what.plural ? Determiner::kMany : Determiner::kIndefinite;
  }
  bool plain = has_determiner(what, {Determiner::kIndefinite, Determiner::kNone});
  if (plain && sampler.chance(0.2)) what.determiner = Determiner::kNo;
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
