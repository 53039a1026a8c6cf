#include "heed/corpus/morphology.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "heed/base/error.h"
#include "heed/base/utf8.h"

namespace heed::grammar {
namespace {

std::string present(std::string_view infinitive, Frame frame) {
  std::string forms;
  for (bool plural : {false, true}) {
    for (int person : {1, 2, 3}) {
      forms += (forms.empty() ? "" : " ") + conjugate(verb(infinitive, frame).german, {person, plural});
    }
  }
  return forms;
}

TEST(Morphology, ConjugatesThePresent) {
  EXPECT_EQ(present("lachen", Frame::kIntransitive), "lache lachst lacht lachen lacht lachen");
  EXPECT_EQ(present("arbeiten", Frame::kIntransitive), "arbeite arbeitest arbeitet arbeiten arbeitet arbeiten");
  EXPECT_EQ(present("tanzen", Frame::kIntransitive), "tanze tanzt tanzt tanzen tanzt tanzen");
  EXPECT_EQ(present("öffnen", Frame::kTransitive), "öffne öffnest öffnet öffnen öffnet öffnen");
  EXPECT_EQ(present("begegnen", Frame::kDative), "begegne begegnest begegnet begegnen begegnet begegnen");
  EXPECT_EQ(present("füttern", Frame::kTransitive), "füttere fütterst füttert füttern füttert füttern");
  EXPECT_EQ(present("lesen", Frame::kTransitive), "lese liest liest lesen lest lesen");
  EXPECT_EQ(present("einladen", Frame::kTransitive), "lade lädst lädt laden ladet laden");
  EXPECT_EQ(present("wissen", Frame::kClause), "weiß weißt weiß wissen wisst wissen");
  EXPECT_EQ(present("haben", Frame::kTransitive), "habe hast hat haben habt haben");
}

TEST(Morphology, GivesCommands) {
  EXPECT_EQ(imperative(verb("anrufen", Frame::kTransitive).german, false), "ruf");
  EXPECT_EQ(imperative(verb("lesen", Frame::kTransitive).german, false), "lies");
  EXPECT_EQ(imperative(verb("warten", Frame::kPrepositional).german, false), "warte");
  EXPECT_EQ(imperative(verb("reparieren", Frame::kTransitive).german, false), "repariere");
  EXPECT_EQ(imperative(verb("geben", Frame::kDitransitive).german, true), "gebt");
  EXPECT_EQ(imperative(verb("waschen", Frame::kTransitive).german, false), "wasch");
}

TEST(Morphology, DeclinesNouns) {
  EXPECT_EQ(german_noun(noun("Kind"), true, Case::kDative), "Kindern");
  EXPECT_EQ(german_noun(noun("Auto"), true, Case::kDative), "Autos");
  EXPECT_EQ(german_noun(noun("Frau"), true, Case::kDative), "Frauen");
  EXPECT_EQ(german_noun(noun("Löwe"), false, Case::kAccusative), "Löwen");
  EXPECT_EQ(german_noun(noun("Löwe"), false, Case::kNominative), "Löwe");
}

TEST(Morphology, InflectsEnglish) {
  constexpr Agreement kHe = {3, false, Gender::kMasculine, Sex::kHe};
  EXPECT_EQ(english_noun(noun("Bäckerei"), true), "bakeries");
  EXPECT_EQ(english_noun(noun("Junge"), true), "boys");
  EXPECT_EQ(english_noun(noun("Bus"), true), "buses");
  EXPECT_EQ(english_noun(noun("Kirche"), true), "churches");
  EXPECT_EQ(english_noun(noun("Verkäuferin"), true), "shop assistants");
  EXPECT_EQ(english_present({.base = "carry"}, kHe), "carries");
  EXPECT_EQ(english_present({.base = "play"}, kHe), "plays");
  EXPECT_EQ(english_present({.base = "go"}, kHe), "goes");
  EXPECT_EQ(english_present({.base = "have"}, kHe), "has");
  EXPECT_EQ(english_present({.base = "be"}, {1, false}), "am");
  EXPECT_EQ(english_past({.base = "be"}, {2, false}), "were");
  EXPECT_EQ(english_past({.base = "tidy"}, kHe), "tidied");
  EXPECT_EQ(english_past({.base = "stay"}, kHe), "stayed");
  EXPECT_EQ(english_past({.base = "live"}, kHe), "lived");
}

TEST(Lexicon, IsLargeAndWithoutRepetitions) {
  EXPECT_GE(nouns().size(), 150u);
  EXPECT_GE(verbs().size(), 100u);
  EXPECT_GE(adjectives().size(), 70u);
  std::set<std::string_view> seen;
  for (const Noun& entry : nouns()) EXPECT_TRUE(seen.insert(entry.german).second) << entry.german;
  seen.clear();
  for (const Adjective& entry : adjectives()) EXPECT_TRUE(seen.insert(entry.german).second) << entry.german;
}

TEST(Lexicon, IsValidTextAndComplete) {
  for (const Noun& entry : nouns()) {
    EXPECT_TRUE(valid_utf8(entry.german) && valid_utf8(entry.german_plural));
    bool mass = (entry.kinds & kMass) != 0;
    EXPECT_EQ(entry.german_plural.empty(), mass) << entry.german;
    char first = entry.german.front();
    EXPECT_TRUE((first >= 'A' && first <= 'Z') || first == '\xC3') << entry.german;
  }
  for (const PlaceNoun& place : place_nouns()) EXPECT_NO_THROW(noun(place.noun));
  for (const Verb& entry : verbs()) EXPECT_TRUE(entry.german.infinitive.ends_with('n')) << entry.german.infinitive;
  for (const Adjective& entry : adjectives()) {
    EXPECT_EQ(entry.german_comparative.empty(), entry.english_comparative.empty()) << entry.german;
    EXPECT_EQ(entry.german_superlative.empty(), entry.english_superlative.empty()) << entry.german;
  }
}

TEST(Lexicon, RefusesUnknownWords) {
  EXPECT_THROW(noun("Quatsch"), Error);
  EXPECT_THROW(adjective("quatschig"), Error);
  EXPECT_THROW(verb("quatschen", Frame::kIntransitive), Error);
  EXPECT_THROW(modal("quatschen"), Error);
}

}  // namespace
}  // namespace heed::grammar
