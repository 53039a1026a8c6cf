// The English half of a clause: auxiliaries and do-support, and the order of constituents.
#include "heed/corpus/clause_parts.h"

namespace heed::grammar {
namespace {

// The auxiliary that takes "not" and goes before the subject of a question (none: empty), and the rest of the verb.
struct VerbGroup {
  Words auxiliary;
  Words rest;
};

// Builds the finite verb of a lexical verb: with do-support where an auxiliary is needed.
void append_finite(VerbGroup& group, const EnglishVerb& verb, bool past, const Agreement& subject, bool needs_auxiliary,
                   int finite, int lexical) {
  std::string form = past ? english_past(verb, subject) : english_present(verb, subject);
  if (verb.base == "be") {
    append(group.auxiliary, form, finite, lexical);
  } else if (needs_auxiliary) {
    bool third = subject.person == 3 && !subject.plural;
    append(group.auxiliary, past ? "did" : third ? "does" : "do", finite);
    append(group.rest, verb.base, lexical);
  } else {
    append(group.rest, form, lexical, finite);
  }
}

// can, should; has to, wants to; would like to
void append_modal(VerbGroup& group, const Clause& clause, const ClauseParts& parts, const Agreement& subject,
                  bool needs_auxiliary) {
  const Modal& modal = *clause.modal;
  bool past = clause.tense == Tense::kPast;
  if (modal.lexical) {
    EnglishVerb verb{.base = modal.english, .past = modal.english_past};
    append_finite(group, verb, past, subject, needs_auxiliary, parts.finite, parts.finite);
  } else {
    append(group.auxiliary, past ? modal.english_past : modal.english, parts.finite);
  }
  append(group.rest, past ? modal.english_past_tail : modal.english_tail, parts.finite);
  append(group.rest, clause.verb->english.base, parts.lexical);
}

VerbGroup verb_group(const Clause& clause, const ClauseParts& parts, const Agreement& subject, bool needs_auxiliary) {
  const EnglishVerb& verb = clause.verb->english;
  bool third = subject.person == 3 && !subject.plural;
  VerbGroup group;
  if (clause.modal != nullptr) {
    append_modal(group, clause, parts, subject, needs_auxiliary);
    return group;
  }
  if (clause.gladly) {
    int finite = needs_auxiliary ? parts.finite : parts.gladly;  // of "does"; "likes" is "gern" alone
    append_finite(group, {.base = "like"}, false, subject, needs_auxiliary, finite, parts.gladly);
    append(group.rest, "to", parts.gladly);
    append(group.rest, verb.base, parts.lexical);
    return group;
  }
  switch (clause.tense) {
    case Tense::kPresent:
    case Tense::kPast:
      append_finite(group, verb, clause.tense == Tense::kPast, subject, needs_auxiliary, parts.finite, parts.lexical);
      break;
    case Tense::kPerfect:
    case Tense::kSince:
      append(group.auxiliary, third ? "has" : "have", parts.finite);
      append(group.rest, english_participle(verb), parts.lexical);
      break;
    case Tense::kFuture:
    case Tense::kFutureByTime:
      append(group.auxiliary, "will", parts.finite);
      append(group.rest, verb.base, parts.lexical);
      break;
  }
  return group;
}

// "not" after the auxiliary; "can" and "not" are one word.
void append_not(Words& words, int negation) {
  if (negation == 0) return;
  if (!words.empty() && words.back().text == "can") {
    words.back().text = "cannot";
    words.back().also = negation;
  } else {
    append(words, "not", negation);
  }
}

// Particle, preposition and objects: all that English puts close to its verb.
void append_objects(Words& words, const Clause& clause, const ClauseParts& parts, Front gap) {
  const EnglishVerb& verb = clause.verb->english;
  Words direct = gap == Front::kAccusative ? Words{} : parts.accusative.english;
  Words recipient = gap == Front::kDative ? Words{} : parts.dative.english;
  if (clause.verb->frame == Frame::kExperiencer) {
    direct = clause.subject.head == Head::kRelative || clause.subject.head == Head::kWhoWhat ? Words{}
                                                                                             : parts.subject.english;
    recipient.clear();
  }
  if (clause.verb->frame == Frame::kDative) direct.swap(recipient);
  const auto& object = clause.verb->frame == Frame::kDative ? clause.dative : clause.accusative;
  bool particle_last = object && object->head == Head::kPronoun;
  if (!particle_last) append(words, verb.particle, parts.lexical);
  append(words, verb.preposition, clause.prepositional ? parts.preposition : parts.lexical);
  bool ditransitive = clause.verb->frame == Frame::kDitransitive;
  bool behind = ditransitive && ((clause.verb->traits & kToRecipient) != 0 || gap == Front::kDative);
  if (!behind) append(words, recipient);
  append(words, direct);
  if (particle_last) append(words, verb.particle, parts.lexical);
  if (behind) {
    append(words, "to", 0);
    append(words, recipient);
  }
}

// What follows the verb, leaving out what stands at the front.
Words after_verb(const Clause& clause, const ClauseParts& parts, Front gap) {
  Words words;
  append_objects(words, clause, parts, gap);
  if (gap != Front::kPrepositional) append(words, parts.prepositional.english);
  append(words, parts.predicate.english);
  append(words, parts.manner.english);
  if (gap != Front::kDirection) append(words, parts.direction.english);
  if (gap != Front::kPlace) append(words, parts.place.english);
  if (gap != Front::kTime) append(words, parts.time.english);
  return words;
}

// Times and places are fronted as in German, objects only in questions and relative clauses.
Front english_front(const Clause& clause, Order order) {
  if (order == Order::kAfterClause) return Front::kSubject;
  bool adverbial = clause.front == Front::kTime || clause.front == Front::kPlace || clause.front == Front::kDirection;
  return adverbial || order != Order::kStatement ? clause.front : Front::kSubject;
}

Words fronted(Front front, const ClauseParts& parts) {
  switch (front) {
    case Front::kTime:
      return parts.time.english;
    case Front::kPlace:
      return parts.place.english;
    case Front::kDirection:
      return parts.direction.english;
    case Front::kAccusative:
      return parts.accusative.english;
    case Front::kDative:
      return parts.dative.english;
    case Front::kPrepositional:  // without the preposition, which stays behind at the verb
      return parts.prepositional.english;
    case Front::kSubject:
    case Front::kNothing:
      break;
  }
  return {};
}

Words bare_clause(const Clause& clause, Order order, const ClauseParts& parts) {
  Words words;
  if (order == Order::kImperative) {
    if (clause.please) append(words, "please", parts.please);
    if (parts.negation != 0) append(words, "do", parts.finite);
    append_not(words, parts.negation);
  } else if (order == Order::kZuInfinitive) {
    append(words, "to", parts.finite);
  }
  append(words, clause.verb->english.base, parts.lexical);
  append(words, after_verb(clause, parts, Front::kSubject));
  return words;
}

}  // namespace

Words english_clause(const Clause& clause, Order order, const ClauseParts& parts) {
  if (order == Order::kImperative || order == Order::kInfinitive || order == Order::kZuInfinitive) {
    return bare_clause(clause, order, parts);
  }
  bool experiencer = clause.verb->frame == Frame::kExperiencer;
  bool exists = clause.verb == &existential();
  // Who likes the soup is a dative in German; what there is, an accusative.
  Agreement subject_agreement = agreement(experiencer ? *clause.dative : exists ? *clause.accusative : clause.subject);
  bool questioned_object =
      experiencer && (clause.subject.head == Head::kWhoWhat || clause.subject.head == Head::kRelative);
  bool asked_subject = experiencer ? clause.front == Front::kDative : clause.front == Front::kSubject;
  bool inverted = order == Order::kQuestion && !asked_subject;
  VerbGroup group = verb_group(clause, parts, subject_agreement, inverted || parts.negation != 0);

  Front front = english_front(clause, order);
  Words words;
  if (questioned_object) append(words, parts.subject.english);
  if (!(experiencer && front == Front::kDative)) append(words, fronted(front, parts));
  if (inverted) append(words, group.auxiliary);
  append(words, experiencer ? parts.dative.english : parts.subject.english);
  if (!inverted) append(words, group.auxiliary);
  if (inverted) {
    if (parts.negation != 0) append(words, "not", parts.negation);
  } else {
    append_not(words, parts.negation);
  }
  append(words, parts.frequency.english);
  append(words, group.rest);
  append(words, after_verb(clause, parts, front));
  return words;
}

}  // namespace heed::grammar
