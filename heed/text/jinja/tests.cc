#include "heed/text/jinja/tests.h"

#include <algorithm>
#include <array>
#include <utility>

#include "heed/base/printable.h"
#include "heed/text/jinja/operators.h"
#include "heed/text/jinja/printing.h"
#include "heed/text/jinja/texts.h"

namespace heed::jinja {
namespace {

struct Plain {
  std::string_view name;
  bool (*holds)(const Value&);
};

bool is_countable(const Value& value) {
  return value.is_undefined() || value.is_text() || value.as_dict() != nullptr ||
         (value.as_list() != nullptr && value.as_list()->form != Form::generator);
}

constexpr std::array<Plain, 15> kPlain = {{
    {"defined", [](const Value& value) { return !value.is_undefined(); }},
    {"undefined", [](const Value& value) { return value.is_undefined(); }},
    {"none", [](const Value& value) { return value.is_none(); }},
    {"string", [](const Value& value) { return value.is_text(); }},
    {"mapping", [](const Value& value) { return value.as_dict() != nullptr; }},
    {"sequence", is_countable},
    {"iterable", [](const Value& value) { return is_countable(value) || value.as_list() != nullptr; }},
    {"number", [](const Value& value) { return value.is_number(); }},
    {"integer", [](const Value& value) { return value.is<std::int64_t>(); }},
    {"float", [](const Value& value) { return value.is<double>(); }},
    {"boolean", [](const Value& value) { return value.is<bool>(); }},
    {"true", [](const Value& value) { return value.is<bool>() && value.boolean(); }},
    {"false", [](const Value& value) { return value.is<bool>() && !value.boolean(); }},
    {"callable", [](const Value& value) { return value.is_undefined() || value.as_callable() != nullptr; }},
    {"escaped", [](const Value&) { return false; }},
}};

// Names of signs, and signs.
constexpr std::array<std::pair<std::string_view, std::string_view>, 17> kSignsOfTests = {{{"eq", "=="},
                                                                                          {"equalto", "=="},
                                                                                          {"==", "=="},
                                                                                          {"ne", "!="},
                                                                                          {"!=", "!="},
                                                                                          {"gt", ">"},
                                                                                          {"greaterthan", ">"},
                                                                                          {">", ">"},
                                                                                          {"lt", "<"},
                                                                                          {"lessthan", "<"},
                                                                                          {"<", "<"},
                                                                                          {"ge", ">="},
                                                                                          {">=", ">="},
                                                                                          {"le", "<="},
                                                                                          {"<=", "<="},
                                                                                          {"in", "in"},
                                                                                          {"sameas", "=="}}};

const Value& only(Run& run, std::string_view name, const Arguments& arguments) {
  if (arguments.positional.size() != 1 || !arguments.named.empty()) run.refuse("the test '{}' wants one value", name);
  return arguments.positional.front();
}

bool leaves(Run& run, const Value& value, const Value& by, std::int64_t rest) {
  return equal(run, calculated(run, "%", value, by), Value(rest));
}

}  // namespace

bool passes_test(Run& run, std::string_view name, const Value& value, const Arguments& arguments) {
  run.spend(1);
  if (const auto* plain = std::ranges::find(kPlain, name, &Plain::name); plain != kPlain.end()) {
    arguments.bound(run, name, {});
    return plain->holds(value);
  }
  const auto* const sign = std::ranges::find(kSignsOfTests, name, [](const auto& row) { return row.first; });
  if (sign != kSignsOfTests.end()) {
    const Value& other = only(run, name, arguments);
    if (name == "sameas" && type_name(value) != type_name(other)) return false;
    return compared(run, sign->second, value, other);
  }
  if (name == "divisibleby") return leaves(run, value, only(run, name, arguments), 0);
  if (name == "odd" || name == "even" || name == "lower" || name == "upper") {
    arguments.bound(run, name, {});
    if (name == "odd" || name == "even") return leaves(run, value, Value(std::int64_t{2}), name == "odd" ? 1 : 0);
    const std::string text = printed(run, value);
    const std::string lower = in_lower_case(text), upper = in_upper_case(text);
    return lower != upper && text == (name == "lower" ? lower : upper);
  }
  run.refuse("the test '{}' is not known here", printable(name));
}

}  // namespace heed::jinja
