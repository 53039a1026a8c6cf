// The realised constituents of one clause, before either language puts them in order; shared by the two halves of
// clause.h.
#pragma once

#include "heed/corpus/clause.h"

namespace heed::grammar {

// A constituent that the clause lacks is empty.
struct ClauseParts {
  Phrase subject, accusative, dative, prepositional, predicate, place, direction, time, frequency, manner;
  int finite = 0;       // the meaning of the German finite verb; the same as `lexical` where there is no auxiliary
  int lexical = 0;      // of the verb itself
  int negation = 0;     // of "nicht", "kein" and "not"; 0 where English has no "not"
  int gladly = 0;       // of "gern"
  int preposition = 0;  // of the verb's own preposition
  int please = 0;       // of "bitte"
};

// Whether the German verb form consists of an auxiliary or modal and the verb.
bool has_auxiliary(const Clause& clause);
// Whether the past is a Präteritum: sein and haben.
bool has_preterite(const Verb& verb);

Words german_clause(const Clause& clause, Order order, const ClauseParts& parts);
Words english_clause(const Clause& clause, Order order, const ClauseParts& parts);

}  // namespace heed::grammar
