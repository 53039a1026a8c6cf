#include "heed/corpus/clause_sampler.h"

#include <array>
#include <memory>
#include <utility>

namespace heed::grammar {
namespace {

constexpr Agreement kNobodyInParticular = {3, false, Gender::kNeuter, Sex::kIt};  // owns nothing

bool is_nobody(const NounPhrase& phrase) {
  return (phrase.head == Head::kFixed && phrase.fixed.english == "nobody") || has_determiner(phrase, {Determiner::kNo});
}

// Subjects that "nicht" or "nie" would leave ambiguous or strange.
bool resists_negation(const NounPhrase& phrase) {
  return phrase.head == Head::kFixed || has_determiner(phrase, {Determiner::kNo, Determiner::kEvery, Determiner::kAll,
                                                                Determiner::kSome, Determiner::kMany});
}

const Verb& sample_verb(Sampler& sampler, const ClauseWishes& wishes) {
  constexpr auto kFrames = std::to_array<Frame>({Frame::kTransitive, Frame::kIntransitive, Frame::kDative,
                                                 Frame::kDitransitive, Frame::kPrepositional, Frame::kMotion,
                                                 Frame::kPosition, Frame::kPlacing, Frame::kExperiencer});
  constexpr std::array<double, 9> kWeights = {0.40, 0.16, 0.07, 0.10, 0.09, 0.08, 0.04, 0.03, 0.04};
  Kinds kinds = wishes.subject ? kinds_of(*wishes.subject) : ~0u;
  while (true) {
    Frame frame = kFrames[sampler.weighted(kWeights)];
    const Verb* verb = sampler.pick_where(verbs(), [&](const Verb& v) {
      bool in_period = wishes.period != Period::kPast || (v.traits & kNoPast) == 0;
      return v.frame == frame && (v.subject & kinds) != 0 && in_period && (!wishes.wilful || (v.traits & kWilful) != 0);
    });
    if (verb != nullptr) return *verb;
  }
}

NounPhrase sample_subject(Sampler& sampler, Kinds kinds) {
  if ((kinds & kPerson) == 0) return sample_subject_noun(sampler, kinds);
  constexpr std::array<double, 5> kWeights = {0.42, 0.11, 0.41, 0.02, 0.04};
  switch (sampler.weighted(kWeights)) {
    case 0:
      return sample_subject_pronoun(sampler);
    case 1:
      return sample_name(sampler);
    case 2:
      return sample_subject_noun(sampler, kinds);
    case 3:
      return sampler.chance(0.5) ? someone(Case::kNominative) : nobody(Case::kNominative);
    default: {
      NounPhrase first = sampler.chance(0.4) ? sample_name(sampler) : sample_subject_noun(sampler, kPerson);
      NounPhrase second = sampler.chance(0.4) ? sample_name(sampler) : sample_subject_noun(sampler, kPerson);
      if (has_determiner(first, {Determiner::kNo}) || has_determiner(second, {Determiner::kNo})) return first;
      if (first.head == Head::kName && second.head == Head::kName && first.name == second.name) return first;
      first.modifier = nullptr;
      first.joined = std::make_shared<const NounPhrase>(std::move(second));
      return first;
    }
  }
}

// A person or thing that is acted upon; pronouns and names for persons.
NounPhrase sample_object(Sampler& sampler, Kinds kinds, Case the_case, const Agreement& subject, bool indefinite_only) {
  if ((kinds & kPerson) != 0 && !indefinite_only) {
    if (sampler.chance(0.4)) return sample_object_pronoun(sampler, the_case, subject);
    if (sampler.chance(0.15)) return sample_name(sampler);
  }
  return sample_object_noun(sampler, kinds, subject, indefinite_only);
}

// As sample_object for an accusative; now and then "jemanden", "nichts", where nothing else in the clause is negative.
NounPhrase sample_accusative(Sampler& sampler, const Clause& clause, const Agreement& subject) {
  Kinds kinds = clause.verb->object;
  bool may_be_fixed = !clause.gladly && clause.tense != Tense::kPerfect && !is_nobody(clause.subject);
  if (may_be_fixed && (kinds & kPerson) != 0 && sampler.chance(0.02)) {
    return sampler.chance(0.5) ? someone(Case::kAccusative) : nobody(Case::kAccusative);
  }
  if (may_be_fixed && (kinds & kPortable) != 0 && sampler.chance(0.04)) {
    return sampler.chance(0.5) ? something() : nothing();
  }
  return sample_object(sampler, kinds, Case::kAccusative, subject, clause.gladly);
}

// Draws tense, modal and "gern".
void sample_verb_form(Sampler& sampler, Clause& clause, const ClauseWishes& wishes) {
  const Verb& verb = *clause.verb;
  bool experiencer = verb.frame == Frame::kExperiencer;
  bool living = (kinds_of(clause.subject) & (kPerson | kAnimal)) != 0 && !experiencer;
  bool wilful = living && (verb.traits & kWilful) != 0;
  bool now = wishes.period != Period::kPast;
  bool then = wishes.period != Period::kPresent && (verb.traits & kNoPast) == 0;
  bool later = wishes.period == Period::kAny && !experiencer;
  // present, past, perfect, future by werden, future by a time, since, modal, past modal, gern
  const std::array<double, 9> weights = {now ? 0.40 : 0.0,
                                         then ? 0.27 : 0.0,
                                         later && wilful && !resists_negation(clause.subject) ? 0.05 : 0.0,
                                         later ? 0.06 : 0.0,
                                         later && wishes.adverbials ? 0.06 : 0.0,
                                         later && (verb.traits & kLasting) != 0 ? 0.06 : 0.0,
                                         now && wilful ? 0.15 : 0.0,
                                         then && wilful ? 0.04 : 0.0,
                                         now && wilful && (kinds_of(clause.subject) & kPerson) != 0 ? 0.05 : 0.0};
  switch (sampler.weighted(weights)) {
    case 0:
      clause.tense = Tense::kPresent;
      break;
    case 1:
      clause.tense = Tense::kPast;
      break;
    case 2:
      clause.tense = Tense::kPerfect;
      break;
    case 3:
      clause.tense = Tense::kFuture;
      break;
    case 4:
      clause.tense = Tense::kFutureByTime;
      break;
    case 5:
      clause.tense = Tense::kSince;
      break;
    case 6:
      clause.modal = &sampler.pick(modals());
      break;
    case 7:
      clause.tense = Tense::kPast;
      clause.modal = sampler.pick_where(modals(), [](const Modal& m) { return !m.past_stem.empty(); });
      break;
    default:
      clause.gladly = true;
  }
}

// Where the subject is: things on furniture, furniture in rooms, vehicles outdoors.
PrepositionalPhrase sample_position(Sampler& sampler, const Clause& clause) {
  Kinds kinds = kinds_of(clause.subject);
  if ((clause.verb->traits & kHome) != 0) return sample_home(sampler);
  if ((kinds & kPerson) != 0) return sample_place(sampler);
  if ((kinds & kVehicle) != 0) return sample_place(sampler, kOutdoors);
  if ((kinds & kFurniture) != 0) return sample_place(sampler, kRoom);
  return sampler.chance(0.7) ? sample_spot(sampler, Case::kDative) : sample_place(sampler, kRoom);
}

void sample_objects(Sampler& sampler, Clause& clause) {
  const Verb& verb = *clause.verb;
  Agreement subject = agreement(clause.subject);
  if (clause.subject.head == Head::kFixed || clause.subject.head == Head::kWhoWhat) subject = kNobodyInParticular;
  bool indefinite = clause.gladly;  // "er liest gern Bücher"
  switch (verb.frame) {
    case Frame::kTransitive:
      clause.accusative = sample_accusative(sampler, clause, subject);
      break;
    case Frame::kDative:
      clause.dative = sample_object(sampler, verb.object, Case::kDative, subject, indefinite);
      break;
    case Frame::kDitransitive:
      clause.dative = sample_object(sampler, kPerson, Case::kDative, subject, indefinite);
      clause.accusative = sample_object_noun(sampler, verb.object, subject, indefinite);
      break;
    case Frame::kPrepositional:
      clause.prepositional = sample_object(sampler, verb.object, verb.preposition_case, subject, indefinite);
      break;
    case Frame::kMotion:
      clause.direction = sample_direction(sampler, verb);
      break;
    case Frame::kPosition:
      clause.place = sample_position(sampler, clause);
      break;
    case Frame::kPlacing:
      clause.accusative = sample_accusative(sampler, clause, subject);
      clause.direction = sample_spot(sampler, Case::kAccusative);
      break;
    case Frame::kExperiencer:
      clause.dative = sample_object(sampler, kPerson, Case::kDative, subject, false);
      break;
    case Frame::kIntransitive:
    case Frame::kClause:
    case Frame::kInfinitive:
      break;
  }
}

// Where "nicht" must be "kein": an indefinite object. Returns whether the object was turned, or cannot be negated.
enum class NegatedBy { kNicht, kKein, kNothing };
NegatedBy negate_object(std::optional<NounPhrase>& object, bool gladly) {
  if (!object || is_definite(*object) || object->head == Head::kPronoun) return NegatedBy::kNicht;
  if (!has_determiner(*object, {Determiner::kIndefinite, Determiner::kNone})) return NegatedBy::kNothing;
  if (gladly) return NegatedBy::kNicht;  // "nicht gern"
  object->determiner = Determiner::kNo;
  return NegatedBy::kKein;
}

void negate(Clause& clause) {
  if (clause.tense == Tense::kPerfect || clause.tense == Tense::kSince || resists_negation(clause.subject)) return;
  if (clause.frequency && clause.frequency->english != "often" && clause.frequency->english != "always") return;
  // "hat nicht in Berlin gut geschlafen": what is denied would be unclear.
  bool lasting = clause.time && clause.time->german.find(" lang") != std::string::npos;
  if (lasting || (clause.manner && clause.place)) return;
  bool indefinite_dative = clause.dative && !is_definite(*clause.dative) && clause.dative->head != Head::kPronoun;
  bool indefinite_prepositional =
      clause.prepositional && !is_definite(*clause.prepositional) && clause.prepositional->head != Head::kPronoun;
  if (indefinite_dative || indefinite_prepositional) return;
  clause.negated = negate_object(clause.accusative, clause.gladly) == NegatedBy::kNicht;
}

void sample_adverbials(Sampler& sampler, Clause& clause, const ClauseWishes& wishes) {
  const Verb& verb = *clause.verb;
  bool has_manner = (verb.traits & (kSpeed | kSound | kQuality)) != 0 && !clause.gladly;
  if (has_manner && sampler.chance(verb.frame == Frame::kIntransitive ? 0.3 : 0.12)) {
    clause.manner = sampler.pick_where(manners(), [&](const Adverb& a) { return (a.use & verb.traits) != 0; })->text;
  }
  if (!clause.place && (verb.traits & kSomewhere) != 0 &&
      sampler.chance(verb.frame == Frame::kIntransitive ? 0.4 : 0.2)) {
    clause.place = sample_place(sampler);
  }
  Tense tense = clause.tense;
  if (tense == Tense::kPerfect) {
    clause.frequency =
        sampler.pick_where(frequencies(), [&](const Adverb& a) { return (a.use & bit(tense)) != 0; })->text;
    return;
  }
  if (tense == Tense::kFutureByTime || tense == Tense::kSince) {
    clause.time = sample_time(sampler, tense);
    return;
  }
  if (!wishes.adverbials || verb.frame == Frame::kExperiencer || (verb.traits & kSteady) != 0) return;
  bool frequent = (tense == Tense::kPresent || tense == Tense::kPast) && !is_nobody(clause.subject) && !clause.gladly &&
                  !(clause.accusative && clause.accusative->head == Head::kFixed);
  if (frequent && sampler.chance(0.12)) {
    clause.frequency =
        sampler.pick_where(frequencies(), [&](const Adverb& a) { return (a.use & bit(tense)) != 0; })->text;
  } else if (sampler.chance(0.34)) {
    bool lasting = (verb.traits & kLasting) != 0 && tense == Tense::kPast && clause.modal == nullptr;
    clause.time = lasting && sampler.chance(0.3) ? duration(sampler.number()) : sample_time(sampler, tense);
  }
}

}  // namespace

Clause sample_clause(Sampler& sampler, const ClauseWishes& wishes) {
  return sample_clause(sampler, sample_verb(sampler, wishes), wishes);
}

Clause sample_clause(Sampler& sampler, const Verb& verb, const ClauseWishes& wishes) {
  Clause clause;
  clause.verb = &verb;
  bool experiencer = verb.frame == Frame::kExperiencer;
  if (wishes.subject) {
    clause.subject = *wishes.subject;
  } else if (experiencer) {
    // What is liked belongs to nobody in the clause: English makes it the object.
    clause.subject = sample_object_noun(sampler, verb.subject, kNobodyInParticular);
    if (!is_definite(clause.subject)) clause.subject.determiner = Determiner::kDefinite;
  } else {
    clause.subject = sample_subject(sampler, verb.subject);
  }
  if (wishes.wilful) {
    clause.tense = Tense::kPresent;
  } else {
    sample_verb_form(sampler, clause, wishes);
  }
  sample_objects(sampler, clause);
  sample_adverbials(sampler, clause, wishes);
  if (wishes.relatives) sample_relatives(sampler, clause);
  if (wishes.negation && sampler.chance(0.13)) negate(clause);
  return clause;
}

void vary_front(Sampler& sampler, Clause& clause) {
  bool experiencer = clause.verb->frame == Frame::kExperiencer;
  if (clause.time && sampler.chance(0.45)) {
    clause.front = Front::kTime;
  } else if (clause.place && !clause.negated && !clause.gladly && clause.verb->frame != Frame::kPosition &&
             sampler.chance(0.2)) {
    clause.front = Front::kPlace;
  } else if (experiencer && clause.subject.head == Head::kNoun && sampler.chance(0.4)) {
    clause.front = Front::kDative;
  } else if (clause.accusative && clause.accusative->head == Head::kNoun && clause.accusative->relative == nullptr &&
             has_determiner(*clause.accusative, {Determiner::kDefinite, Determiner::kThis}) &&
             clause.accusative->noun->gender == Gender::kMasculine && !clause.accusative->plural && !clause.dative &&
             sampler.chance(0.12)) {
    clause.front = Front::kAccusative;  // "Den Hund sieht der Mann": only where the form shows the case
  }
}

NounPhrase refer_to(Sampler& sampler, const NounPhrase& phrase) {
  Agreement who = agreement(phrase);
  // A girl is "es" or "sie", a child "it": other pronouns are used.
  bool natural =
      phrase.head != Head::kFixed && (kinds_of(phrase) & kPerson) != 0 && (who.plural || who.gender != Gender::kNeuter);
  if (!natural || !sampler.chance(0.7)) return sample_subject_pronoun(sampler);
  return {.head = Head::kPronoun, .pronoun = who};
}

}  // namespace heed::grammar
