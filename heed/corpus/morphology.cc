#include "heed/corpus/morphology.h"

#include <array>

namespace heed::grammar {
namespace {

// Columns of every table below: masculine, feminine, neuter, plural; rows: nominative, accusative, dative.
using Table = std::array<std::array<std::string_view, 4>, 3>;

constexpr Table kArticleEndings = {{{"er", "e", "es", "e"}, {"en", "e", "es", "e"}, {"em", "er", "em", "en"}}};
constexpr Table kDefinite = {
    {{"der", "die", "das", "die"}, {"den", "die", "das", "die"}, {"dem", "der", "dem", "den"}}};
constexpr Table kIndefinite = {{{"", "e", "", "e"}, {"en", "e", "", "e"}, {"em", "er", "em", "en"}}};
constexpr Table kWeakEndings = {{{"e", "e", "e", "en"}, {"en", "e", "e", "en"}, {"en", "en", "en", "en"}}};
constexpr Table kMixedEndings = {{{"er", "e", "es", "en"}, {"en", "e", "es", "en"}, {"en", "en", "en", "en"}}};

std::string_view look_up(const Table& table, Gender gender, bool plural, Case the_case) {
  return table[static_cast<std::size_t>(the_case)][plural ? 3 : static_cast<std::size_t>(gender)];
}

// ich, du, er, wir, ihr, sie.
std::size_t person_index(const Agreement& who) {
  const int index = who.person - 1 + (who.plural ? 3 : 0);
  return static_cast<std::size_t>(index);
}

bool ends_with_any(std::string_view word, std::initializer_list<std::string_view> endings) {
  for (std::string_view ending : endings) {
    if (word.ends_with(ending)) return true;
  }
  return false;
}

// "ruf" of rufen, "fütter" of füttern.
std::string stem(const GermanVerb& verb) {
  std::string_view infinitive = verb.infinitive;
  return std::string(infinitive.substr(0, infinitive.size() - (infinitive.ends_with("en") ? 2 : 1)));
}

// An e before -st and -t eases stems as in wart-e-t, öffn-e-t, begegn-e-t.
bool needs_e(std::string_view stem) { return ends_with_any(stem, {"t", "d", "ffn", "gn"}); }

bool is_vowel(char letter) { return std::string_view("aeiou").find(letter) != std::string_view::npos; }

// Plural of a noun and third person of a verb: box-es, stor-ies, dog-s.
std::string with_s(std::string_view word) {
  if (ends_with_any(word, {"s", "x", "ch", "sh"})) return std::string(word) + "es";
  if (word.ends_with('y') && !is_vowel(word[word.size() - 2]))
    return std::string(word.substr(0, word.size() - 1)) + "ies";
  return std::string(word) + "s";
}

std::string regular_past(std::string_view base) {
  if (base.ends_with('e')) return std::string(base) + "d";
  if (base.ends_with('y') && !is_vowel(base[base.size() - 2]))
    return std::string(base.substr(0, base.size() - 1)) + "ied";
  return std::string(base) + "ed";
}

}  // namespace

std::string_view article_ending(Gender gender, bool plural, Case the_case) {
  return look_up(kArticleEndings, gender, plural, the_case);
}

std::string_view definite_article(Gender gender, bool plural, Case the_case) {
  return look_up(kDefinite, gender, plural, the_case);
}

std::string_view indefinite_ending(Gender gender, bool plural, Case the_case) {
  return look_up(kIndefinite, gender, plural, the_case);
}

std::string_view adjective_ending(Declension declension, Gender gender, bool plural, Case the_case) {
  switch (declension) {
    case Declension::kWeak:
      return look_up(kWeakEndings, gender, plural, the_case);
    case Declension::kMixed:
      return look_up(kMixedEndings, gender, plural, the_case);
    case Declension::kStrong:
      break;
  }
  return look_up(kArticleEndings, gender, plural, the_case);
}

std::string german_noun(const Noun& noun, bool plural, Case the_case) {
  if (!plural)
    return std::string((noun.kinds & kWeak) != 0 && the_case != Case::kNominative ? noun.german_plural : noun.german);
  bool add_n = the_case == Case::kDative && !ends_with_any(noun.german_plural, {"n", "s"});
  return std::string(noun.german_plural) + (add_n ? "n" : "");
}

std::string english_noun(const Noun& noun, bool plural) {
  if (!plural) return std::string(noun.english);
  return noun.english_plural.empty() ? with_s(noun.english) : std::string(noun.english_plural);
}

std::string english_relation(const Noun& noun, bool plural) {
  if (noun.german == "Mann") return plural ? "husbands" : "husband";
  if (noun.german == "Frau") return plural ? "wives" : "wife";
  return english_noun(noun, plural);
}

std::string german_possessive(const Agreement& owner, std::string_view ending) {
  constexpr std::array<std::string_view, 6> kStems = {"mein", "dein", "sein", "unser", "euer", "ihr"};
  std::string_view stem = kStems[person_index(owner)];
  if (owner.person == 3 && !owner.plural && owner.gender == Gender::kFeminine) stem = "ihr";
  if (stem == "euer" && !ending.empty()) stem = "eur";
  return std::string(stem) + std::string(ending);
}

std::string_view english_possessive(const Agreement& owner) {
  if (owner.person == 3 && !owner.plural) {
    return owner.sex == Sex::kHe ? "his" : owner.sex == Sex::kShe ? "her" : "its";
  }
  constexpr std::array<std::string_view, 6> kForms = {"my", "your", "", "our", "your", "their"};
  return kForms[person_index(owner)];
}

std::string_view german_pronoun(const Agreement& who, Case the_case) {
  constexpr std::array<std::array<std::string_view, 6>, 3> kForms = {{{"ich", "du", "", "wir", "ihr", "sie"},
                                                                      {"mich", "dich", "", "uns", "euch", "sie"},
                                                                      {"mir", "dir", "", "uns", "euch", "ihnen"}}};
  constexpr std::array<std::array<std::string_view, 3>, 3> kThird = {
      {{"er", "sie", "es"}, {"ihn", "sie", "es"}, {"ihm", "ihr", "ihm"}}};
  auto row = static_cast<std::size_t>(the_case);
  if (who.person == 3 && !who.plural) return kThird[row][static_cast<std::size_t>(who.gender)];
  return kForms[row][person_index(who)];
}

std::string_view english_pronoun(const Agreement& who, bool subject) {
  if (who.person == 3 && !who.plural) {
    if (who.sex == Sex::kIt) return "it";
    if (who.sex == Sex::kHe) return subject ? "he" : "him";
    return subject ? "she" : "her";
  }
  constexpr std::array<std::string_view, 6> kSubjects = {"I", "you", "", "we", "you", "they"};
  constexpr std::array<std::string_view, 6> kObjects = {"me", "you", "", "us", "you", "them"};
  return (subject ? kSubjects : kObjects)[person_index(who)];
}

std::string_view german_reflexive(const Agreement& who) {
  return who.person == 3 ? "sich" : german_pronoun(who, Case::kAccusative);
}

std::string conjugate(const GermanVerb& verb, const Agreement& subject) {
  if (verb.infinitive == "sein") return conjugate_sein(subject);
  if (verb.infinitive == "haben") return conjugate_haben(subject);
  std::string root = stem(verb);
  std::string_view e = needs_e(root) ? "e" : "";
  switch (person_index(subject)) {
    case 0:
      return verb.infinitive == "wissen" ? "weiß" : root + "e";
    case 1:
      if (!verb.du.empty()) return std::string(verb.du);
      if (ends_with_any(root, {"s", "ß", "z", "x"})) return root + "t";
      return root + std::string(e) + "st";
    case 2:
      return verb.er.empty() ? root + std::string(e) + "t" : std::string(verb.er);
    case 4:
      return root + std::string(e) + "t";
    default:
      return std::string(verb.infinitive);
  }
}

std::string preterite(const GermanVerb& verb, const Agreement& subject) {
  constexpr std::array<std::string_view, 6> kWar = {"war", "warst", "war", "waren", "wart", "waren"};
  constexpr std::array<std::string_view, 6> kHatte = {"hatte", "hattest", "hatte", "hatten", "hattet", "hatten"};
  return std::string((verb.infinitive == "sein" ? kWar : kHatte)[person_index(subject)]);
}

std::string conjugate_werden(const Agreement& subject) {
  constexpr std::array<std::string_view, 6> kForms = {"werde", "wirst", "wird", "werden", "werdet", "werden"};
  return std::string(kForms[person_index(subject)]);
}

std::string conjugate_haben(const Agreement& subject) {
  constexpr std::array<std::string_view, 6> kForms = {"habe", "hast", "hat", "haben", "habt", "haben"};
  return std::string(kForms[person_index(subject)]);
}

std::string conjugate_sein(const Agreement& subject) {
  constexpr std::array<std::string_view, 6> kForms = {"bin", "bist", "ist", "sind", "seid", "sind"};
  return std::string(kForms[person_index(subject)]);
}

std::string conjugate(const Modal& modal, const Agreement& subject, bool past) {
  std::size_t index = person_index(subject);
  if (past) {
    constexpr std::array<std::string_view, 6> kEndings = {"e", "est", "e", "en", "et", "en"};
    return std::string(modal.past_stem) + std::string(kEndings[index]);
  }
  const std::array<std::string_view, 6> forms = {modal.ich,        modal.du,  modal.ich,
                                                 modal.infinitive, modal.ihr, modal.infinitive};
  return std::string(forms[index]);
}

std::string imperative(const GermanVerb& verb, bool plural) {
  if (plural) return conjugate(verb, {2, true, Gender::kMasculine, Sex::kHe});
  if (!verb.imperative.empty()) return std::string(verb.imperative);
  std::string root = stem(verb);
  bool add_e = needs_e(root) || verb.infinitive.ends_with("ern") || verb.infinitive.ends_with("ieren");
  return root + (add_e ? "e" : "");
}

std::string english_present(const EnglishVerb& verb, const Agreement& subject) {
  bool third = subject.person == 3 && !subject.plural;
  if (verb.base == "be") return third ? "is" : subject.person == 1 && !subject.plural ? "am" : "are";
  if (!third) return std::string(verb.base);
  if (verb.base == "have") return "has";
  if (verb.base == "go" || verb.base == "do") return std::string(verb.base) + "es";
  return with_s(verb.base);
}

std::string english_past(const EnglishVerb& verb, const Agreement& subject) {
  if (verb.base == "be") return subject.plural || subject.person == 2 ? "were" : "was";
  return verb.past.empty() ? regular_past(verb.base) : std::string(verb.past);
}

std::string english_participle(const EnglishVerb& verb) {
  if (!verb.participle.empty()) return std::string(verb.participle);
  return verb.past.empty() ? regular_past(verb.base) : std::string(verb.past);
}

}  // namespace heed::grammar
