// Noun phrases: what is chosen about them, and how they read in a case.
//
//   NounPhrase dog{.determiner = Determiner::kIndefinite, .noun = &noun("Hund"), .adjective = &adjective("groß")};
//   realise(dog, Case::kAccusative, Role::kObject, meanings);       // "einen großen Hund" / "a big dog"
#pragma once

#include <initializer_list>
#include <memory>
#include <vector>

#include "heed/corpus/lexicon.h"
#include "heed/corpus/morphology.h"
#include "heed/corpus/word.h"

namespace heed::grammar {

struct Clause;

enum class Determiner {
  kNone,  // bare plural, mass noun, or "ist Lehrer"
  kDefinite,
  kIndefinite,
  kNo,
  kPossessive,
  kOwnedByName,  // "Annas"
  kThis,
  kEvery,
  kWhich,
  kHowMany,
  kNumber,
  kMany,
  kSome,
  kAll,
};

enum class Degree { kPositive, kSuperlative };
enum class Head { kNoun, kPronoun, kName, kRelative, kWhoWhat, kFixed };
enum class Role { kSubject, kObject, kPredicate };  // the English role

struct PrepositionalPhrase;

struct NounPhrase {
  Head head = Head::kNoun;
  Determiner determiner = Determiner::kNone;
  const Noun* noun = nullptr;  // of kNoun; of kRelative: the antecedent; of kWhoWhat: null means "wer", else "was"
  const Adjective* adjective = nullptr;
  Degree degree = Degree::kPositive;
  bool plural = false;
  int number = 0;              // of kNumber
  Agreement owner = {};        // of kPossessive
  const Name* name = nullptr;  // of kName; the owner of kOwnedByName
  Agreement pronoun = {};      // of kPronoun
  Expression fixed = {};       // of kFixed: "jemand", "etwas"; the third person singular
  std::shared_ptr<const PrepositionalPhrase> modifier = nullptr;  // "auf dem Tisch"
  std::shared_ptr<const Clause> relative = nullptr;
  std::shared_ptr<const NounPhrase> joined = nullptr;  // "und ..."
};

// A preposition with its noun phrase, or a fixed expression ("zu Hause", "in Berlin").
struct PrepositionalPhrase {
  Expression fixed = {};
  std::string_view german = "", english = "";  // an empty english: the German one is aligned with `meaning`
  Case the_case = Case::kDative;
  NounPhrase object = {};
};

// The noun phrase's person, number and gender, for its verb and its possessives.
Agreement agreement(const NounPhrase& phrase);

// The article "a", "an" is chosen later, by finish_english. A relative clause ends with a comma that finish_german may
// drop.
Phrase realise(const NounPhrase& phrase, Case the_case, Role role, Meanings& meanings);

// As above with contractions ("im", "zum", "ins"), which a relative clause forbids. preposition_meaning 0: a fresh one,
// shared by both prepositions.
Phrase realise(const PrepositionalPhrase& phrase, Meanings& meanings, int preposition_meaning = 0);

// "im" for "in", "dem"; empty where the two do not contract.
std::string_view contraction(std::string_view preposition, std::string_view article);

// The kinds that a verb sees in the phrase: those of its noun (kMass, kWeak and kProfession, which say nothing to a
// verb, left out); of a person for pronouns and names.
Kinds kinds_of(const NounPhrase& phrase);

// Whether the phrase is a noun with one of these determiners.
bool has_determiner(const NounPhrase& phrase, std::initializer_list<Determiner> determiners);

// Whether German treats it as known, and puts it before "nicht" and adverbs.
bool is_definite(const NounPhrase& phrase);

}  // namespace heed::grammar
