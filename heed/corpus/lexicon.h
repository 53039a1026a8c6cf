// The words that the grammar knows, as tables: what each is in both languages, how it is inflected, what it may stand
// with.
//
//   const Noun& dog = noun("Hund");          // m, plural "Hunde", "dog", an animal
//   const Verb& call = verb("anrufen");      // "ruft ... an", "angerufen"; "call"; a person calls a person
//
// Kinds keep nonsense out: a verb lists the kinds of its subject and object, an adjective the kinds it may describe,
// and a noun fits where it has one of them. The spelling of English is British.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "heed/corpus/word.h"

namespace heed::grammar {

enum class Gender { kMasculine, kFeminine, kNeuter };
enum class Case { kNominative, kAccusative, kDative };

using Kinds = std::uint32_t;
enum Kind : Kinds {
  kPerson = 1u << 0,
  kAnimal = 1u << 1,
  kFood = 1u << 2,
  kDish = 1u << 3,  // food that is cooked
  kFruit = 1u << 4,
  kBaked = 1u << 5,
  kDrink = 1u << 6,
  kReadable = 1u << 7,
  kWritten = 1u << 8,  // what an ordinary person writes and sends
  kClothing = 1u << 9,
  kVehicle = 1u << 10,
  kDevice = 1u << 11,
  kOpenable = 1u << 12,
  kContainer = 1u << 13,
  kPortable = 1u << 14,
  kFurniture = 1u << 15,
  kRoom = 1u << 16,
  kBuilding = 1u << 17,
  kOutdoors = 1u << 18,
  kStory = 1u << 19,  // what is told
  kShow = 1u << 20,
  kTask = 1u << 21,  // what is explained and understood
  kLanguage = 1u << 22,
  kPlant = 1u << 23,
  kMoney = 1u << 24,
  kProfession = 1u << 25,
  kMass = 1u << 30,  // not counted: no plural, no "a"
  kWeak = 1u << 31,  // weak declension: every case but the nominative singular is spelled as the plural
};
inline constexpr Kinds kAlive = kPerson | kAnimal;
inline constexpr Kinds kThing = kReadable | kClothing | kPortable | kDevice | kVehicle | kFurniture;

struct Noun {
  std::string_view german;
  std::string_view german_plural;
  Gender gender;
  std::string_view english;
  Kinds kinds;
  std::string_view english_plural = "";  // where it is not regular
};

// Where things are and where people go: "im Park" / "in the park", "in den Park" / "to the park".
struct PlaceNoun {
  std::string_view noun;
  std::string_view german_at, english_at;  // with the dative
  std::string_view german_to, english_to;  // "in", "an", "auf" with the accusative, "zu" with the dative
  bool home = false;                       // one may live there
};

struct Adjective {
  std::string_view german;
  std::string_view stem;  // before an ending: "teur" of "teuer"
  std::string_view english;
  Kinds kinds;
  // Degrees; empty where none is used. The German superlative is a stem: "größt".
  std::string_view german_comparative = "", german_superlative = "";
  std::string_view english_comparative = "", english_superlative = "";
};

// What a verb needs beside its subject.
enum class Frame {
  kIntransitive,
  kTransitive,
  kDative,
  kDitransitive,   // dative person, accusative thing
  kPrepositional,  // a fixed preposition
  kMotion,         // where to
  kPosition,       // where
  kPlacing,        // accusative thing, where to
  kExperiencer,    // "das Buch gefällt mir": the German subject is the English object, the dative the English subject
  kClause,         // dass, ob
  kInfinitive,     // zu
};

enum VerbTraits : std::uint32_t {
  kSein = 1u << 0,  // perfect with sein
  kReflexive = 1u << 1,
  kSomewhere = 1u << 2,    // may take a place
  kSpeed = 1u << 3,        // schnell, langsam
  kSound = 1u << 4,        // laut, leise
  kQuality = 1u << 5,      // gut, schlecht
  kWilful = 1u << 6,       // may be ordered, wanted, allowed
  kLasting = 1u << 7,      // seit drei Jahren, zwei Stunden lang
  kToRecipient = 1u << 8,  // English puts the recipient behind: "explains the plan to him"
  kFar = 1u << 9,          // goes to another city
  kHome = 1u << 10,        // is done where one lives
  kNear = 1u << 11,        // goes to no other city
  kSteady = 1u << 12,      // is not said to happen often, or at a time
  kNoPast = 1u << 13,      // its participle is that of another verb: "hat uns gehört"
};

struct GermanVerb {
  std::string_view infinitive;  // without the prefix
  std::string_view participle;
  std::string_view du = "", er = "";  // where the vowel changes
  std::string_view prefix = "";       // separable
  std::string_view imperative = "";   // where it changes its vowel too: "lies"
};

struct EnglishVerb {
  std::string_view base;
  std::string_view past = "", participle = "";  // empty: regular; an empty participle is the past
  std::string_view particle = "";               // moves behind a pronoun: "picks up the child", "picks him up"
  std::string_view preposition = "";            // stays before its object: "looks for the child"
};

struct Verb {
  GermanVerb german;
  EnglishVerb english;
  Frame frame;
  Kinds subject;
  Kinds object;
  std::uint32_t traits;
  // kPrepositional: the German preposition, its case; other frames: a noun that belongs to the verb ("Klavier
  // spielen").
  std::string_view preposition = "";
  Case preposition_case = Case::kAccusative;
  std::string_view complement = "";
  std::string_view negated_complement = "";  // "keinen Hunger"; where empty, "nicht" goes before the complement
};

struct Modal {
  std::string_view infinitive;
  std::string_view ich, du, ihr;  // er is as ich, wir and sie as the infinitive
  std::string_view past_stem;     // "konnt"; empty: no past
  // English present and past, finite form first. Where lexical, the finite form is a verb that takes do-support.
  std::string_view english, english_past;
  std::string_view english_tail, english_past_tail;  // "like to", "to"
  bool lexical;
};

struct Name {
  std::string_view text;
  Gender gender;
  bool genitive;  // whether it takes a plain s: "Annas"
};

struct City {
  std::string_view german, english;
};

// When a clause happens; a time phrase lists the tenses that it may stand with.
enum class Tense { kPresent, kPast, kPerfect, kFuture, kFutureByTime, kSince };
constexpr std::uint32_t bit(Tense tense) { return 1u << static_cast<int>(tense); }

struct Adverb {
  Expression text;
  std::uint32_t use;  // times and frequencies: bits of Tense; manners: bits of VerbTraits
};

std::span<const Noun> nouns();
std::span<const PlaceNoun> place_nouns();
std::span<const Adjective> adjectives();
std::span<const Verb> verbs();
std::span<const Modal> modals();
std::span<const Name> names();
std::span<const City> cities();
std::span<const Adverb> fixed_times();
std::span<const Adverb> frequencies();
std::span<const Adverb> manners();
std::span<const Expression> fixed_places();      // "zu Hause"
std::span<const Expression> fixed_directions();  // "nach Hause"

// "sein" as copula, and "geben" of "es gibt": verbs that the clause treats on their own.
const Verb& copula();
const Verb& existential();

// Entries by their German word; a verb by its infinitive with prefix and, where several have it, the first of its
// frame. Throw heed::Error naming the word where there is none.
const Noun& noun(std::string_view german);
const Adjective& adjective(std::string_view german);
const Verb& verb(std::string_view infinitive, Frame frame);
const Modal& modal(std::string_view infinitive);

// 0 to 31 in words.
std::string_view german_number(int value);
std::string_view english_number(int value);

// Times that are put together from parts: the clock, weekdays, dates, years, "vor drei Tagen", "seit drei Jahren",
// "drei Stunden lang". choice is any number; the result is a function of it.
Expression clock_time(std::uint64_t choice);  // "halb neun" / "half past eight"; digits 2 to 4 are taken
Expression date(std::uint64_t choice);        // "am dritten Mai" / "on the third of May"
Expression time_ago(std::uint64_t choice);    // "vor drei Tagen" / "three days ago"
Expression time_since(std::uint64_t choice);  // "seit drei Jahren" / "for three years"
Expression duration(std::uint64_t choice);    // "drei Stunden lang" / "for three hours"
Expression year(std::uint64_t choice);        // "im Jahr 1998" / "in the year 1998"

}  // namespace heed::grammar
