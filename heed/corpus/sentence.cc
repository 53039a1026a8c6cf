#include "heed/corpus/sentence.h"

#include <array>
#include <utility>

#include "heed/corpus/clause_sampler.h"

namespace heed::grammar {
namespace {

Phrase finish(Phrase phrase, std::string_view mark, Meanings& meanings) {
  int final_meaning = meanings.fresh();
  phrase.german = finish_german(std::move(phrase.german), mark, final_meaning);
  phrase.english = finish_english(std::move(phrase.english), mark, final_meaning);
  return phrase;
}

void append(Phrase& phrase, const Phrase& tail) {
  append(phrase.german, tail.german);
  append(phrase.english, tail.english);
}

Phrase one_clause(const Clause& clause, Order order, std::string_view mark) {
  Meanings meanings;
  Phrase phrase = realise(clause, order, meanings);
  return finish(std::move(phrase), mark, meanings);
}

// first, conjunction, second; both commas where English has one too.
Phrase two_clauses(const Clause& first, const Expression& conjunction, const Clause& second, Order second_order,
                   bool english_comma) {
  Meanings meanings;
  Phrase phrase = realise(first, Order::kStatement, meanings);
  int comma = english_comma ? meanings.fresh() : 0;
  append(phrase.german, ",", comma);
  if (english_comma) append(phrase.english, ",", comma);
  append(phrase, expression(conjunction, meanings));
  append(phrase, realise(second, second_order, meanings));
  return finish(std::move(phrase), ".", meanings);
}

// Any clause for either half of a compound.
Clause sample_half(Sampler& sampler, const ClauseWishes& wishes) {
  if (!sampler.chance(0.2)) return sample_clause(sampler, wishes);
  while (true) {
    Clause clause = sample_copula(sampler, wishes);  // about somebody
    if (clause.subject.head != Head::kNoun || is_kind(*clause.subject.noun, kPerson | kAnimal)) return clause;
  }
}

Phrase sample_statement(Sampler& sampler) {
  Clause clause = sample_clause(sampler);
  vary_front(sampler, clause);
  return statement(clause);
}

Phrase sample_copula_sentence(Sampler& sampler) {
  Clause clause = sample_copula(sampler);
  if (clause.time && sampler.chance(0.4)) clause.front = Front::kTime;
  if (sampler.chance(0.12)) {
    clause.front = Front::kNothing;
    return question(clause);
  }
  return statement(clause);
}

Phrase sample_command(Sampler& sampler) {
  constexpr auto kAddressees = std::to_array<Agreement>({{2, false, Gender::kMasculine, Sex::kHe},
                                                         {2, true, Gender::kMasculine, Sex::kHe},
                                                         {3, true, Gender::kMasculine, Sex::kHe}});
  constexpr std::array<double, 3> kWeights = {0.5, 0.2, 0.3};
  Agreement addressee = kAddressees[sampler.weighted(kWeights)];
  bool formal = addressee.person == 3;
  while (true) {
    // To "Sie" the possessive would be "Ihr": a first person is drawn instead.
    Agreement drawn = formal ? Agreement{2, true, Gender::kMasculine, Sex::kHe} : addressee;
    NounPhrase hearer{.head = Head::kPronoun, .pronoun = drawn};
    Clause clause =
        sample_clause(sampler, {.subject = hearer, .wilful = true, .relatives = false, .adverbials = false});
    auto second_person = [](const std::optional<NounPhrase>& phrase) {
      return phrase && phrase->determiner == Determiner::kPossessive && phrase->owner.person != 1;
    };
    if (formal &&
        (second_person(clause.accusative) || second_person(clause.dative) || second_person(clause.prepositional)))
      continue;
    clause.subject.pronoun = addressee;
    clause.formal = formal;
    clause.please = !clause.negated && sampler.chance(0.5);
    return command(clause);
  }
}

// "Lass uns ins Kino gehen!"
Phrase sample_proposal(Sampler& sampler) {
  NounPhrase we{.head = Head::kPronoun, .pronoun = {1, true, Gender::kMasculine, Sex::kHe}};
  while (true) {
    Clause clause = sample_clause(sampler, {.subject = we, .wilful = true, .negation = false, .relatives = false});
    if ((clause.verb->traits & kReflexive) != 0 || clause.frequency) continue;
    Meanings meanings;
    Phrase phrase = expression({"lass:1 uns:2", "let:1 us:2"}, meanings);
    append(phrase, realise(clause, Order::kInfinitive, meanings));
    return finish(std::move(phrase), "!", meanings);
  }
}

Phrase sample_compound(Sampler& sampler) {
  struct Conjunction {
    std::string_view german, english;
    bool past, may_lead, gives_reason;
  };
  constexpr auto kConjunctions = std::to_array<Conjunction>({{"weil", "because", true, true, true},
                                                             {"obwohl", "although", true, true, true},
                                                             {"wenn", "if", false, true, false},
                                                             {"bevor", "before", true, true, false},
                                                             {"während", "while", true, true, false},
                                                             {"sobald", "as soon as", false, true, false},
                                                             {"bis", "until", true, false, false}});
  constexpr std::array<double, 7> kWeights = {0.32, 0.2, 0.2, 0.08, 0.08, 0.06, 0.06};
  const Conjunction& conjunction = kConjunctions[sampler.weighted(kWeights)];
  Period period = conjunction.past && sampler.chance(0.4) ? Period::kPast : Period::kPresent;
  Clause main = sample_half(sampler, {.period = period, .relatives = false, .adverbials = false});
  bool weather = sampler.chance(0.15);
  Clause sub = weather ? sample_weather(sampler, period)
                       : sample_half(sampler, {.subject = refer_to(sampler, main.subject),
                                               .period = period,
                                               .relatives = false,
                                               .adverbials = conjunction.gives_reason && sampler.chance(0.4)});
  bool sub_first = conjunction.may_lead && sampler.chance(0.35);
  if (sub_first && !weather) {
    std::swap(main, sub);
    main.front = Front::kSubject;
  }
  return compound(main, {std::string(conjunction.german), std::string(conjunction.english)}, sub, sub_first);
}

// "Ich glaube, dass ...", "Ich weiß nicht, ob ...", "Weißt du, wo ...?"
Phrase sample_content_clause(Sampler& sampler) {
  bool known = sampler.chance(0.35);  // wissen with ob, wo, wann, warum
  const Verb& verb = known ? grammar::verb("wissen", Frame::kClause)
                           : *sampler.pick_where(verbs(), [](const Verb& v) { return v.frame == Frame::kClause; });
  bool past = !known && sampler.chance(0.35);
  Clause main = sample_clause(
      sampler, verb,
      {.period = past ? Period::kPast : Period::kPresent, .negation = false, .relatives = false, .adverbials = false});
  main.tense = past ? Tense::kPast : Tense::kPresent;
  main.frequency.reset();
  ClauseWishes wishes{
      .subject = refer_to(sampler, main.subject), .relatives = false, .adverbials = sampler.chance(0.4)};
  wishes.period = past ? Period::kPast : Period::kAny;
  Clause sub = sample_half(sampler, wishes);
  Expression word{"dass", "that"};
  bool asks = known && sampler.chance(0.6);
  if (known) {
    bool negatable = main.subject.head == Head::kPronoun || main.subject.head == Head::kName;
    main.negated = negatable && sampler.chance(0.6);
    word = {"ob", "whether"};
    bool free = !sub.time && !sub.place && !sub.frequency && !sub.direction;
    if (asks && free) {
      constexpr auto kWords =
          std::to_array<std::array<const char*, 2>>({{"wann", "when"}, {"warum", "why"}, {"wo", "where"}});
      const auto& pair = kWords[sampler.number() % ((sub.verb->traits & kSomewhere) != 0 ? 3 : 2)];
      word = {pair[0], pair[1]};
    }
    if (main.subject.head == Head::kPronoun && main.subject.pronoun.person == 2 && !main.negated) {
      Meanings meanings;
      main.front = Front::kNothing;
      Phrase phrase = realise(main, Order::kQuestion, meanings);
      append(phrase.german, ",", 0);
      append(phrase, expression(word, meanings));
      append(phrase, realise(sub, Order::kVerbLast, meanings));
      return finish(std::move(phrase), "?", meanings);
    }
  }
  return two_clauses(main, word, sub, Order::kVerbLast, false);
}

// "Er versucht, das Fenster zu öffnen."; "Sie geht in die Stadt, um einen Hut zu kaufen."
Phrase sample_infinitive(Sampler& sampler, bool purpose) {
  Clause main;
  Period period = sampler.chance(0.5) ? Period::kPresent : Period::kPast;
  ClauseWishes wishes{.period = period, .negation = false, .relatives = false, .adverbials = false};
  do {
    const Verb& verb = *sampler.pick_where(verbs(), [&](const Verb& v) {
      return v.frame == (purpose ? Frame::kMotion : Frame::kInfinitive) && v.subject != 0 && (v.subject & kPerson) != 0;
    });
    main = sample_clause(sampler, verb, wishes);
  } while (agreement(main.subject).sex == Sex::kIt || main.subject.head == Head::kFixed);
  ClauseWishes inner{
      .subject = main.subject, .wilful = true, .negation = false, .relatives = false, .adverbials = false};
  Clause infinitive;
  do {
    infinitive = sample_clause(sampler, inner);
  } while (purpose && infinitive.verb->frame == Frame::kMotion);  // not "kommt, um zu gehen"
  Meanings meanings;
  Phrase phrase = realise(main, Order::kStatement, meanings);
  append(phrase.german, ",", 0);
  Phrase tail = realise(infinitive, Order::kZuInfinitive, meanings);
  if (purpose) append(phrase.german, "um", tail.english.front().meaning);
  append(phrase, tail);
  return finish(std::move(phrase), ".", meanings);
}

Phrase sample_coordination(Sampler& sampler) {
  constexpr auto kConjunctions =
      std::to_array<std::array<const char*, 2>>({{"und", "and"}, {"aber", "but"}, {"oder", "or"}});
  constexpr std::array<double, 3> kWeights = {0.45, 0.45, 0.1};
  const auto& conjunction = kConjunctions[sampler.weighted(kWeights)];
  Period period = sampler.chance(0.6) ? Period::kPresent : Period::kPast;
  Clause first = sample_half(sampler, {.period = period, .relatives = false, .adverbials = false});
  Clause second = sample_half(sampler, {.period = period, .relatives = false, .adverbials = false});
  return two_clauses(first, {conjunction[0], conjunction[1]}, second, Order::kStatement, true);
}

// The weather, with a time; the clock: "Es ist halb neun."
Phrase sample_impersonal(Sampler& sampler) {
  if (sampler.chance(0.25)) {
    Clause clause{.subject = {.head = Head::kFixed, .fixed = {"es", "it"}}, .verb = &copula()};
    clause.predicate = Predicate{.fixed = clock_time(sampler.number())};
    return statement(clause);
  }
  Clause clause = sample_weather(sampler, Period::kAny);
  if (sampler.chance(0.7)) clause.time = sample_time(sampler, clause.tense);
  vary_front(sampler, clause);
  return statement(clause);
}

}  // namespace

Phrase statement(const Clause& clause) { return one_clause(clause, Order::kStatement, "."); }

Phrase question(const Clause& clause) { return one_clause(clause, Order::kQuestion, "?"); }

Phrase command(const Clause& clause) { return one_clause(clause, Order::kImperative, "!"); }

Phrase compound(const Clause& main, const Expression& conjunction, const Clause& subordinate, bool sub_first) {
  if (!sub_first) return two_clauses(main, conjunction, subordinate, Order::kVerbLast, false);
  Meanings meanings;
  Phrase phrase = expression(conjunction, meanings);
  append(phrase, realise(subordinate, Order::kVerbLast, meanings));
  int comma = meanings.fresh();
  append(phrase.german, ",", comma);
  append(phrase.english, ",", comma);
  append(phrase, realise(main, Order::kAfterClause, meanings));
  return finish(std::move(phrase), ".", meanings);
}

Phrase sample_sentence(Sampler& sampler) {
  constexpr std::array<double, 12> kWeights = {0.40,  0.09, 0.07, 0.04,  0.06, 0.05,
                                               0.015, 0.11, 0.06, 0.045, 0.05, 0.02};
  switch (sampler.weighted(kWeights)) {
    case 0:
      return sample_statement(sampler);
    case 1:
      return sample_copula_sentence(sampler);
    case 2:
      return sample_yes_no_question(sampler);
    case 3:
      return sample_adverb_question(sampler);
    case 4:
      return sample_pronoun_question(sampler);
    case 5:
      return sample_command(sampler);
    case 6:
      return sample_proposal(sampler);
    case 7:
      return sample_compound(sampler);
    case 8:
      return sample_content_clause(sampler);
    case 9:
      return sample_infinitive(sampler, sampler.chance(0.5));
    case 10:
      return sampler.chance(0.5) ? sample_coordination(sampler) : statement(sample_existential(sampler));
    default:
      return sample_impersonal(sampler);
  }
}

}  // namespace heed::grammar
