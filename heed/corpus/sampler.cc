#include "heed/corpus/sampler.h"

#include <fmt/core.h>

#include <array>
#include <utility>

namespace heed::grammar {
namespace {

struct WeightedDeterminer {
  Determiner determiner;
  double subject_weight, object_weight;
};
constexpr auto kSingular = std::to_array<WeightedDeterminer>({{Determiner::kDefinite, 0.52, 0.42},
                                                              {Determiner::kIndefinite, 0.12, 0.28},
                                                              {Determiner::kPossessive, 0.22, 0.18},
                                                              {Determiner::kThis, 0.08, 0.08},
                                                              {Determiner::kEvery, 0.03, 0.0},
                                                              {Determiner::kNo, 0.01, 0.0},
                                                              {Determiner::kOwnedByName, 0.02, 0.04}});
// No "Annas Lehrer": the plural may look like the singular.
constexpr auto kPlural = std::to_array<WeightedDeterminer>({{Determiner::kDefinite, 0.45, 0.30},
                                                            {Determiner::kNone, 0.05, 0.25},
                                                            {Determiner::kPossessive, 0.20, 0.13},
                                                            {Determiner::kThis, 0.07, 0.06},
                                                            {Determiner::kNumber, 0.09, 0.12},
                                                            {Determiner::kMany, 0.04, 0.04},
                                                            {Determiner::kSome, 0.03, 0.04},
                                                            {Determiner::kAll, 0.05, 0.04}});
constexpr auto kUncounted = std::to_array<WeightedDeterminer>({{Determiner::kDefinite, 0.55, 0.35},
                                                               {Determiner::kNone, 0.15, 0.45},
                                                               {Determiner::kPossessive, 0.20, 0.13},
                                                               {Determiner::kThis, 0.10, 0.07}});
constexpr auto kIndefinites =
    std::to_array<WeightedDeterminer>({{Determiner::kIndefinite, 0.0, 1.0}, {Determiner::kNone, 0.0, 0.0}});

Determiner sample_determiner(Sampler& sampler, std::span<const WeightedDeterminer> table, bool subject) {
  std::array<double, 16> weights{};
  for (std::size_t i = 0; i < table.size(); ++i)
    weights[i] = subject ? table[i].subject_weight : table[i].object_weight;
  return table[sampler.weighted(std::span(weights).first(table.size()))].determiner;
}

constexpr Agreement kShe = {3, false, Gender::kFeminine, Sex::kShe};
constexpr Agreement kHe = {3, false, Gender::kMasculine, Sex::kHe};

// A speaker or hearer.
Agreement sample_first_or_second(Sampler& sampler) {
  constexpr std::array<double, 4> kWeights = {0.5, 0.25, 0.17, 0.08};  // mein, dein, unser, euer
  std::size_t which = sampler.weighted(kWeights);
  return {which % 2 == 0 ? 1 : 2, which >= 2, Gender::kMasculine, Sex::kHe};
}

// subject: null for a noun phrase that is the subject.
Agreement sample_owner(Sampler& sampler, const Agreement* subject) {
  if (subject == nullptr) {
    if (sampler.chance(0.25)) return sampler.chance(0.5) ? kHe : kShe;
    return sample_first_or_second(sampler);
  }
  // "seine" of a child would be "its": left out.
  bool may_own = subject->person != 3 || subject->plural || subject->sex != Sex::kIt;
  if (may_own && sampler.chance(0.65)) return *subject;
  if (subject->person != 3 && sampler.chance(0.3)) return sampler.chance(0.5) ? kHe : kShe;
  return sample_first_or_second(sampler);
}

void add_adjective(Sampler& sampler, NounPhrase& phrase) {
  Kinds kinds = phrase.noun->kinds & ~(kMass | kWeak);
  phrase.adjective = sampler.pick_where(adjectives(), [&](const Adjective& a) { return (a.kinds & kinds) != 0; });
  bool may_be_superlative = phrase.adjective != nullptr && phrase.determiner == Determiner::kDefinite &&
                            !phrase.adjective->german_superlative.empty();
  if (may_be_superlative && sampler.chance(0.12)) phrase.degree = Degree::kSuperlative;
}

// "auf dem Tisch" for a thing, "mit dem roten Hut" for a person.
void add_modifier(Sampler& sampler, NounPhrase& phrase) {
  if (is_kind(*phrase.noun, kPortable | kReadable)) {
    phrase.modifier = std::make_shared<const PrepositionalPhrase>(sample_spot(sampler, Case::kDative));
  } else if (is_kind(*phrase.noun, kPerson)) {
    NounPhrase garment{.determiner = Determiner::kDefinite};
    garment.noun = sampler.pick_where(nouns(), [](const Noun& noun) { return is_kind(noun, kClothing); });
    if (sampler.chance(0.5)) add_adjective(sampler, garment);
    phrase.modifier = std::make_shared<const PrepositionalPhrase>(
        PrepositionalPhrase{.german = "mit", .english = "with", .object = garment});
  }
}

NounPhrase sample_noun(Sampler& sampler, Kinds kinds, const Agreement* subject, bool indefinite_only) {
  NounPhrase phrase;
  phrase.noun = sampler.pick_where(nouns(), [&](const Noun& noun) { return is_kind(noun, kinds); });
  bool mass = is_kind(*phrase.noun, kMass);
  bool language = is_kind(*phrase.noun, kLanguage);
  phrase.plural = !mass && sampler.chance(indefinite_only ? 0.6 : 0.27);
  std::span<const WeightedDeterminer> table = kSingular;
  if (mass) table = kUncounted;
  if (phrase.plural) table = kPlural;
  bool bare = language || (indefinite_only && (mass || phrase.plural));
  if (indefinite_only) table = kIndefinites;
  phrase.determiner = bare ? Determiner::kNone : sample_determiner(sampler, table, subject == nullptr);
  if (language) return phrase;
  if (phrase.determiner == Determiner::kPossessive) phrase.owner = sample_owner(sampler, subject);
  if (phrase.determiner == Determiner::kNumber) {
    phrase.number =
        sampler.chance(0.6) ? 2 + static_cast<int>(sampler.number() % 3) : 5 + static_cast<int>(sampler.number() % 8);
  }
  if (phrase.determiner == Determiner::kOwnedByName) {
    phrase.name = sampler.pick_where(names(), [](const Name& name) { return name.genitive; });
  }
  if (sampler.chance(0.27)) add_adjective(sampler, phrase);
  if (phrase.determiner == Determiner::kDefinite && sampler.chance(0.05)) add_modifier(sampler, phrase);
  return phrase;
}

NounPhrase fixed(std::string german, std::string english) {
  return {.head = Head::kFixed, .fixed = {std::move(german), std::move(english)}};
}

NounPhrase sample_location(Sampler& sampler, const PlaceNoun& place) {
  constexpr auto kDeterminers =
      std::to_array<Determiner>({Determiner::kDefinite, Determiner::kThis, Determiner::kIndefinite});
  constexpr std::array<double, 3> kWeights = {0.84, 0.06, 0.1};
  NounPhrase phrase{.determiner = kDeterminers[sampler.weighted(kWeights)], .noun = &noun(place.noun)};
  if (sampler.chance(0.15)) add_adjective(sampler, phrase);
  return phrase;
}

PrepositionalPhrase sample_city(Sampler& sampler) {
  const City& city = sampler.pick(cities());
  return {.fixed = {fmt::format("in:1 {}:2", city.german), fmt::format("in:1 {}:2", city.english)}};
}

}  // namespace

std::size_t Sampler::weighted(std::span<const double> weights) {
  double sum = 0.0;
  for (double weight : weights) sum += weight;
  double point = rng_.uniform() * sum;
  std::size_t last = 0;  // the last choice that is possible: rounding must not pick one of weight 0
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] <= 0.0) continue;
    last = i;
    if (point < weights[i]) return i;
    point -= weights[i];
  }
  return last;
}

NounPhrase sample_subject_noun(Sampler& sampler, Kinds kinds) { return sample_noun(sampler, kinds, nullptr, false); }

NounPhrase sample_object_noun(Sampler& sampler, Kinds kinds, const Agreement& subject, bool indefinite_only) {
  return sample_noun(sampler, kinds, &subject, indefinite_only);
}

NounPhrase sample_subject_pronoun(Sampler& sampler) {
  constexpr std::array<double, 7> kWeights = {0.24, 0.13, 0.18, 0.16, 0.13, 0.06, 0.1};
  constexpr auto kPronouns = std::to_array<Agreement>({{1, false, Gender::kMasculine, Sex::kHe},
                                                       {2, false, Gender::kMasculine, Sex::kHe},
                                                       kHe,
                                                       kShe,
                                                       {1, true, Gender::kMasculine, Sex::kHe},
                                                       {2, true, Gender::kMasculine, Sex::kHe},
                                                       {3, true, Gender::kMasculine, Sex::kHe}});
  return {.head = Head::kPronoun, .pronoun = kPronouns[sampler.weighted(kWeights)]};
}

NounPhrase sample_object_pronoun(Sampler& sampler, Case the_case, const Agreement& subject) {
  while (true) {
    NounPhrase phrase = sample_subject_pronoun(sampler);
    bool same = phrase.pronoun.person == subject.person && subject.person != 3;
    bool them = the_case != Case::kDative && phrase.pronoun.person == 3 && phrase.pronoun.plural;
    if (!same && !them) return phrase;
  }
}

NounPhrase sample_name(Sampler& sampler) { return {.head = Head::kName, .name = &sampler.pick(names())}; }

NounPhrase someone(Case the_case) { return fixed(the_case == Case::kNominative ? "jemand" : "jemanden", "someone"); }
NounPhrase nobody(Case the_case) { return fixed(the_case == Case::kNominative ? "niemand" : "niemanden", "nobody"); }
NounPhrase something() { return fixed("etwas", "something"); }
NounPhrase nothing() { return fixed("nichts", "nothing"); }

PrepositionalPhrase sample_place(Sampler& sampler, Kinds kinds) {
  if (kinds == 0) {
    if (sampler.chance(0.1)) return sample_city(sampler);
    if (sampler.chance(0.15)) return {.fixed = sampler.pick(fixed_places())};
    kinds = ~0u;
  }
  const PlaceNoun& place =
      *sampler.pick_where(place_nouns(), [&](const PlaceNoun& p) { return is_kind(noun(p.noun), kinds); });
  return {.german = place.german_at, .english = place.english_at, .object = sample_location(sampler, place)};
}

PrepositionalPhrase sample_home(Sampler& sampler) {
  if (sampler.chance(0.5)) return sample_city(sampler);
  const PlaceNoun& place = *sampler.pick_where(place_nouns(), [](const PlaceNoun& p) { return p.home; });
  return {.german = place.german_at, .english = place.english_at, .object = sample_location(sampler, place)};
}

PrepositionalPhrase sample_direction(Sampler& sampler, const Verb& verb) {
  bool far = (verb.traits & kFar) != 0;
  bool near = (verb.traits & kNear) != 0;
  if (far || (!near && sampler.chance(0.3))) {
    const City& city = sampler.pick(cities());
    return {.fixed = {fmt::format("nach:1 {}:2", city.german), fmt::format("to:1 {}:2", city.english)}};
  }
  if (sampler.chance(0.15)) return {.fixed = sampler.pick(fixed_directions())};
  const PlaceNoun& place = sampler.pick(place_nouns());
  return {.german = place.german_to,
          .english = place.english_to,
          .the_case = place.german_to == "zu" ? Case::kDative : Case::kAccusative,
          .object = sample_location(sampler, place)};
}

PrepositionalPhrase sample_spot(Sampler& sampler, Case the_case) {
  struct Spot {
    std::string_view german, english;
  };
  constexpr auto kSpots = std::to_array<Spot>(
      {{"auf", "on"}, {"unter", "under"}, {"neben", "next to"}, {"hinter", "behind"}, {"vor", "in front of"}});
  constexpr std::array<double, 5> kWeights = {0.4, 0.2, 0.2, 0.1, 0.1};
  const Spot& spot = kSpots[sampler.weighted(kWeights)];
  NounPhrase furniture{.determiner = Determiner::kDefinite};
  furniture.noun = sampler.pick_where(nouns(), [](const Noun& n) { return is_kind(n, kFurniture); });
  if (sampler.chance(0.15)) add_adjective(sampler, furniture);
  return {.german = spot.german, .english = spot.english, .the_case = the_case, .object = furniture};
}

Expression sample_time(Sampler& sampler, Tense tense) {
  bool any_day = tense == Tense::kPresent || tense == Tense::kPast || tense == Tense::kFuture;
  if (tense == Tense::kSince) return time_since(sampler.number());
  if (tense == Tense::kPast && sampler.chance(0.15)) return time_ago(sampler.number());
  if (tense == Tense::kPast && sampler.chance(0.05)) return year(sampler.number());
  if (any_day && sampler.chance(0.22)) return date(sampler.number());
  if (any_day && sampler.chance(0.12)) {
    Expression clock = clock_time(sampler.number());
    return {"um:1 " + clock.german, "at:1 " + clock.english};
  }
  return sampler.pick_where(fixed_times(), [&](const Adverb& a) { return (a.use & bit(tense)) != 0; })->text;
}

}  // namespace heed::grammar
