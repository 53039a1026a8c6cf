#include "heed/text/jinja/globals.h"

#include "heed/base/printable.h"
#include "heed/text/jinja/printing.h"

namespace heed::jinja {
namespace {

constexpr std::int64_t kLongestRange = 100'000;  // as in Jinja2's sandbox
constexpr std::size_t kLongestReason = 300;

Value range(Run& run, const Arguments& arguments) {
  const auto given = arguments.bound(run, "range", {"start", "stop", "step"});
  std::int64_t numbers[3] = {0, 0, 1};
  for (std::size_t i = 0; i < 3; ++i) {
    if (!given[i]) continue;
    must_be_defined(run, *given[i]);
    if (!given[i]->is_integer()) run.refuse("'range' is of whole numbers, and not of {}", type_name(*given[i]));
    numbers[i] = given[i]->integer();
  }
  if (!given[0]) run.refuse("'range' wants a number");
  const std::int64_t start = given[1] ? numbers[0] : 0, stop = given[1] ? numbers[1] : numbers[0], step = numbers[2];
  if (step == 0) run.refuse("'range' with a step of 0");
  std::vector<Value> all;
  for (std::int64_t at = start; step > 0 ? at < stop : at > stop;) {
    if (std::ssize(all) >= kLongestRange) run.refuse("'range' of more than {} numbers", kLongestRange);
    all.emplace_back(at);
    if (__builtin_add_overflow(at, step, &at)) break;
  }
  return Value::list(run, std::move(all));
}

// Members of a mapping or pairs, and those that are named.
std::vector<std::pair<Value, Value>> members_given(Run& run, const Arguments& arguments) {
  std::vector<std::pair<Value, Value>> members;
  if (arguments.positional.size() > 1) run.refuse("'dict' and 'namespace' are of one mapping");
  if (!arguments.positional.empty()) {
    const Value& from = arguments.positional.front();
    must_be_defined(run, from);
    if (const Dict* dict = from.as_dict()) {
      members = dict->members;
    } else {
      for (const Value& item : items_of(run, from)) {
        const std::vector<Value> pair = items_of(run, item);
        if (pair.size() != 2) run.refuse("'dict' is of pairs");
        set_member(run, members, pair[0], pair[1]);
      }
    }
  }
  for (const auto& [name, value] : arguments.named) set_member(run, members, Value(name), value);
  return members;
}

Value make_dict(Run& run, const Arguments& arguments) { return Value::dict(run, members_given(run, arguments)); }

Value make_namespace(Run& run, const Arguments& arguments) {
  auto made = std::make_shared<Namespace>();
  run.keep(made);
  for (auto& [name, value] : members_given(run, arguments)) made->set(run, printed(run, name), std::move(value));
  return Value(std::shared_ptr<Object>(std::move(made)));
}

Value raise_exception(Run& run, const Arguments& arguments) {
  const auto given = arguments.bound(run, "raise_exception", {"message"});
  run.refuse("{}", printable(given[0] ? printed(run, *given[0]) : std::string(), kLongestReason));
}

}  // namespace

void set_globals(Run& run, Scope& scope) {
  scope.set("range", Value::callable(run, "range", range));
  scope.set("dict", Value::callable(run, "dict", make_dict));
  scope.set("namespace", Value::callable(run, "namespace", make_namespace));
  scope.set("raise_exception", Value::callable(run, "raise_exception", raise_exception));
}

}  // namespace heed::jinja
