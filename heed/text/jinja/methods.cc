#include "heed/text/jinja/methods.h"

#include <algorithm>
#include <array>

#include "heed/base/printable.h"
#include "heed/base/utf8.h"
#include "heed/text/jinja/given.h"
#include "heed/text/jinja/printing.h"
#include "heed/text/jinja/texts.h"
#include "heed/unicode/unicode.h"

namespace heed::jinja {
namespace {

struct Method {
  std::string_view name;
  std::vector<std::string_view> parameters;
  Value (*call)(Run&, const Value& self, const Given& given);
};

template <Sides kSides>
Value strip(Run& run, const Value& self, const Given& given) {
  run.spend_on_text(self.text().size());
  return Value(stripped(self.text(), text_or_none(run, given[0]), kSides));
}

template <std::string (*kChange)(std::string_view)>
Value changed(Run& run, const Value& self, const Given&) {
  run.spend_on_text(self.text().size());
  return Value(kChange(self.text()));
}

// The part of a text that is looked at, between the second and the third argument, in code points.
struct Window {
  std::string_view bytes;
  Index begin;  // in code points
  bool is_there;
};
Window window(Run& run, const std::string& text, const Given& given) {
  run.spend_on_text(text.size());
  const Index size = count_code_points(text);
  const auto clamped = [&](const std::optional<Value>& value, Index otherwise) {
    const Index at = whole_given(run, value, otherwise);
    return at < 0 ? std::max<Index>(at < -size ? 0 : at + size, 0) : at;
  };
  const Index begin = clamped(given[1], 0), end = std::min(clamped(given[2], size), size);
  if (begin > end) return {{}, begin, false};
  const auto bytes_to = [&](Index points) {
    std::size_t at = 0;
    for (; points > 0; --points) at += utf8_length(text[at]);
    return at;
  };
  const std::size_t first = bytes_to(begin);
  return {std::string_view(text).substr(first, bytes_to(end) - first), begin, true};
}

template <bool kFromRight>
Index found(Run& run, const Value& self, const Given& given) {
  const Window seen = window(run, self.text(), given);
  const std::string& sought = text_given(run, given[0]);
  if (!seen.is_there) return -1;
  const std::size_t at = kFromRight ? seen.bytes.rfind(sought) : seen.bytes.find(sought);
  return at == std::string_view::npos ? -1 : seen.begin + count_code_points(seen.bytes.substr(0, at));
}
template <bool kFromRight>
Value find(Run& run, const Value& self, const Given& given) {
  return Value(static_cast<std::int64_t>(found<kFromRight>(run, self, given)));
}
template <bool kFromRight>
Value index_of_text(Run& run, const Value& self, const Given& given) {
  const Index at = found<kFromRight>(run, self, given);
  if (at < 0) run.refuse("'{}' is not in the text", printable(text_given(run, given[0])));
  return Value(static_cast<std::int64_t>(at));
}

Value count_of_text(Run& run, const Value& self, const Given& given) {
  const Window seen = window(run, self.text(), given);
  const std::string& sought = text_given(run, given[0]);
  if (!seen.is_there) return Value(std::int64_t{0});
  if (sought.empty()) return Value(static_cast<std::int64_t>(count_code_points(seen.bytes) + 1));
  std::int64_t count = 0;
  for (std::size_t at = seen.bytes.find(sought); at != seen.bytes.npos;
       at = seen.bytes.find(sought, at + sought.size())) {
    ++count;
  }
  return Value(count);
}

template <bool kEnds>
Value begins_or_ends(Run& run, const Value& self, const Given& given) {
  if (!given[0]) run.refuse("an argument is missing");
  const Window seen = window(run, self.text(), given);
  const auto holds = [&](const std::string& text) {
    return seen.is_there && (kEnds ? seen.bytes.ends_with(text) : seen.bytes.starts_with(text));
  };
  const List* const several = given[0]->as_list();
  if (several == nullptr || several->form != Form::tuple) return Value(holds(text_given(run, given[0])));
  return Value(std::ranges::any_of(several->items, [&](const Value& one) { return holds(text_given(run, one)); }));
}

template <bool kFromRight>
Value split_text(Run& run, const Value& self, const Given& given) {
  const auto separator = text_or_none(run, given[0]);
  const Index most = whole_given(run, given[1], -1);
  return Value::list(run, (kFromRight ? split_from_right : split)(run, self.text(), separator, most));
}

template <bool kFromRight>
Value partition(Run& run, const Value& self, const Given& given) {
  const std::string& text = self.text();
  const std::string& separator = text_given(run, given[0]);
  if (separator.empty()) run.refuse("an empty separator");
  run.spend_on_text(text.size());
  const std::size_t at = kFromRight ? text.rfind(separator) : text.find(separator);
  std::vector<Value> parts = {Value(""), Value(""), Value("")};
  if (at == std::string::npos) {
    parts[kFromRight ? 2 : 0] = self;
  } else {
    parts = {Value(text.substr(0, at)), Value(separator), Value(text.substr(at + separator.size()))};
  }
  return Value::list(run, std::move(parts), Form::tuple);
}

Value split_lines(Run& run, const Value& self, const Given& given) {
  run.spend_on_text(self.text().size());
  std::vector<Value> lines;
  for (std::string& line : lines_of(self.text(), is_set(given[0]))) lines.emplace_back(std::move(line));
  return Value::list(run, std::move(lines));
}

Value replace_text(Run& run, const Value& self, const Given& given) {
  return Value(with_replaced(run, self.text(), text_given(run, given[0]), text_given(run, given[1]),
                             whole_given(run, given[2], -1)));
}

Value join_texts(Run& run, const Value& self, const Given& given) {
  if (!given[0]) run.refuse("an argument is missing");
  std::string all;
  bool is_first = true;
  for (const Value& item : items_of(run, *given[0])) {
    if (!is_first) all += self.text();
    is_first = false;
    all += text_given(run, item);
    run.spend_on_text(self.text().size() + item.text().size());
  }
  return Value(std::move(all));
}

template <bool kAtEnd>
Value without(Run& run, const Value& self, const Given& given) {
  run.spend_on_text(self.text().size());
  const std::string& part = text_given(run, given[0]);
  std::string_view text = self.text();
  if (kAtEnd ? !text.ends_with(part) : !text.starts_with(part)) return self;
  return Value(kAtEnd ? text.substr(0, text.size() - part.size()) : text.substr(part.size()));
}

template <bool (*kIs)(char32_t)>
Value all_are(Run& run, const Value& self, const Given&) {
  run.spend_on_text(self.text().size());
  bool all = !self.text().empty();
  for_each_code_point(self.text(), [&](char32_t c, std::string_view) { all = all && kIs(c); });
  return Value(all);
}
bool is_letter_or_number(char32_t c) { return is_letter(c) || is_number(c); }

template <std::string (*kChange)(std::string_view), std::string (*kOther)(std::string_view)>
Value is_as_changed(Run& run, const Value& self, const Given&) {
  run.spend_on_text(self.text().size());
  return Value(self.text() == kChange(self.text()) && self.text() != kOther(self.text()));
}

Value filled_with_zeros(Run& run, const Value& self, const Given& given) {
  constexpr Index kWidestText = 10'000;
  const Index width = whole_given(run, given[0], 0);
  if (width > kWidestText) run.refuse("a width of more than {}", kWidestText);
  std::string text = self.text();
  const Index missing = width - count_code_points(text);
  const std::size_t begin = text.starts_with('-') || text.starts_with('+') ? 1 : 0;
  if (missing > 0) text.insert(begin, static_cast<std::size_t>(missing), '0');
  return Value(std::move(text));
}

const std::vector<Method>& methods_of_text() {
  static const std::vector<Method> methods = {
      {"strip", {"chars"}, strip<Sides::both>},
      {"lstrip", {"chars"}, strip<Sides::left>},
      {"rstrip", {"chars"}, strip<Sides::right>},
      {"split", {"sep", "maxsplit"}, split_text<false>},
      {"rsplit", {"sep", "maxsplit"}, split_text<true>},
      {"splitlines", {"keepends"}, split_lines},
      {"partition", {"sep"}, partition<false>},
      {"rpartition", {"sep"}, partition<true>},
      {"startswith", {"prefix", "start", "end"}, begins_or_ends<false>},
      {"endswith", {"suffix", "start", "end"}, begins_or_ends<true>},
      {"removeprefix", {"prefix"}, without<false>},
      {"removesuffix", {"suffix"}, without<true>},
      {"upper", {}, changed<in_upper_case>},
      {"lower", {}, changed<in_lower_case>},
      {"title", {}, changed<in_title_case>},
      {"capitalize", {}, changed<capitalized>},
      {"replace", {"old", "new", "count"}, replace_text},
      {"find", {"sub", "start", "end"}, find<false>},
      {"rfind", {"sub", "start", "end"}, find<true>},
      {"index", {"sub", "start", "end"}, index_of_text<false>},
      {"rindex", {"sub", "start", "end"}, index_of_text<true>},
      {"count", {"sub", "start", "end"}, count_of_text},
      {"join", {"iterable"}, join_texts},
      {"zfill", {"width"}, filled_with_zeros},
      {"isdigit", {}, all_are<is_number>},
      {"isnumeric", {}, all_are<is_number>},
      {"isdecimal", {}, all_are<is_number>},
      {"isalpha", {}, all_are<is_letter>},
      {"isalnum", {}, all_are<is_letter_or_number>},
      {"isspace", {}, all_are<is_space>},
      {"isupper", {}, is_as_changed<in_upper_case, in_lower_case>},
      {"islower", {}, is_as_changed<in_lower_case, in_upper_case>},
  };
  return methods;
}

Value get(Run& run, const Value& self, const Given& given) {
  if (!given[0]) run.refuse("an argument is missing");
  const Value* const held = member(run, *self.as_dict(), *given[0]);
  return held != nullptr ? *held : given[1].value_or(Value(None{}));
}

Value members_of(Run& run, const Value& self, const Given&) { return Value::list(run, pairs_of(run, *self.as_dict())); }

template <bool kKeys>
Value keys_or_values(Run& run, const Value& self, const Given&) {
  std::vector<Value> parts;
  for (const auto& [key, value] : self.as_dict()->members) parts.push_back(kKeys ? key : value);
  return Value::list(run, std::move(parts));
}

Value same(Run&, const Value& self, const Given&) { return self; }

const std::vector<Method>& methods_of_dict() {
  static const std::vector<Method> methods = {{"get", {"key", "default"}, get},
                                              {"items", {}, members_of},
                                              {"keys", {}, keys_or_values<true>},
                                              {"values", {}, keys_or_values<false>},
                                              {"copy", {}, same}};
  return methods;
}

Value count_of_items(Run& run, const Value& self, const Given& given) {
  if (!given[0]) run.refuse("an argument is missing");
  std::int64_t count = 0;
  for (const Value& item : self.as_list()->items) count += equal(run, item, *given[0]) ? 1 : 0;
  return Value(count);
}

Value index_of_item(Run& run, const Value& self, const Given& given) {
  if (!given[0]) run.refuse("an argument is missing");
  const std::vector<Value>& items = self.as_list()->items;
  const auto found = std::ranges::find_if(items, [&](const Value& item) { return equal(run, item, *given[0]); });
  if (found == items.end()) run.refuse("{} is not in the list", printable(represented(run, *given[0])));
  return Value(static_cast<std::int64_t>(found - items.begin()));
}

const std::vector<Method>& methods_of_list() {
  static const std::vector<Method> methods = {
      {"count", {"value"}, count_of_items}, {"index", {"value"}, index_of_item}, {"copy", {}, same}};
  return methods;
}

constexpr std::array<std::string_view, 8> kChangesOfList = {"append", "clear",  "extend",  "insert",
                                                            "pop",    "remove", "reverse", "sort"};
constexpr std::array<std::string_view, 5> kChangesOfDict = {"clear", "pop", "popitem", "setdefault", "update"};

}  // namespace

std::optional<Value> method_of(Run& run, const Value& value, std::string_view name) {
  const bool is_list = value.as_list() != nullptr && value.as_list()->form != Form::generator;
  const bool is_dict = value.as_dict() != nullptr;
  if (!is_list && !is_dict && !value.is_text()) return std::nullopt;
  const bool changes = (is_list && std::ranges::find(kChangesOfList, name) != kChangesOfList.end()) ||
                       (is_dict && std::ranges::find(kChangesOfDict, name) != kChangesOfDict.end());
  if (changes) return Value::undefined(fmt::format("'{}' would change a {}", name, type_name(value)));
  if (value.is_text() && name == "format") {
    const auto fill = [value](Run& now, const Arguments& arguments) {
      return Value(filled(now, value.text(), arguments));
    };
    return Value::callable(run, "format", fill, &value);
  }
  const std::vector<Method>& methods = is_list ? methods_of_list() : is_dict ? methods_of_dict() : methods_of_text();
  const auto found = std::ranges::find(methods, name, &Method::name);
  if (found == methods.end()) return std::nullopt;
  const auto call = [value, method = &*found](Run& now, const Arguments& arguments) {
    return method->call(now, value, arguments.bound(now, method->name, method->parameters));
  };
  return Value::callable(run, std::string(name), call, &value);
}

}  // namespace heed::jinja
