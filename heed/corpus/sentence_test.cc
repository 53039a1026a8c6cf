// Sentences whose derivation is fixed by hand: what the grammar must say in both languages, and how it aligns them.
#include "heed/corpus/sentence.h"

#include <gtest/gtest.h>

#include "heed/corpus/clause.h"
#include "heed/corpus/corpus.h"

namespace heed::grammar {
namespace {

constexpr Agreement kI = {1, false, Gender::kMasculine, Sex::kHe};
constexpr Agreement kYou = {2, false, Gender::kMasculine, Sex::kHe};
constexpr Agreement kShe = {3, false, Gender::kFeminine, Sex::kShe};
constexpr Agreement kHe = {3, false, Gender::kMasculine, Sex::kHe};
constexpr Agreement kThey = {3, true, Gender::kMasculine, Sex::kHe};

NounPhrase pronoun(const Agreement& who) { return {.head = Head::kPronoun, .pronoun = who}; }

NounPhrase the(std::string_view german, bool plural = false) {
  return {.determiner = Determiner::kDefinite, .noun = &noun(german), .plural = plural};
}

NounPhrase a(std::string_view german, std::string_view adjective_word = "") {
  NounPhrase phrase{.determiner = Determiner::kIndefinite, .noun = &noun(german)};
  if (!adjective_word.empty()) phrase.adjective = &adjective(adjective_word);
  return phrase;
}

NounPhrase owned(const Agreement& owner, std::string_view german, bool plural = false) {
  return {.determiner = Determiner::kPossessive, .noun = &noun(german), .plural = plural, .owner = owner};
}

std::string links(const Phrase& phrase) {
  std::string text;
  for (std::size_t i = 0; i < phrase.german.size(); ++i) {
    for (std::size_t j = 0; j < phrase.english.size(); ++j) {
      const Word& g = phrase.german[i];
      const Word& e = phrase.english[j];
      auto has = [&](int meaning) { return meaning != 0 && (e.meaning == meaning || e.also == meaning); };
      if (has(g.meaning) || has(g.also))
        text += (text.empty() ? "" : " ") + std::to_string(i) + "-" + std::to_string(j);
    }
  }
  return text;
}

void expect_pair(const Phrase& phrase, std::string_view german, std::string_view english,
                 std::string_view alignment = "") {
  EXPECT_EQ(join(phrase.german), german);
  EXPECT_EQ(join(phrase.english), english);
  if (alignment.empty()) return;
  EXPECT_EQ(links(phrase), alignment) << german;
}

Clause calling(const NounPhrase& subject, const NounPhrase& object) {
  return {.subject = subject, .verb = &verb("anrufen", Frame::kTransitive), .accusative = object};
}

TEST(Sentence, SeparatesThePrefixAndAlignsBothParts) {
  expect_pair(statement(calling(the("Mann"), owned(kHe, "Frau"))), "Der Mann ruft seine Frau an.",
              "The man calls his wife.", "0-0 1-1 2-2 3-3 4-4 5-2 6-5");
}

TEST(Sentence, PutsParticipleAndInfinitiveAtTheEnd) {
  Clause clause = calling(pronoun(kHe), the("Lehrer"));
  clause.tense = Tense::kPast;
  expect_pair(statement(clause), "Er hat den Lehrer angerufen.", "He called the teacher.", "0-0 1-1 2-2 3-3 4-1 5-4");
  clause.tense = Tense::kFuture;
  expect_pair(statement(clause), "Er wird den Lehrer anrufen.", "He will call the teacher.", "0-0 1-1 2-3 3-4 4-2 5-5");
  clause.tense = Tense::kPresent;
  clause.modal = &modal("müssen");
  expect_pair(statement(clause), "Er muss den Lehrer anrufen.", "He has to call the teacher.",
              "0-0 1-1 1-2 2-4 3-5 4-3 5-6");
  clause.negated = true;
  expect_pair(statement(clause), "Er muss den Lehrer nicht anrufen.", "He does not have to call the teacher.");
  clause.modal = &modal("können");
  expect_pair(statement(clause), "Er kann den Lehrer nicht anrufen.", "He cannot call the teacher.");
}

TEST(Sentence, GivesQuestionsAndNegationDoSupport) {
  Clause clause{.subject = pronoun(kShe), .verb = &verb("lesen", Frame::kTransitive), .accusative = the("Buch")};
  clause.negated = true;
  expect_pair(statement(clause), "Sie liest das Buch nicht.", "She does not read the book.",
              "0-0 1-1 1-3 2-4 3-5 4-2 5-6");
  clause.negated = false;
  clause.front = Front::kNothing;
  expect_pair(question(clause), "Liest sie das Buch?", "Does she read the book?");
  clause.tense = Tense::kPast;
  expect_pair(question(clause), "Hat sie das Buch gelesen?", "Did she read the book?", "0-0 1-1 2-3 3-4 4-2 5-5");
}

TEST(Sentence, NegatesIndefinitesByKein) {
  Clause clause{.subject = pronoun(kI), .verb = &verb("haben", Frame::kTransitive)};
  clause.accusative = NounPhrase{.determiner = Determiner::kNo, .noun = &noun("Hund")};
  expect_pair(statement(clause), "Ich habe keinen Hund.", "I do not have a dog.", "0-0 1-1 1-3 2-2 2-4 3-5 4-6");
  clause.accusative->plural = true;
  expect_pair(statement(clause), "Ich habe keine Hunde.", "I do not have any dogs.");
}

TEST(Sentence, InvertsAfterATimeAndReadsTheHalfHour) {
  Clause clause{.subject = the("Kind", true), .verb = &verb("gehen", Frame::kMotion)};
  clause.direction =
      PrepositionalPhrase{.german = "in", .english = "to", .the_case = Case::kAccusative, .object = the("Kino")};
  clause.time = Expression{"um:1 " + clock_time(5 * 8).german, "at:1 " + clock_time(5 * 8).english};
  clause.front = Front::kTime;
  expect_pair(statement(clause), "Um halb neun gehen die Kinder ins Kino.",
              "At half past eight the children go to the cinema.", "0-0 1-1 1-2 2-3 3-6 4-4 5-5 6-7 6-8 7-9 8-10");
  EXPECT_EQ(clock_time(0).german, "halb:2 eins:3");
  EXPECT_EQ(clock_time(0).english, "half:2 past:2 twelve:3");
}

TEST(Sentence, DeclinesAdjectivesStrongMixedAndWeak) {
  auto accusative = [](NounPhrase phrase) {
    Meanings meanings;
    return join(realise(phrase, Case::kAccusative, Role::kObject, meanings).german);
  };
  auto dative = [](NounPhrase phrase) {
    Meanings meanings;
    return join(realise(phrase, Case::kDative, Role::kObject, meanings).german);
  };
  NounPhrase car = a("Auto", "teuer");
  EXPECT_EQ(accusative(car), "ein teures Auto");
  EXPECT_EQ(dative(car), "einem teuren Auto");
  car.determiner = Determiner::kDefinite;
  EXPECT_EQ(accusative(car), "das teure Auto");
  car.plural = true;
  EXPECT_EQ(dative(car), "den teuren Autos");
  NounPhrase milk{.noun = &noun("Milch"), .adjective = &adjective("kalt")};
  EXPECT_EQ(accusative(milk), "kalte Milch");
  EXPECT_EQ(dative(milk), "kalter Milch");
  NounPhrase children{.determiner = Determiner::kNumber, .noun = &noun("Kind"), .plural = true, .number = 3};
  children.adjective = &adjective("klein");
  EXPECT_EQ(accusative(children), "drei kleine Kinder");
  EXPECT_EQ(dative(children), "drei kleinen Kindern");
  EXPECT_EQ(accusative(the("Nachbar")), "den Nachbarn");
  EXPECT_EQ(dative(owned({2, true}, "Bruder", true)), "euren Brüdern");
  EXPECT_EQ(accusative(a("Tisch", "dunkel")), "einen dunklen Tisch");
}

TEST(Sentence, ChoosesAAndAnByTheNextWord) {
  Clause clause{.subject = pronoun(kI), .verb = &verb("kaufen", Frame::kTransitive), .accusative = a("Apfel")};
  expect_pair(statement(clause), "Ich kaufe einen Apfel.", "I buy an apple.");
  clause.accusative = a("Apfel", "süß");
  expect_pair(statement(clause), "Ich kaufe einen süßen Apfel.", "I buy a sweet apple.");
  clause.accusative = a("Auto", "alt");
  expect_pair(statement(clause), "Ich kaufe ein altes Auto.", "I buy an old car.");
}

TEST(Sentence, GivesTheOwnerItsOwnPossessive) {
  Clause clause{.subject = the("Mädchen"), .verb = &verb("suchen", Frame::kTransitive)};
  clause.accusative = owned(agreement(clause.subject), "Katze");
  expect_pair(statement(clause), "Das Mädchen sucht seine Katze.", "The girl looks for her cat.");
  clause.subject = the("Frau", true);
  clause.accusative = owned(agreement(clause.subject), "Katze");
  expect_pair(statement(clause), "Die Frauen suchen ihre Katze.", "The women look for their cat.");
  clause.subject = pronoun(kShe);
  clause.accusative = owned(agreement(clause.subject), "Katze");
  expect_pair(statement(clause), "Sie sucht ihre Katze.", "She looks for her cat.");
}

TEST(Sentence, CrossesLinksWhereTheLanguagesCross) {
  Clause likes{.subject = the("Buch"), .verb = &verb("gefallen", Frame::kExperiencer), .dative = pronoun(kI)};
  expect_pair(statement(likes), "Das Buch gefällt mir.", "I like the book.", "0-2 1-3 2-1 3-0 4-4");
  likes.front = Front::kDative;
  expect_pair(statement(likes), "Mir gefällt das Buch.", "I like the book.");
  Clause sees{.subject = the("Mann"), .verb = &verb("sehen", Frame::kTransitive), .accusative = the("Hund")};
  sees.front = Front::kAccusative;
  expect_pair(statement(sees), "Den Hund sieht der Mann.", "The man sees the dog.", "0-3 1-4 2-2 3-0 4-1 5-5");
}

TEST(Sentence, PutsTheVerbLastInASubordinateClause) {
  Clause home{.subject = pronoun(kHe), .verb = &verb("bleiben", Frame::kPosition)};
  home.place = PrepositionalPhrase{.fixed = {"zu:1 Hause:2", "at:1 home:2"}};
  Clause waking{.subject = pronoun(kHe), .verb = &verb("aufstehen", Frame::kIntransitive), .modal = &modal("wollen")};
  waking.negated = true;
  expect_pair(compound(home, {"weil", "because"}, waking, false), "Er bleibt zu Hause, weil er nicht aufstehen will.",
              "He stays at home because he does not want to get up.");
  Clause rain{.subject = {.head = Head::kFixed, .fixed = {"es", "it"}}, .verb = &verb("regnen", Frame::kIntransitive)};
  expect_pair(compound(home, {"wenn", "if"}, rain, true), "Wenn es regnet, bleibt er zu Hause.",
              "If it rains, he stays at home.", "0-0 1-1 2-2 3-3 4-5 5-4 6-6 7-7 8-8");
}

TEST(Sentence, AgreesInRelativeClauses) {
  NounPhrase woman = the("Frau", true);
  NounPhrase relative{.head = Head::kRelative, .noun = woman.noun, .plural = true};
  Clause helping{
      .subject = pronoun(kI), .verb = &verb("helfen", Frame::kDative), .dative = relative, .front = Front::kDative};
  woman.relative = std::make_shared<const Clause>(helping);
  Clause clause{.subject = woman, .verb = &verb("lachen", Frame::kIntransitive)};
  expect_pair(statement(clause), "Die Frauen, denen ich helfe, lachen.", "The women whom I help laugh.");
  NounPhrase man = the("Mann");
  NounPhrase who{.head = Head::kRelative, .noun = man.noun};
  man.relative = std::make_shared<const Clause>(
      Clause{.subject = who, .verb = &verb("tragen", Frame::kTransitive), .accusative = a("Hut", "rot")});
  Clause sees{.subject = pronoun(kThey), .verb = &verb("sehen", Frame::kTransitive), .accusative = man};
  expect_pair(statement(sees), "Sie sehen den Mann, der einen roten Hut trägt.",
              "They see the man who wears a red hat.");
}

TEST(Sentence, AsksWithAPreposition) {
  Clause clause{.subject = pronoun(kYou), .verb = &verb("warten", Frame::kPrepositional)};
  clause.prepositional = NounPhrase{.head = Head::kWhoWhat};
  clause.front = Front::kPrepositional;
  expect_pair(question(clause), "Auf wen wartest du?", "Who do you wait for?", "0-4 1-0 2-1 2-3 3-2 4-5");
  clause.prepositional = NounPhrase{.head = Head::kWhoWhat, .noun = &noun("Buch")};
  expect_pair(question(clause), "Worauf wartest du?", "What do you wait for?");
}

TEST(Sentence, CommandsInThreeForms) {
  Clause clause = calling(pronoun(kYou), owned(kYou, "Mutter"));
  clause.please = true;
  expect_pair(command(clause), "Ruf bitte deine Mutter an!", "Please call your mother!", "0-1 1-0 2-2 3-3 4-1 5-4");
  Clause open{.subject = pronoun(kThey),
              .verb = &verb("öffnen", Frame::kTransitive),
              .accusative = the("Fenster"),
              .formal = true};
  expect_pair(command(open), "Öffnen Sie das Fenster!", "Open the window!");
  Clause read{.subject = pronoun({2, true}), .verb = &verb("lesen", Frame::kTransitive), .accusative = the("Brief")};
  read.negated = true;
  expect_pair(command(read), "Lest den Brief nicht!", "Do not read the letter!");
}

TEST(Sentence, MovesParticlesBehindPronouns) {
  Clause clause{.subject = pronoun(kI), .verb = &verb("abholen", Frame::kTransitive), .accusative = pronoun(kHe)};
  expect_pair(statement(clause), "Ich hole ihn ab.", "I pick him up.", "0-0 1-1 1-3 2-2 3-1 3-3 4-4");
  clause.accusative = the("Gast", true);
  expect_pair(statement(clause), "Ich hole die Gäste ab.", "I pick up the guests.");
}

TEST(Sentence, DividesPastAndPerfectByTheAdverb) {
  Clause clause{.subject = the("Koch"), .verb = &verb("essen", Frame::kTransitive), .tense = Tense::kPast};
  clause.accusative = the("Apfel");
  expect_pair(statement(clause), "Der Koch hat den Apfel gegessen.", "The cook ate the apple.");
  clause.tense = Tense::kPerfect;
  clause.frequency = Expression{"schon", "already"};
  expect_pair(statement(clause), "Der Koch hat den Apfel schon gegessen.", "The cook has already eaten the apple.",
              "0-0 1-1 2-2 3-5 4-6 5-3 6-4 7-7");
  Clause lives{.subject = pronoun(kI), .verb = &verb("wohnen", Frame::kPosition), .tense = Tense::kSince};
  lives.place = PrepositionalPhrase{.fixed = {"in:1 Wien:2", "in:1 Vienna:2"}};
  lives.time = Expression{"seit:1 drei:2 Jahren:3", "for:1 three:2 years:3"};
  expect_pair(statement(lives), "Ich wohne seit drei Jahren in Wien.", "I have lived in Vienna for three years.");
}

TEST(Sentence, SaysGernAsLiking) {
  Clause clause{.subject = pronoun(kHe), .verb = &verb("schwimmen", Frame::kIntransitive), .gladly = true};
  expect_pair(statement(clause), "Er schwimmt gern.", "He likes to swim.", "0-0 1-3 2-1 2-2 3-4");
  clause.negated = true;
  expect_pair(statement(clause), "Er schwimmt nicht gern.", "He does not like to swim.");
}

TEST(Sentence, ComparesAndNamesProfessions) {
  Clause clause{.subject = owned(kI, "Bruder"), .verb = &copula()};
  clause.predicate = Predicate{.adjective = &adjective("alt"), .compared = pronoun(kYou)};
  expect_pair(statement(clause), "Mein Bruder ist älter als du.", "My brother is older than you.");
  clause.predicate->equal = true;
  clause.negated = true;
  expect_pair(statement(clause), "Mein Bruder ist nicht so alt wie du.", "My brother is not as old as you.");
  clause.negated = false;
  clause.predicate = Predicate{.noun_phrase = NounPhrase{.noun = &noun("Arzt")}};
  expect_pair(statement(clause), "Mein Bruder ist Arzt.", "My brother is a doctor.");
  clause.predicate->noun_phrase->determiner = Determiner::kNo;
  expect_pair(statement(clause), "Mein Bruder ist kein Arzt.", "My brother is not a doctor.");
}

TEST(Sentence, SaysWhatThereIs) {
  Clause clause{
      .subject = {.head = Head::kFixed, .fixed = {"es", "there"}}, .verb = &existential(), .accusative = a("Park")};
  clause.place = PrepositionalPhrase{.german = "in", .english = "in", .object = the("Dorf")};
  clause.front = Front::kNothing;
  expect_pair(question(clause), "Gibt es im Dorf einen Park?", "Is there a park in the village?");
  clause.front = Front::kPlace;
  clause.accusative = NounPhrase{.determiner = Determiner::kNo, .noun = &noun("Park"), .plural = true};
  expect_pair(statement(clause), "Im Dorf gibt es keine Parks.", "In the village there are no parks.");
}

}  // namespace
}  // namespace heed::grammar
