#include "heed/text/jinja/text_filters.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "heed/base/replace_all.h"
#include "heed/text/jinja/operators.h"
#include "heed/text/jinja/printing.h"
#include "heed/text/jinja/texts.h"

namespace heed::jinja {
namespace {

template <std::string (*kChange)(std::string_view)>
Value changed_text(Run& run, const Value& value, const Given&) {
  return Value(kChange(printed(run, value)));
}

Value trim(Run& run, const Value& value, const Given& given) {
  std::optional<std::string> characters;
  if (given[0] && !given[0]->is_none()) characters = printed(run, *given[0]);
  return Value(stripped(printed(run, value), characters, Sides::both));
}

Value replace(Run& run, const Value& value, const Given& given) {
  if (!given[0] || !given[1]) run.refuse("'replace' wants what is replaced and by what");
  return Value(with_replaced(run, printed(run, value), printed(run, *given[0]), printed(run, *given[1]),
                             whole_given(run, given[2], -1)));
}

Value indent(Run& run, const Value& value, const Given& given) {
  constexpr std::int64_t kMostBlanks = 10'000;
  must_be_defined(run, value);
  if (!value.is_text()) run.refuse("'indent' is not for {}", type_name(value));
  std::string blanks;
  if (given[0] && given[0]->is_text()) {
    blanks = given[0]->text();
  } else {
    const std::int64_t width = whole_given(run, given[0], 4);
    if (width > kMostBlanks) run.refuse("'indent' by more than {}", kMostBlanks);
    blanks.assign(static_cast<std::size_t>(std::max<std::int64_t>(width, 0)), ' ');
  }
  const std::vector<std::string> lines = lines_of(value.text() + "\n", false);
  std::string all = is_set(given[1]) ? blanks : std::string();
  for (std::size_t i = 0; i < lines.size(); ++i) {
    run.spend_on_text(lines[i].size() + blanks.size() + Run::kBytesOfStep);
    if (i > 0) all += '\n';
    if (i > 0 && (is_set(given[2]) || !lines[i].empty())) all += blanks;
    all += lines[i];
  }
  return Value(std::move(all));
}

Value escape(Run& run, const Value& value, const Given&) {
  std::string text = replace_all(printed(run, value), "&", "&amp;");
  for (const auto& [from, to] : {std::pair("<", "&lt;"), {">", "&gt;"}, {"'", "&#39;"}, {"\"", "&#34;"}}) {
    text = replace_all(std::move(text), from, to);
  }
  run.spend_on_text(text.size());
  return Value(std::move(text));
}

Value as_text(Run& run, const Value& value, const Given&) { return Value(printed(run, value)); }

// ensure_ascii, separators and sort_keys are what they are without being said.
Value to_json(Run& run, const Value& value, const Given& given) {
  if (is_set(given[0]) || (given[2] && !given[2]->is_none()) || is_set(given[3])) {
    run.refuse("'tojson' is read with an indent alone");
  }
  std::optional<Index> indent;
  if (given[1] && !given[1]->is_none()) indent = whole_given(run, given[1], 0);
  return Value(as_json(run, value, indent));
}

std::optional<double> read_number(std::string_view text) {
  const bool has_plus = text.starts_with('+');
  const char* const end = text.data() + text.size();
  double number = 0;
  const auto [last, error] = std::from_chars(text.data() + (has_plus ? 1 : 0), end, number);
  if (error == std::errc() && last == end) return number;
  return std::nullopt;
}

Value to_whole(Run& run, const Value& value, const Given& given) {
  must_be_defined(run, value);
  const Value otherwise = given[0].value_or(Value(std::int64_t{0}));
  const std::int64_t base = whole_given(run, given[1], 10);
  if (base < 2 || base > 36) run.refuse("'int' with a base of {}", base);
  std::optional<double> number;
  if (value.is_text()) {
    std::string text = stripped(value.text(), std::nullopt, Sides::both);
    if (text.starts_with('+')) text.erase(0, 1);
    std::int64_t whole = 0;
    const char* const end = text.data() + text.size();
    const auto [last, error] = std::from_chars(text.data(), end, whole, static_cast<int>(base));
    if (error == std::errc() && last == end) return Value(whole);
    number = read_number(text);
  } else if (value.is_integer()) {
    return Value(value.integer());
  } else if (value.is<double>()) {
    number = value.number();
  }
  if (!number || !std::isfinite(*number)) return otherwise;
  if (std::abs(*number) >= 9.2e18) run.refuse("a whole number beyond 64 bits");
  return Value(static_cast<std::int64_t>(*number));
}

Value to_real(Run& run, const Value& value, const Given& given) {
  must_be_defined(run, value);
  if (value.is_number()) return Value(value.number());
  std::optional<double> number;
  if (value.is_text()) number = read_number(stripped(value.text(), std::nullopt, Sides::both));
  return number ? Value(*number) : given[0].value_or(Value(0.0));
}

Value rounded(Run& run, const Value& value, const Given& given) {
  must_be_defined(run, value);
  if (!value.is_number()) run.refuse("'round' is not for {}", type_name(value));
  const std::int64_t digits = whole_given(run, given[0], 0);
  if (digits < 0 || digits > 15) run.refuse("'round' to {} digits is not read here", digits);
  const std::string method = given[1] ? printed(run, *given[1]) : "common";
  if (method == "common") {
    if (value.is_integer()) return Value(value.integer());
    if (!std::isfinite(value.number())) return value;
    return Value(*read_number(fmt::format("{:.{}f}", value.number(), digits)));
  }
  if (method != "ceil" && method != "floor") run.refuse("'round' is common, ceil or floor");
  const double scale = std::pow(10.0, static_cast<double>(digits));
  const double scaled = value.number() * scale;
  return Value((method == "ceil" ? std::ceil(scaled) : std::floor(scaled)) / scale);
}

Value absolute(Run& run, const Value& value, const Given&) {
  must_be_defined(run, value);
  if (!value.is_number()) run.refuse("'abs' is not for {}", type_name(value));
  return signed_value(run, value.number() < 0 ? "-" : "+", value);
}

Value otherwise(Run&, const Value& value, const Given& given) {
  if (!value.is_undefined() && !(is_set(given[1]) && !truth(value))) return value;
  return given[0].value_or(Value(""));
}

}  // namespace

const std::vector<Filter>& text_filters() {
  static const std::vector<Filter> filters = {
      {"trim", {"chars"}, trim},
      {"upper", {}, changed_text<in_upper_case>},
      {"lower", {}, changed_text<in_lower_case>},
      {"title", {}, changed_text<in_filters_title_case>},
      {"capitalize", {}, changed_text<capitalized>},
      {"replace", {"old", "new", "count"}, replace},
      {"indent", {"width", "first", "blank"}, indent},
      {"escape", {}, escape},
      {"e", {}, escape},
      {"safe", {}, as_text},
      {"string", {}, as_text},
      {"tojson", {"ensure_ascii", "indent", "separators", "sort_keys"}, to_json},
      {"int", {"default", "base"}, to_whole},
      {"float", {"default"}, to_real},
      {"round", {"precision", "method"}, rounded},
      {"abs", {}, absolute},
      {"default", {"default_value", "boolean"}, otherwise},
      {"d", {"default_value", "boolean"}, otherwise},
  };
  return filters;
}

}  // namespace heed::jinja
