#include "heed/layers/attention_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <span>

#include "heed/base/check.h"
#include "heed/base/printable.h"

namespace heed {
namespace {

using Role = AttentionTerm::Role;

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  return begin == text.npos ? std::string_view() : text.substr(begin, text.find_last_not_of(" \t") + 1 - begin);
}

// Calls f with each part of text between separators, trimmed. In brackets none separates: the "+" of 1e+300 is a
// number's.
template <typename F>
void split(std::string_view text, char separator, F f) {
  bool in_brackets = false;
  for (std::size_t begin = 0, at = 0; at <= text.size(); ++at) {
    const bool ends = at == text.size();
    if (!ends && (text[at] == '(' || text[at] == ')')) in_brackets = text[at] == '(';
    if (!ends && (in_brackets || text[at] != separator)) continue;
    f(trimmed(text.substr(begin, at - begin)));
    begin = at + 1;
  }
}

const AttentionTerm& term_named(std::string_view name) {
  std::string known;
  for (const AttentionTerm& term : attention_terms()) {
    if (term.name == name) return term;
    known += (known.empty() ? "" : ", ") + std::string(term.name);
  }
  fail("attention: there is no \"{}\"; there are {}", printable(name), known);
}

double read_value(const AttentionTerm& term, const AttentionTerm::Number& number, std::string_view value) {
  double read = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), read);
  HEED_CHECK(error == std::errc() && end == value.data() + value.size() && (!number.whole || std::rint(read) == read),
             "attention: {}'s {} must be a {}, but is \"{}\"", term.name, number.name,
             number.whole ? "whole number" : "number", printable(value));
  number.range.check("attention: " + std::string(term.name), number.name, read);
  return read;
}

// The values of "name=1:2.5" where that is the term's list, which nothing has set.
bool read_list(const AttentionTerm& term, std::string_view text, std::vector<double>& list) {
  const std::size_t equals = text.find('=');
  if (term.list.empty() || equals == text.npos || trimmed(text.substr(0, equals)) != term.list) return false;
  HEED_CHECK(list.empty(), "attention: {}'s {} are given twice", term.name, term.list);
  const AttentionTerm::Number each{term.list, 1, NumberRange::above(0), false};
  split(text.substr(equals + 1), ':', [&](std::string_view value) { list.push_back(read_value(term, each, value)); });
  return true;
}

// Sets the number that "name=value" names, or, of a bare value, the one at `place`, which none before has set.
void read_number(const AttentionTerm& term, std::string_view text, std::size_t place, std::vector<bool>& given,
                 std::vector<double>& numbers) {
  const std::size_t equals = text.find('=');
  std::string_view value = text;
  if (equals != text.npos) {
    const std::string_view name = trimmed(text.substr(0, equals));
    const auto named = std::ranges::find(term.numbers, name, &AttentionTerm::Number::name);
    HEED_CHECK(named != term.numbers.end(), "attention: {} has no number \"{}\"", term.name, printable(name));
    place = static_cast<std::size_t>(named - term.numbers.begin());
    value = trimmed(text.substr(equals + 1));
  }
  HEED_CHECK(place < term.numbers.size(), "attention: {} takes {} numbers, but is given \"{}\" beside them", term.name,
             term.numbers.size(), printable(text));
  const AttentionTerm::Number& number = term.numbers[place];
  HEED_CHECK(!given[place], "attention: {}'s {} is given twice", term.name, number.name);
  given[place] = true;
  numbers[place] = read_value(term, number, value);
}

}  // namespace

AttentionChoice::AttentionChoice(std::string_view text) {
  split(text, '+', [&](std::string_view term) { add(term); });
  std::ranges::sort(chosen_, {}, &Chosen::term);
  // What the default is anyway says nothing.
  const bool sums = std::ranges::any_of(chosen_, [](const Chosen& c) { return c.term->sums; });
  std::erase_if(chosen_,
                [&](const Chosen& c) { return c.term->name == "scaled_dot" || (c.term->name == "softmax" && !sums); });
}

void AttentionChoice::add(std::string_view text) {
  const std::size_t bracket = text.find('(');
  const AttentionTerm& term = term_named(trimmed(text.substr(0, bracket)));
  for (const Chosen& other : chosen_) {
    HEED_CHECK(other.term != &term, "attention: {} is given twice", term.name);
    const bool one_only = term.role == Role::score || term.role == Role::normaliser;
    HEED_CHECK(!one_only || other.term->role != term.role, "attention: {} and {} are both a {}", other.term->name,
               term.name, term.role == Role::score ? "score" : "normaliser");
  }
  Chosen& chosen = chosen_.emplace_back(Chosen{&term, {}});
  for (const AttentionTerm::Number& number : term.numbers) chosen.numbers.push_back(number.value);
  if (bracket == text.npos) return;
  HEED_CHECK(text.back() == ')', "attention: \"{}\" must end with a bracket", printable(text));
  std::vector<bool> given(term.numbers.size());
  std::vector<double> list;
  std::size_t place = 0;
  split(text.substr(bracket + 1, text.size() - bracket - 2), ',', [&](std::string_view number) {
    if (!read_list(term, number, list)) read_number(term, number, place++, given, chosen.numbers);
  });
  chosen.numbers.insert(chosen.numbers.end(), list.begin(), list.end());
}

std::string AttentionChoice::text() const {
  if (chosen_.empty()) return "scaled_dot";
  std::string all;
  for (const Chosen& chosen : chosen_) {
    std::string numbers;
    const std::size_t in_order = chosen.term->numbers.size();
    for (std::size_t i = 0; i < in_order; ++i) {
      const AttentionTerm::Number& number = chosen.term->numbers[i];
      if (chosen.numbers[i] == number.value) continue;
      numbers += fmt::format("{}{}={}", numbers.empty() ? "" : ", ", number.name, chosen.numbers[i]);
    }
    if (const std::span list = std::span(chosen.numbers).subspan(in_order); !list.empty()) {
      numbers += fmt::format("{}{}={}", numbers.empty() ? "" : ", ", chosen.term->list, fmt::join(list, ":"));
    }
    all += (all.empty() ? "" : " + ") + std::string(chosen.term->name);
    if (!numbers.empty()) all += "(" + numbers + ")";
  }
  return all;
}

LayerAttention AttentionChoice::make(const AttentionTerm::Layer& layer) const {
  LayerAttention made;
  for (const Chosen& chosen : chosen_) chosen.term->apply(chosen.numbers, layer, made);
  return made;
}

}  // namespace heed
