#include "heed/corpus/clause.h"

#include "heed/corpus/clause_parts.h"

namespace heed::grammar {
namespace {

bool is_negative(const std::optional<NounPhrase>& phrase) {
  return phrase && phrase->head == Head::kNoun && phrase->determiner == Determiner::kNo;
}

bool is_negative(const Clause& clause) {
  if (clause.verb == &existential()) return false;  // "there is no park"
  return clause.negated || is_negative(clause.accusative) || is_negative(clause.dative) ||
         is_negative(clause.prepositional) || (clause.predicate && is_negative(clause.predicate->noun_phrase));
}

Phrase realise_comparison(const Predicate& predicate, Meanings& meanings) {
  const Adjective& adjective = *predicate.adjective;
  int degree = meanings.fresh();
  int than = meanings.fresh();
  Phrase phrase;
  if (predicate.equal) {
    int as = meanings.fresh();
    append(phrase.german, "so", as);
    append(phrase.german, adjective.german, degree);
    append(phrase.german, "wie", than);
    append(phrase.english, "as", as);
    append(phrase.english, adjective.english, degree);
    append(phrase.english, "as", than);
  } else {
    append(phrase.german, adjective.german_comparative, degree);
    append(phrase.german, "als", than);
    append(phrase.english, adjective.english_comparative, degree);
    append(phrase.english, "than", than);
  }
  Phrase compared = realise(*predicate.compared, Case::kNominative, Role::kObject, meanings);
  append(phrase.german, compared.german);
  append(phrase.english, compared.english);
  return phrase;
}

Phrase realise_predicate(const Predicate& predicate, Meanings& meanings) {
  if (predicate.compared) return realise_comparison(predicate, meanings);
  if (predicate.noun_phrase) return realise(*predicate.noun_phrase, Case::kNominative, Role::kPredicate, meanings);
  if (predicate.adjective == nullptr) return expression(predicate.fixed, meanings);
  return expression({std::string(predicate.adjective->german), std::string(predicate.adjective->english)}, meanings);
}

// The verb's own preposition with what it governs; English keeps its preposition beside the verb.
Phrase realise_prepositional(const Clause& clause, int preposition, Meanings& meanings) {
  const Verb& verb = *clause.verb;
  const NounPhrase& object = *clause.prepositional;
  if (object.head == Head::kWhoWhat && object.noun != nullptr) {  // "worauf", "womit"
    bool vowel = std::string_view("aeiouü").find(verb.preposition.front()) != std::string_view::npos;
    int what = meanings.fresh();
    Phrase phrase;
    append(phrase.german, (vowel ? "wor" : "wo") + std::string(verb.preposition), what, preposition);
    append(phrase.english, "what", what);
    return phrase;
  }
  PrepositionalPhrase phrase{.german = verb.preposition, .the_case = verb.preposition_case, .object = object};
  return realise(phrase, meanings, preposition);
}

ClauseParts realise_parts(const Clause& clause, Order order, Meanings& meanings) {
  ClauseParts parts;
  bool experiencer = clause.verb->frame == Frame::kExperiencer;
  bool exists = clause.verb == &existential();
  parts.lexical = meanings.fresh();
  // The finite meaning of an infinitive is that of "zu" and "to".
  bool apart = has_auxiliary(clause) || order == Order::kZuInfinitive;
  parts.finite = apart ? meanings.fresh() : parts.lexical;
  if (clause.please) parts.please = meanings.fresh();
  if (clause.gladly) parts.gladly = meanings.fresh();
  parts.subject = realise(clause.subject, Case::kNominative, experiencer ? Role::kObject : Role::kSubject, meanings);
  if (clause.dative) {
    parts.dative = realise(*clause.dative, Case::kDative, experiencer ? Role::kSubject : Role::kObject, meanings);
  }
  if (clause.accusative) {
    parts.accusative =
        realise(*clause.accusative, Case::kAccusative, exists ? Role::kSubject : Role::kObject, meanings);
  }
  if (clause.prepositional) {
    parts.preposition = clause.verb->english.preposition.empty() ? parts.lexical : meanings.fresh();
    parts.prepositional = realise_prepositional(clause, parts.preposition, meanings);
  }
  if (clause.predicate) parts.predicate = realise_predicate(*clause.predicate, meanings);
  if (clause.place) parts.place = realise(*clause.place, meanings);
  if (clause.direction) parts.direction = realise(*clause.direction, meanings);
  if (clause.time) parts.time = expression(*clause.time, meanings);
  if (clause.frequency) parts.frequency = expression(*clause.frequency, meanings);
  if (clause.manner) parts.manner = expression(*clause.manner, meanings);
  if (is_negative(clause)) parts.negation = meanings.negation();
  return parts;
}

}  // namespace

bool has_preterite(const Verb& verb) { return verb.german.infinitive == "sein" || verb.german.infinitive == "haben"; }

bool has_auxiliary(const Clause& clause) {
  if (clause.modal != nullptr || clause.tense == Tense::kFuture || clause.tense == Tense::kPerfect) return true;
  return clause.tense == Tense::kPast && !has_preterite(*clause.verb);
}

Phrase realise(const Clause& clause, Order order, Meanings& meanings) {
  int outer = meanings.enter_clause();
  ClauseParts parts = realise_parts(clause, order, meanings);
  Phrase phrase{german_clause(clause, order, parts), english_clause(clause, order, parts)};
  meanings.leave_clause(outer);
  return phrase;
}

}  // namespace heed::grammar
