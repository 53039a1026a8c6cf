// The German half of a clause: verb forms, and the order of the middle field.
#include "heed/corpus/clause_parts.h"

namespace heed::grammar {
namespace {

// "anrufen", "anzurufen"
std::string infinitive(const GermanVerb& verb) { return std::string(verb.prefix) + std::string(verb.infinitive); }

// The finite verb, and what closes the clause: prefix, participle or infinitive.
struct VerbForms {
  Words finite;
  Words closing;
};

VerbForms verb_forms(const Clause& clause, const ClauseParts& parts) {
  const Verb& verb = *clause.verb;
  Agreement subject = agreement(clause.subject);
  VerbForms forms;
  if (clause.modal != nullptr) {
    append(forms.finite, conjugate(*clause.modal, subject, clause.tense == Tense::kPast), parts.finite);
    append(forms.closing, infinitive(verb.german), parts.lexical);
    return forms;
  }
  switch (clause.tense) {
    case Tense::kFuture:
      append(forms.finite, conjugate_werden(subject), parts.finite);
      append(forms.closing, infinitive(verb.german), parts.lexical);
      break;
    case Tense::kPast:
    case Tense::kPerfect: {
      if (!has_auxiliary(clause)) {
        append(forms.finite, preterite(verb.german, subject), parts.finite);
        break;
      }
      bool sein = (verb.traits & kSein) != 0;
      append(forms.finite, sein ? conjugate_sein(subject) : conjugate_haben(subject), parts.finite);
      append(forms.closing, verb.german.participle, parts.lexical);
      break;
    }
    case Tense::kPresent:
    case Tense::kFutureByTime:
    case Tense::kSince:
      append(forms.finite, conjugate(verb.german, subject), parts.finite);
      append(forms.closing, verb.german.prefix, parts.lexical);
      break;
  }
  return forms;
}

// "anruft", "angerufen hat", "anrufen kann"
Words verb_last(const Clause& clause, const ClauseParts& parts) {
  VerbForms forms = verb_forms(clause, parts);
  if (!has_auxiliary(clause)) {
    forms.finite.front().text.insert(0, clause.tense == Tense::kPast ? "" : clause.verb->german.prefix);
    return forms.finite;
  }
  append(forms.closing, forms.finite);
  return forms.closing;
}

Words zu_infinitive(const Clause& clause, const ClauseParts& parts) {
  const GermanVerb& verb = clause.verb->german;
  Words words;
  if (!verb.prefix.empty()) {
    append(words, std::string(verb.prefix) + "zu" + std::string(verb.infinitive), parts.lexical, parts.finite);
  } else {
    append(words, "zu", parts.finite);
    append(words, verb.infinitive, parts.lexical);
  }
  return words;
}

bool is_pronoun(const std::optional<NounPhrase>& phrase) { return phrase && phrase->head == Head::kPronoun; }

// Appends dative and accusative nouns that are definite, or those that are not.
void append_objects(Words& words, const Clause& clause, const ClauseParts& parts, bool definite) {
  if (clause.front != Front::kDative && clause.dative && !is_pronoun(clause.dative) &&
      is_definite(*clause.dative) == definite && clause.verb->frame != Frame::kExperiencer) {
    append(words, parts.dative.german);
  }
  if (clause.front != Front::kAccusative && clause.accusative && !is_pronoun(clause.accusative) &&
      is_definite(*clause.accusative) == definite) {
    append(words, parts.accusative.german);
  }
}

// Subject and pronouns, which come first in the middle field. with_subject: unless it stands before the verb or is
// unspoken.
void append_pronouns(Words& words, const Clause& clause, const ClauseParts& parts, bool with_subject) {
  bool experiencer = clause.verb->frame == Frame::kExperiencer;
  // "Gefällt dir das Buch?", but "Fehle ich dir?" and "die Stadt, die mir gefällt".
  bool dative_first = experiencer && with_subject && clause.subject.head != Head::kPronoun &&
                      clause.subject.head != Head::kRelative && clause.front != Front::kDative;
  if (dative_first) append(words, parts.dative.german);
  // "Freut sich der Bäcker?", but "Freut er sich?"
  bool reflexive = (clause.verb->traits & kReflexive) != 0;
  bool reflexive_first =
      reflexive && with_subject && (clause.subject.head == Head::kNoun || clause.subject.head == Head::kName);
  if (reflexive_first) append(words, german_reflexive(agreement(clause.subject)), parts.lexical);
  if (with_subject) append(words, parts.subject.german);
  if (reflexive && !reflexive_first) append(words, german_reflexive(agreement(clause.subject)), parts.lexical);
  if (is_pronoun(clause.accusative) && clause.front != Front::kAccusative) append(words, parts.accusative.german);
  bool dative_here = experiencer ? !dative_first : is_pronoun(clause.dative);
  if (dative_here && clause.dative && clause.front != Front::kDative) append(words, parts.dative.german);
}

// Everything between the two places of the verb.
Words middle_field(const Clause& clause, const ClauseParts& parts, bool with_subject) {
  Words words;
  const Verb& verb = *clause.verb;
  append_pronouns(words, clause, parts, with_subject);
  if (clause.please) append(words, "bitte", parts.please);
  if (clause.front != Front::kTime) append(words, parts.time.german);
  append_objects(words, clause, parts, true);
  bool by_complement = clause.negated && !verb.negated_complement.empty();
  if (clause.negated && !by_complement) append(words, "nicht", parts.negation);
  append(words, parts.frequency.german);
  if (clause.gladly) append(words, "gern", parts.gladly);
  if (clause.front != Front::kPlace) append(words, parts.place.german);
  append(words, parts.manner.german);
  append_objects(words, clause, parts, false);
  if (clause.front != Front::kPrepositional && !by_complement && verb.complement.empty()) {
    append(words, parts.prepositional.german);
  }
  if (clause.front != Front::kDirection) append(words, parts.direction.german);
  append(words, parts.predicate.german);
  if (by_complement) {  // "keinen Hunger"
    std::size_t blank = verb.negated_complement.find(' ');
    append(words, verb.negated_complement.substr(0, blank), parts.negation);
    append(words, verb.negated_complement.substr(blank), parts.lexical);
  } else {
    append(words, verb.complement, parts.lexical);
  }
  // "hat Angst vor dem Hund"
  if (clause.front != Front::kPrepositional && !verb.complement.empty()) append(words, parts.prepositional.german);
  return words;
}

// The constituent before the verb, in a statement, or before everything, in a subordinate clause.
Words first_constituent(const Clause& clause, const ClauseParts& parts) {
  switch (clause.front) {
    case Front::kSubject:
      return parts.subject.german;
    case Front::kTime:
      return parts.time.german;
    case Front::kPlace:
      return parts.place.german;
    case Front::kDirection:
      return parts.direction.german;
    case Front::kAccusative:
      return parts.accusative.german;
    case Front::kDative:
      return parts.dative.german;
    case Front::kPrepositional:
      return parts.prepositional.german;
    case Front::kNothing:
      break;
  }
  return {};
}

Words imperative_clause(const Clause& clause, const ClauseParts& parts) {
  const GermanVerb& verb = clause.verb->german;
  Words words;
  if (clause.formal) {
    append(words, verb.infinitive, parts.finite);
    append(words, "Sie", 0);
  } else {
    append(words, imperative(verb, clause.subject.pronoun.plural), parts.finite);
  }
  append(words, middle_field(clause, parts, false));
  append(words, verb.prefix, parts.lexical);
  return words;
}

}  // namespace

Words german_clause(const Clause& clause, Order order, const ClauseParts& parts) {
  Words words;
  bool subject_first = clause.front == Front::kSubject;
  switch (order) {
    case Order::kStatement:
    case Order::kQuestion: {
      VerbForms forms = verb_forms(clause, parts);
      words = first_constituent(clause, parts);
      append(words, forms.finite);
      append(words, middle_field(clause, parts, !subject_first));
      append(words, forms.closing);
      return words;
    }
    case Order::kAfterClause: {
      VerbForms forms = verb_forms(clause, parts);
      words = forms.finite;
      append(words, middle_field(clause, parts, true));
      append(words, forms.closing);
      return words;
    }
    case Order::kVerbLast:
      if (!subject_first) words = first_constituent(clause, parts);
      append(words, middle_field(clause, parts, true));
      append(words, verb_last(clause, parts));
      return words;
    case Order::kImperative:
      return imperative_clause(clause, parts);
    case Order::kInfinitive:
      words = middle_field(clause, parts, false);
      append(words, infinitive(clause.verb->german), parts.lexical);
      return words;
    case Order::kZuInfinitive:
      words = middle_field(clause, parts, false);
      append(words, zu_infinitive(clause, parts));
      return words;
  }
  return words;
}

}  // namespace heed::grammar
