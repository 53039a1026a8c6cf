// How words are inflected: German articles, adjectives, nouns and verbs; English plurals and verb forms.
//
//   article_ending(Gender::kMasculine, false, Case::kAccusative);         // "en": d-en, dies-en
//   conjugate(verb("anrufen", Frame::kTransitive).german, {3, false});    // "ruft"
#pragma once

#include <string>

#include "heed/corpus/lexicon.h"

namespace heed::grammar {

// What a finite verb and a possessive agree with. `sex` is the English pronoun's: a girl is "das Mädchen", but "she".
enum class Sex { kHe, kShe, kIt };
struct Agreement {
  int person = 3;
  bool plural = false;
  Gender gender = Gender::kMasculine;
  Sex sex = Sex::kHe;
};

// "er", "e", "es", "en", "em": the ending of dieser, jeder, welcher.
std::string_view article_ending(Gender gender, bool plural, Case the_case);
// der, die, das, dem, den: the article; also the relative pronoun, except that its dative plural is "denen".
std::string_view definite_article(Gender gender, bool plural, Case the_case);
// "", "e", "en", "em", "er": the ending of ein, kein, mein.
std::string_view indefinite_ending(Gender gender, bool plural, Case the_case);

enum class Declension { kWeak, kMixed, kStrong };  // after der; after ein; after nothing or a number
std::string_view adjective_ending(Declension declension, Gender gender, bool plural, Case the_case);

// The noun in its case; no genitive.
std::string german_noun(const Noun& noun, bool plural, Case the_case);
std::string english_noun(const Noun& noun, bool plural);
// The same behind an owner: "meine Frau" is "my wife".
std::string english_relation(const Noun& noun, bool plural);

// mein, dein, sein, ihr, unser, euer before an ending ("eur" before a vowel); my, your, his, her, its, our, their.
std::string german_possessive(const Agreement& owner, std::string_view ending);
std::string_view english_possessive(const Agreement& owner);

// ich, mich, mir ...; I, me ...; the reflexive is sich in the third person.
std::string_view german_pronoun(const Agreement& who, Case the_case);
std::string_view english_pronoun(const Agreement& who, bool subject);
std::string_view german_reflexive(const Agreement& who);

// Present indicative without the prefix; sein, haben and wissen included.
std::string conjugate(const GermanVerb& verb, const Agreement& subject);
// war, waren; hatte, hatten: only for sein and haben.
std::string preterite(const GermanVerb& verb, const Agreement& subject);
std::string conjugate_werden(const Agreement& subject);
std::string conjugate_haben(const Agreement& subject);
std::string conjugate_sein(const Agreement& subject);
std::string conjugate(const Modal& modal, const Agreement& subject, bool past);
// "ruf", "lies", "warte" (to du); "ruft", "lest" (to ihr).
std::string imperative(const GermanVerb& verb, bool plural);

// "calls", "goes", "has", "is"; "called"; without the particle.
std::string english_present(const EnglishVerb& verb, const Agreement& subject);
std::string english_past(const EnglishVerb& verb, const Agreement& subject);
std::string english_participle(const EnglishVerb& verb);

}  // namespace heed::grammar
