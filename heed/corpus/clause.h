// Clauses: a verb with what it takes, realised in both languages in any of the German word orders.
//
//   Clause clause{.subject = {.determiner = Determiner::kDefinite, .noun = &noun("Mann")},
//                 .verb = &verb("anrufen", Frame::kTransitive),
//                 .accusative = NounPhrase{.determiner = Determiner::kDefinite, .noun = &noun("Frau")}};
//   realise(clause, Order::kStatement, meanings);   // "der Mann ruft die Frau an" / "the man calls the woman"
//
// How the verbs are aligned, where the languages differ:
//   the separable prefix, the reflexive pronoun and a verb's own noun ("Klavier") belong to the verb's meaning;
//   "hat ... gelesen" - "read": both German words; "has read": hat-has, gelesen-read; "did ... read": hat-did,
//   gelesen-read; do-support in the present ("does ... read") goes with the German finite verb, and so does "will" of a
//   present "morgen"; "muss" goes with "has to", "möchte" with "would like to", "gern" with "likes to"; "um" and "zu"
//   with "to".
#pragma once

#include <optional>

#include "heed/corpus/noun_phrase.h"

namespace heed::grammar {

enum class Order {
  kStatement,    // verb second
  kQuestion,     // verb first; or behind the question word that `front` names
  kAfterClause,  // verb first in German only: behind a subordinate clause, "wenn es regnet, bleibt er hier"
  kVerbLast,     // subordinate; an introducing question or relative word is named by `front`
  kImperative,   // no subject words (but "Sie")
  kInfinitive,   // bare, after "lass uns"
  kZuInfinitive  // "zu lesen" / "to read"
};

// What stands first. English fronts it too, except the object of a statement: "Den Hund sieht der Mann" is "The man
// sees the dog".
enum class Front { kSubject, kNothing, kTime, kPlace, kDirection, kAccusative, kDative, kPrepositional };

// An adjective (a comparison where `compared` is set) or a noun phrase after "sein".
struct Predicate {
  const Adjective* adjective = nullptr;
  bool equal = false;  // "so groß wie" instead of "größer als"
  std::optional<NounPhrase> compared = std::nullopt;
  std::optional<NounPhrase> noun_phrase = std::nullopt;
  Expression fixed = {};  // "zwölf Jahre alt"
};

struct Clause {
  NounPhrase subject = {};
  const Verb* verb = nullptr;
  Tense tense = Tense::kPresent;
  const Modal* modal = nullptr;  // with kPresent or kPast
  bool negated = false;          // by "nicht"; "kein" is a determiner
  bool gladly = false;           // "gern": present only
  std::optional<NounPhrase> accusative = std::nullopt;
  std::optional<NounPhrase> dative = std::nullopt;
  std::optional<NounPhrase> prepositional = std::nullopt;  // what the verb's own preposition governs
  std::optional<Predicate> predicate = std::nullopt;
  std::optional<PrepositionalPhrase> place = std::nullopt;
  std::optional<PrepositionalPhrase> direction = std::nullopt;
  std::optional<Expression> time = std::nullopt;  // or another adverbial that is asked for: "warum", "wie alt"
  std::optional<Expression> frequency = std::nullopt;
  std::optional<Expression> manner = std::nullopt;
  Front front = Front::kSubject;
  bool please = false;  // of kImperative
  bool formal = false;  // of kImperative: "Öffnen Sie"; the subject is then the third person plural
};

// Lower case at the front, no final mark.
Phrase realise(const Clause& clause, Order order, Meanings& meanings);

}  // namespace heed::grammar
