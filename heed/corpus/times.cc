// Numbers, and the times that are put together from them.
#include <fmt/core.h>

#include <array>

#include "heed/corpus/lexicon.h"

namespace heed::grammar {
namespace {

constexpr auto kGermanNumbers = std::to_array<std::string_view>({"null",
                                                                 "eins",
                                                                 "zwei",
                                                                 "drei",
                                                                 "vier",
                                                                 "fünf",
                                                                 "sechs",
                                                                 "sieben",
                                                                 "acht",
                                                                 "neun",
                                                                 "zehn",
                                                                 "elf",
                                                                 "zwölf",
                                                                 "dreizehn",
                                                                 "vierzehn",
                                                                 "fünfzehn",
                                                                 "sechzehn",
                                                                 "siebzehn",
                                                                 "achtzehn",
                                                                 "neunzehn",
                                                                 "zwanzig",
                                                                 "einundzwanzig",
                                                                 "zweiundzwanzig",
                                                                 "dreiundzwanzig",
                                                                 "vierundzwanzig",
                                                                 "fünfundzwanzig",
                                                                 "sechsundzwanzig",
                                                                 "siebenundzwanzig",
                                                                 "achtundzwanzig",
                                                                 "neunundzwanzig",
                                                                 "dreißig",
                                                                 "einunddreißig"});
constexpr auto kEnglishNumbers = std::to_array<std::string_view>(
    {"zero",         "one",         "two",          "three",       "four",        "five",       "six",
     "seven",        "eight",       "nine",         "ten",         "eleven",      "twelve",     "thirteen",
     "fourteen",     "fifteen",     "sixteen",      "seventeen",   "eighteen",    "nineteen",   "twenty",
     "twenty-one",   "twenty-two",  "twenty-three", "twenty-four", "twenty-five", "twenty-six", "twenty-seven",
     "twenty-eight", "twenty-nine", "thirty",       "thirty-one"});
constexpr auto kGermanOrdinals = std::to_array<std::string_view>(
    {"", "erst", "zweit", "dritt", "viert", "fünft", "sechst", "siebt", "acht", "neunt", "zehnt", "elft", "zwölft"});
constexpr auto kEnglishOrdinals =
    std::to_array<std::string_view>({"", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth",
                                     "ninth", "tenth", "eleventh", "twelfth"});

struct Pair {
  std::string_view german, english;
};
constexpr auto kWeekdays = std::to_array<Pair>({{"Montag", "Monday"},
                                                {"Dienstag", "Tuesday"},
                                                {"Mittwoch", "Wednesday"},
                                                {"Donnerstag", "Thursday"},
                                                {"Freitag", "Friday"},
                                                {"Samstag", "Saturday"},
                                                {"Sonntag", "Sunday"}});
constexpr auto kMonths = std::to_array<Pair>({{"Januar", "January"},
                                              {"Februar", "February"},
                                              {"März", "March"},
                                              {"April", "April"},
                                              {"Mai", "May"},
                                              {"Juni", "June"},
                                              {"Juli", "July"},
                                              {"August", "August"},
                                              {"September", "September"},
                                              {"Oktober", "October"},
                                              {"November", "November"},
                                              {"Dezember", "December"}});

// Spends a part of choice: returns choice mod count and divides choice by count.
int take(std::uint64_t& choice, std::size_t count) {
  std::uint64_t part = choice % count;
  choice /= count;
  return static_cast<int>(part);
}

template <std::size_t count>
const Pair& pick(std::uint64_t& choice, const std::array<Pair, count>& table) {
  return table[static_cast<std::size_t>(take(choice, count))];
}

}  // namespace

std::string_view german_number(int value) { return kGermanNumbers.at(static_cast<std::size_t>(value)); }
std::string_view english_number(int value) { return kEnglishNumbers.at(static_cast<std::size_t>(value)); }

Expression clock_time(std::uint64_t choice) {
  int form = take(choice, 5);
  int hour = 1 + take(choice, 12);
  std::string german =
      hour == 1 && form >= 2 ? "ein" : std::string(german_number(hour));  // "um ein Uhr", but "halb eins"
  std::string_view english = english_number(hour);
  switch (form) {
    case 0: {  // half an hour before the German hour is half past the English one
      std::string_view before = english_number(hour == 1 ? 12 : hour - 1);
      return {fmt::format("halb:2 {}:3", german), fmt::format("half:2 past:2 {}:3", before)};
    }
    case 1:
      return {fmt::format("Viertel:2 nach:3 {}:4", german), fmt::format("a:2 quarter:2 past:3 {}:4", english)};
    default:
      return {fmt::format("{}:2 Uhr:3", german), fmt::format("{}:2 o'clock:3", english)};
  }
}

Expression date(std::uint64_t choice) {
  switch (take(choice, 3)) {
    case 0: {
      const int ordinal = 1 + take(choice, 12);
      const auto day = static_cast<std::size_t>(ordinal);
      const Pair& month = pick(choice, kMonths);
      return {fmt::format("am:12 {}en:3 {}:4", kGermanOrdinals[day], month.german),
              fmt::format("on:1 the:2 {}:3 of:4 {}:4", kEnglishOrdinals[day], month.english)};
    }
    case 1: {
      const Pair& month = pick(choice, kMonths);
      return {fmt::format("im:1 {}:2", month.german), fmt::format("in:1 {}:2", month.english)};
    }
    default: {
      const Pair& day = pick(choice, kWeekdays);
      return {fmt::format("am:1 {}:2", day.german), fmt::format("on:1 {}:2", day.english)};
    }
  }
}

Expression time_ago(std::uint64_t choice) {
  constexpr auto kUnits = std::to_array<Pair>({{"Minuten", "minutes"},
                                               {"Stunden", "hours"},
                                               {"Tagen", "days"},
                                               {"Wochen", "weeks"},
                                               {"Monaten", "months"},
                                               {"Jahren", "years"}});
  const Pair& unit = pick(choice, kUnits);
  int count = 2 + take(choice, 9);
  return {fmt::format("vor:1 {}:2 {}:3", german_number(count), unit.german),
          fmt::format("{}:2 {}:3 ago:1", english_number(count), unit.english)};
}

Expression time_since(std::uint64_t choice) {
  constexpr auto kUnits =
      std::to_array<Pair>({{"Tagen", "days"}, {"Wochen", "weeks"}, {"Monaten", "months"}, {"Jahren", "years"}});
  const Pair& unit = pick(choice, kUnits);
  int count = 2 + take(choice, 9);
  return {fmt::format("seit:1 {}:2 {}:3", german_number(count), unit.german),
          fmt::format("for:1 {}:2 {}:3", english_number(count), unit.english)};
}

Expression duration(std::uint64_t choice) {
  constexpr auto kUnits = std::to_array<Pair>({{"Minuten", "minutes"}, {"Stunden", "hours"}, {"Tage", "days"}});
  const Pair& unit = pick(choice, kUnits);
  int count = 2 + take(choice, 9);
  return {fmt::format("{}:2 {}:3 lang:1", german_number(count), unit.german),
          fmt::format("for:1 {}:2 {}:3", english_number(count), unit.english)};
}

Expression year(std::uint64_t choice) {
  int value = 1985 + take(choice, 40);
  return {fmt::format("im:12 Jahr:3 {}:4", value), fmt::format("in:1 the:2 year:3 {}:4", value)};
}

}  // namespace heed::grammar
