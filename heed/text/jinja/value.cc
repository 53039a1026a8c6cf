#include "heed/text/jinja/value.h"

#include <algorithm>
#include <cmath>

#include "heed/base/printable.h"
#include "heed/unicode/unicode.h"

namespace heed::jinja {
namespace {

int depth_of(const Value& value) {
  if (const List* list = value.as_list()) return list->depth;
  if (const Dict* dict = value.as_dict()) return dict->depth;
  if (const Callable* callable = value.as_callable()) return callable->depth;
  if (const Object* object = value.as_object()) return object->depth();
  return 0;
}

// The depth of what holds values of at most this one.
int depth_around(const Run& run, int depth) {
  if (depth >= Run::kDeepestValue) run.refuse("values more than {} within each other", Run::kDeepestValue);
  return depth + 1;
}

bool equal_numbers(const Value& a, const Value& b) {
  if (a.is_integer() && b.is_integer()) return a.integer() == b.integer();
  return a.number() == b.number();
}

bool equal_lists(Run& run, const List& a, const List& b) {
  if (a.form == Form::generator || a.form != b.form) return &a == &b;
  return std::ranges::equal(a.items, b.items, [&](const Value& x, const Value& y) { return equal(run, x, y); });
}

bool equal_dicts(Run& run, const Dict& a, const Dict& b) {
  if (a.members.size() != b.members.size()) return false;
  return std::ranges::all_of(a.members, [&](const auto& one) {
    const Value* const other = member(run, b, one.first);
    return other != nullptr && equal(run, one.second, *other);
  });
}

}  // namespace

Value Value::list(Run& run, std::vector<Value> items, Form form) {
  run.spend(std::ssize(items));
  int deepest = 0;
  for (const Value& item : items) deepest = std::max(deepest, depth_of(item));
  Value made;
  made.is_ = std::make_shared<const List>(List{std::move(items), form, depth_around(run, deepest)});
  return made;
}

Value Value::dict(Run& run, std::vector<std::pair<Value, Value>> members) {
  run.spend(std::ssize(members));
  int deepest = 0;
  for (const auto& [key, value] : members) deepest = std::max({deepest, depth_of(key), depth_of(value)});
  Value made;
  made.is_ = std::make_shared<const Dict>(Dict{std::move(members), depth_around(run, deepest)});
  return made;
}

Value Value::callable(Run& run, std::string name, std::function<Value(Run&, const Arguments&)> call,
                      const Value* self) {
  const int depth = depth_around(run, self == nullptr ? 0 : depth_of(*self));
  Value made;
  made.is_ = std::make_shared<const Callable>(Callable{std::move(name), std::move(call), depth});
  return made;
}

const std::string& Value::why_undefined() const {
  static const std::string unnamed = "a value is undefined";
  const auto& why = std::get<Undefined>(is_).why;
  return why == nullptr ? unnamed : *why;
}

const List* Value::as_list() const {
  const auto* const held = std::get_if<std::shared_ptr<const List>>(&is_);
  return held == nullptr ? nullptr : held->get();
}
const Dict* Value::as_dict() const {
  const auto* const held = std::get_if<std::shared_ptr<const Dict>>(&is_);
  return held == nullptr ? nullptr : held->get();
}
const Callable* Value::as_callable() const {
  const auto* const held = std::get_if<std::shared_ptr<const Callable>>(&is_);
  return held == nullptr ? nullptr : held->get();
}
const Object* Value::as_object() const {
  const auto* const held = std::get_if<std::shared_ptr<Object>>(&is_);
  return held == nullptr ? nullptr : held->get();
}
Namespace* Value::as_namespace() const {
  const auto* const held = std::get_if<std::shared_ptr<Object>>(&is_);
  return held == nullptr ? nullptr : dynamic_cast<Namespace*>(held->get());
}

std::optional<Value> Namespace::attribute(Run& run, std::string_view name) const {
  run.spend(std::ssize(members));
  for (const auto& [key, value] : members) {
    if (key == name) return value;
  }
  return std::nullopt;
}

void Namespace::set(Run& run, std::string_view name, Value value) {
  run.spend(std::ssize(members));
  for (auto& [key, held] : members) {
    if (key != name) continue;
    held = std::move(value);
    return;
  }
  members.emplace_back(name, std::move(value));
}

void Namespace::forget() { members.clear(); }

std::vector<std::optional<Value>> Arguments::bound(Run& run, std::string_view what,
                                                   const std::vector<std::string_view>& parameters) const {
  std::vector<std::optional<Value>> all(parameters.size());
  if (positional.size() > parameters.size()) {
    run.refuse("{} takes {} arguments at most, and is given {}", printable(what), parameters.size(), positional.size());
  }
  std::ranges::copy(positional, all.begin());
  for (const auto& [name, value] : named) {
    const auto found = std::ranges::find(parameters, name);
    if (found == parameters.end()) run.refuse("{} has no argument '{}'", printable(what), printable(name));
    auto& one = all[static_cast<std::size_t>(found - parameters.begin())];
    if (one) run.refuse("{} is given the argument '{}' twice", printable(what), printable(name));
    one = value;
  }
  return all;
}

bool truth(const Value& value) {
  if (value.is_undefined() || value.is_none()) return false;
  if (value.is_integer()) return value.integer() != 0;
  if (value.is<double>()) return value.number() != 0;
  if (value.is_text()) return !value.text().empty();
  if (const List* list = value.as_list()) return list->form == Form::generator || !list->items.empty();
  if (const Dict* dict = value.as_dict()) return !dict->members.empty();
  return true;
}

std::string_view type_name(const Value& value) {
  if (value.is_undefined()) return "Undefined";
  if (value.is_none()) return "None";
  if (value.is<bool>()) return "bool";
  if (value.is_integer()) return "int";
  if (value.is<double>()) return "float";
  if (value.is_text()) return "str";
  if (value.as_dict() != nullptr) return "dict";
  if (value.as_callable() != nullptr) return "function";
  if (const Object* object = value.as_object()) return object->type();
  switch (value.as_list()->form) {
    case Form::tuple:
      return "tuple";
    case Form::generator:
      return "generator";
    default:
      return "list";
  }
}

bool equal(Run& run, const Value& a, const Value& b) {
  run.spend(1);
  if (a.is_number() && b.is_number()) return equal_numbers(a, b);
  if (a.is_text() && b.is_text()) {
    if (a.text().size() == b.text().size()) run.spend_on_text(a.text().size());
    return a.text() == b.text();
  }
  if (a.as_list() != nullptr && b.as_list() != nullptr) return equal_lists(run, *a.as_list(), *b.as_list());
  if (a.as_dict() != nullptr && b.as_dict() != nullptr) return equal_dicts(run, *a.as_dict(), *b.as_dict());
  if (a.as_object() != nullptr) return a.as_object() == b.as_object();
  if (a.as_callable() != nullptr) return a.as_callable() == b.as_callable();
  return (a.is_none() && b.is_none()) || (a.is_undefined() && b.is_undefined());
}

const Value* member(Run& run, const Dict& dict, const Value& key) {
  for (const auto& [name, value] : dict.members) {
    if (equal(run, name, key)) return &value;
  }
  return nullptr;
}

std::vector<Value> pairs_of(Run& run, const Dict& dict) {
  std::vector<Value> pairs;
  for (const auto& [key, value] : dict.members) pairs.push_back(Value::list(run, {key, value}, Form::tuple));
  return pairs;
}

void must_be_key(const Run& run, const Value& value) {
  const List* const list = value.as_list();
  if (value.as_dict() != nullptr || (list != nullptr && list->form == Form::list)) {
    run.refuse("'{}' object cannot be a key", type_name(value));
  }
  must_be_defined(run, value);
}

void set_member(Run& run, std::vector<std::pair<Value, Value>>& members, const Value& key, Value value) {
  must_be_key(run, key);
  for (auto& [name, held] : members) {
    if (!equal(run, name, key)) continue;
    held = std::move(value);
    return;
  }
  members.emplace_back(key, std::move(value));
}

std::vector<Value> items_of(Run& run, const Value& value) {
  std::vector<Value> items;
  if (const List* list = value.as_list()) {
    if (list->form == Form::generator && std::exchange(list->is_consumed, true)) return items;
    items = list->items;
  } else if (const Dict* dict = value.as_dict()) {
    for (const auto& [key, held] : dict->members) items.push_back(key);
  } else if (value.is_text()) {
    run.spend(std::ssize(value.text()));
    for_each_code_point(value.text(), [&](char32_t, std::string_view bytes) { items.emplace_back(bytes); });
  } else if (!value.is_undefined()) {
    run.refuse("'{}' object is not iterable", type_name(value));
  }
  run.spend(std::ssize(items));
  return items;
}

void must_be_defined(const Run& run, const Value& value) {
  if (value.is_undefined()) run.refuse("{}", value.why_undefined());
}

}  // namespace heed::jinja
