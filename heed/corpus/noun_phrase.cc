#include "heed/corpus/noun_phrase.h"

#include <algorithm>
#include <array>
#include <utility>

#include "heed/corpus/clause.h"

namespace heed::grammar {
namespace {

struct Article {
  Declension declension;
  std::string german, english;
};

// The determiner's words in both languages and the adjective declension that it leaves behind.
Article article(const NounPhrase& phrase, Case the_case, Role role) {
  const Noun& noun = *phrase.noun;
  bool plural = phrase.plural;
  bool countable = !plural && (noun.kinds & kMass) == 0;
  std::string strong(article_ending(noun.gender, plural, the_case));
  std::string_view mixed = indefinite_ending(noun.gender, plural, the_case);
  switch (phrase.determiner) {
    case Determiner::kNone:
      return {Declension::kStrong, "", role == Role::kPredicate && countable ? "a" : ""};
    case Determiner::kDefinite:
      return {Declension::kWeak, std::string(definite_article(noun.gender, plural, the_case)), "the"};
    case Determiner::kIndefinite:
      return {Declension::kMixed, "ein" + std::string(mixed), "a"};
    case Determiner::kNo:
      if (role == Role::kSubject) return {Declension::kMixed, "kein" + std::string(mixed), "no"};
      return {Declension::kMixed, "kein" + std::string(mixed), countable ? "a" : role == Role::kPredicate ? "" : "any"};
    case Determiner::kPossessive:
      return {Declension::kMixed, german_possessive(phrase.owner, mixed),
              std::string(english_possessive(phrase.owner))};
    case Determiner::kOwnedByName:
      return {Declension::kStrong, std::string(phrase.name->text) + "s", std::string(phrase.name->text) + "'s"};
    case Determiner::kThis:
      return {Declension::kWeak, "dies" + strong, plural ? "these" : "this"};
    case Determiner::kEvery:
      return {Declension::kWeak, "jed" + strong, "every"};
    case Determiner::kWhich:
      return {Declension::kWeak, "welch" + strong, "which"};
    case Determiner::kHowMany:
      return {Declension::kStrong, "wie viele", "how many"};
    case Determiner::kNumber:
      return {Declension::kStrong, std::string(german_number(phrase.number)),
              std::string(english_number(phrase.number))};
    case Determiner::kMany:
      return {Declension::kStrong, "viel" + strong, "many"};
    case Determiner::kSome:
      return {Declension::kStrong, "einig" + strong, "some"};
    case Determiner::kAll:
      return {Declension::kWeak, "all" + strong, "all"};
  }
  return {Declension::kStrong, "", ""};
}

void append_adjective(Phrase& phrase, const NounPhrase& source, std::string_view ending, Meanings& meanings) {
  const Adjective& adjective = *source.adjective;
  int meaning = meanings.fresh();
  bool superlative = source.degree == Degree::kSuperlative;
  std::string_view stem = superlative ? adjective.german_superlative : adjective.stem;
  append(phrase.german, std::string(stem) + std::string(ending), meaning);
  append(phrase.english, superlative ? adjective.english_superlative : adjective.english, meaning);
}

// Determiner, adjective and noun.
Phrase realise_noun(const NounPhrase& source, Case the_case, Role role, Meanings& meanings) {
  const Noun& noun = *source.noun;
  Article determiner = article(source, the_case, role);
  Phrase phrase;
  int meaning = meanings.fresh();
  int negation = source.determiner == Determiner::kNo && role != Role::kSubject ? meanings.negation() : 0;
  append(phrase.german, determiner.german, meaning, negation);
  // "ist Lehrerin" is "is a teacher": that "a" has no German counterpart.
  append(phrase.english, determiner.english, determiner.german.empty() ? 0 : meaning);
  if (source.adjective != nullptr) {
    std::string_view ending = adjective_ending(determiner.declension, noun.gender, source.plural, the_case);
    append_adjective(phrase, source, ending, meanings);
  }
  int noun_meaning = meanings.fresh();
  append(phrase.german, german_noun(noun, source.plural, the_case), noun_meaning);
  bool owned = source.determiner == Determiner::kPossessive || source.determiner == Determiner::kOwnedByName;
  append(phrase.english, owned ? english_relation(noun, source.plural) : english_noun(noun, source.plural),
         noun_meaning);
  return phrase;
}

// "der", "denen"; who, whom, that.
Phrase realise_relative(const NounPhrase& source, Case the_case, Role role, int meaning) {
  const Noun& noun = *source.noun;
  bool person = (noun.kinds & kPerson) != 0;
  std::string_view german = definite_article(noun.gender, source.plural, the_case);
  if (source.plural && the_case == Case::kDative) german = "denen";
  Phrase phrase;
  append(phrase.german, german, meaning);
  append(phrase.english, !person ? "that" : role == Role::kSubject ? "who" : "whom", meaning);
  return phrase;
}

Phrase realise_question(const NounPhrase& source, Case the_case, int meaning) {
  constexpr std::array<std::string_view, 3> kWho = {"wer", "wen", "wem"};
  Phrase phrase;
  bool person = source.noun == nullptr;
  append(phrase.german, person ? kWho[static_cast<std::size_t>(the_case)] : "was", meaning);
  append(phrase.english, person ? "who" : "what", meaning);
  return phrase;
}

Phrase realise_head(const NounPhrase& source, Case the_case, Role role, Meanings& meanings) {
  Phrase phrase;
  switch (source.head) {
    case Head::kNoun:
      return realise_noun(source, the_case, role, meanings);
    case Head::kRelative:
      return realise_relative(source, the_case, role, meanings.fresh());
    case Head::kWhoWhat:
      return realise_question(source, the_case, meanings.fresh());
    case Head::kFixed:
      return expression(source.fixed, meanings);
    case Head::kPronoun: {
      int meaning = meanings.fresh();
      append(phrase.german, german_pronoun(source.pronoun, the_case), meaning);
      append(phrase.english, english_pronoun(source.pronoun, role == Role::kSubject), meaning);
      return phrase;
    }
    case Head::kName: {
      int meaning = meanings.fresh();
      append(phrase.german, source.name->text, meaning);
      append(phrase.english, source.name->text, meaning);
      return phrase;
    }
  }
  return phrase;
}

Sex sex_of(const Noun& noun) {
  if ((noun.kinds & kPerson) == 0) return Sex::kIt;
  if (noun.german == "Mädchen") return Sex::kShe;
  return noun.gender == Gender::kMasculine ? Sex::kHe : noun.gender == Gender::kFeminine ? Sex::kShe : Sex::kIt;
}

}  // namespace

Agreement agreement(const NounPhrase& phrase) {
  if (phrase.joined != nullptr) return {3, true, Gender::kMasculine, Sex::kHe};
  switch (phrase.head) {
    case Head::kPronoun:
      return phrase.pronoun;
    case Head::kName:
      return {3, false, phrase.name->gender, phrase.name->gender == Gender::kFeminine ? Sex::kShe : Sex::kHe};
    case Head::kNoun:
    case Head::kRelative:
      return {3, phrase.plural, phrase.noun->gender, sex_of(*phrase.noun)};
    case Head::kWhoWhat:
    case Head::kFixed:
      break;
  }
  return {3, false, Gender::kMasculine, Sex::kHe};
}

Phrase realise(const NounPhrase& source, Case the_case, Role role, Meanings& meanings) {
  Phrase phrase = realise_head(source, the_case, role, meanings);
  if (source.modifier != nullptr) {
    Phrase modifier = realise(*source.modifier, meanings);
    append(phrase.german, modifier.german);
    append(phrase.english, modifier.english);
  }
  if (source.joined != nullptr) {
    int meaning = meanings.fresh();
    append(phrase.german, "und", meaning);
    append(phrase.english, "and", meaning);
    Phrase joined = realise(*source.joined, the_case, role, meanings);
    append(phrase.german, joined.german);
    append(phrase.english, joined.english);
  }
  if (source.relative != nullptr) {
    Phrase clause = realise(*source.relative, Order::kVerbLast, meanings);
    append(phrase.german, ",", 0);
    append(phrase.german, clause.german);
    append(phrase.german, ",", 0);
    append(phrase.english, clause.english);
  }
  return phrase;
}

Phrase realise(const PrepositionalPhrase& source, Meanings& meanings, int preposition_meaning) {
  if (!source.fixed.german.empty()) return expression(source.fixed, meanings);
  int meaning = preposition_meaning != 0 ? preposition_meaning : meanings.fresh();
  Phrase object = realise(source.object, source.the_case, Role::kObject, meanings);
  Phrase phrase;
  bool may_contract = source.object.head == Head::kNoun && source.object.determiner == Determiner::kDefinite &&
                      source.object.relative == nullptr;
  std::string_view joined = may_contract ? contraction(source.german, object.german.front().text) : "";
  if (joined.empty()) {
    append(phrase.german, source.german, meaning);
  } else {
    object.german.front().text = joined;
    object.german.front().also = object.german.front().meaning;
    object.german.front().meaning = meaning;
  }
  append(phrase.german, object.german);
  append(phrase.english, source.english, meaning);
  append(phrase.english, object.english);
  return phrase;
}

std::string_view contraction(std::string_view preposition, std::string_view article) {
  struct Entry {
    std::string_view preposition, article, joined;
  };
  constexpr auto kContractions = std::to_array<Entry>({{"in", "dem", "im"},
                                                       {"in", "das", "ins"},
                                                       {"an", "dem", "am"},
                                                       {"an", "das", "ans"},
                                                       {"zu", "dem", "zum"},
                                                       {"zu", "der", "zur"},
                                                       {"von", "dem", "vom"},
                                                       {"bei", "dem", "beim"}});
  for (const Entry& entry : kContractions) {
    if (entry.preposition == preposition && entry.article == article) return entry.joined;
  }
  return "";
}

Kinds kinds_of(const NounPhrase& phrase) {
  bool has_noun = phrase.head == Head::kNoun || phrase.head == Head::kRelative;
  return has_noun ? phrase.noun->kinds & ~(kMass | kWeak | kProfession) : static_cast<Kinds>(kPerson);
}

bool has_determiner(const NounPhrase& phrase, std::initializer_list<Determiner> determiners) {
  return phrase.head == Head::kNoun &&
         std::find(determiners.begin(), determiners.end(), phrase.determiner) != determiners.end();
}

bool is_definite(const NounPhrase& phrase) {
  if (phrase.head == Head::kName) return true;
  return has_determiner(phrase,
                        {Determiner::kDefinite, Determiner::kPossessive, Determiner::kOwnedByName, Determiner::kThis});
}

}  // namespace heed::grammar
