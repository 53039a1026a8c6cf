#include "heed/text/jinja/item_filters.h"

#include <algorithm>
#include <charconv>

#include "heed/base/printable.h"
#include "heed/base/utf8.h"
#include "heed/text/jinja/filters.h"
#include "heed/text/jinja/methods.h"
#include "heed/text/jinja/operators.h"
#include "heed/text/jinja/printing.h"
#include "heed/text/jinja/tests.h"
#include "heed/text/jinja/texts.h"

namespace heed::jinja {
namespace {

Value generated(Run& run, std::vector<Value> items) { return Value::list(run, std::move(items), Form::generator); }

// item.a.b.0 for "a.b.0", or item[3].
Value part_of(Run& run, const Value& item, const Value& path, const Value* otherwise = nullptr) {
  if (!path.is_text()) {
    const Value found = item_of(run, item, path);
    return found.is_undefined() && otherwise != nullptr ? *otherwise : found;
  }
  Value part = item;
  for (const Value& step : split(run, path.text(), ".", -1)) {
    std::int64_t index = 0;
    const std::string& name = step.text();
    const auto [last, error] = std::from_chars(name.data(), name.data() + name.size(), index);
    const bool is_index =
        !name.empty() && name.front() != '-' && error == std::errc() && last == name.data() + name.size();
    part = item_of(run, part, is_index ? Value(index) : step);
    if (part.is_undefined() && otherwise != nullptr) part = *otherwise;
  }
  return part;
}

// What items are compared by: an attribute where one is given, and texts without their case where it does not count.
Value key_of(Run& run, const Value& item, const std::optional<Value>& attribute, bool has_case) {
  Value key = attribute && !attribute->is_none() ? part_of(run, item, *attribute) : item;
  if (has_case || !key.is_text()) return key;
  run.spend_on_text(key.text().size());
  return Value(in_lower_case(key.text()));
}

Value length(Run& run, const Value& value, const Given&) {
  if (value.is_undefined()) return Value(std::int64_t{0});
  if (value.is_text()) return Value(static_cast<std::int64_t>(count_code_points(value.text())));
  if (const Dict* dict = value.as_dict()) return Value(static_cast<std::int64_t>(dict->members.size()));
  const List* const list = value.as_list();
  if (list == nullptr || list->form == Form::generator) run.refuse("'{}' object has no length", type_name(value));
  return Value(static_cast<std::int64_t>(list->items.size()));
}

Value join(Run& run, const Value& value, const Given& given) {
  const std::string between = given[0] ? printed(run, *given[0]) : "";
  std::string all;
  bool is_first = true;
  for (const Value& item : items_of(run, value)) {
    run.spend_on_text(between.size());
    if (!is_first) all += between;
    is_first = false;
    all += printed(run, given[1] && !given[1]->is_none() ? part_of(run, item, *given[1]) : item);
  }
  return Value(std::move(all));
}

template <bool kLast>
Value end_of(Run& run, const Value& value, const Given&) {
  const List* const list = value.as_list();
  if (kLast && list != nullptr && list->form == Form::generator) run.refuse("a generator has no last item");
  const std::vector<Value> items = items_of(run, value);
  if (items.empty())
    return Value::undefined(kLast ? "No last item, sequence was empty." : "No first item, sequence was empty.");
  return kLast ? items.back() : items.front();
}

Value to_list(Run& run, const Value& value, const Given&) { return Value::list(run, items_of(run, value)); }

Value members(Run& run, const Value& value, const Given&) {
  const Dict* const dict = value.as_dict();
  if (dict == nullptr && !value.is_undefined())
    run.refuse("'items' is for a mapping, and not for {}", type_name(value));
  return generated(run, dict == nullptr ? std::vector<Value>() : pairs_of(run, *dict));
}

// In order, of equal ones the first first, also where it is turned round.
void put_in_order(Run& run, std::vector<std::pair<Value, Value>>& keyed, bool is_reversed) {
  run.spend(std::ssize(keyed));
  std::ranges::stable_sort(keyed, [&](const auto& a, const auto& b) {
    return is_reversed ? order(run, b.first, a.first) < 0 : order(run, a.first, b.first) < 0;
  });
}

Value sorted(Run& run, std::vector<Value> items, const std::optional<Value>& attribute, bool has_case,
             bool is_reversed) {
  std::vector<std::pair<Value, Value>> keyed;
  for (Value& item : items) keyed.emplace_back(key_of(run, item, attribute, has_case), std::move(item));
  put_in_order(run, keyed, is_reversed);
  for (std::size_t i = 0; i < items.size(); ++i) items[i] = std::move(keyed[i].second);
  return Value::list(run, std::move(items));
}

// Several attributes with commas between them are sorted by in turn.
Value sort(Run& run, const Value& value, const Given& given) {
  if (given[2] && given[2]->is_text() && given[2]->text().find(',') != std::string::npos) {
    run.refuse("'sort' by several attributes is not read here");
  }
  return sorted(run, items_of(run, value), given[2], is_set(given[1]), is_set(given[0]));
}

Value sort_members(Run& run, const Value& value, const Given& given) {
  must_be_defined(run, value);
  if (value.as_dict() == nullptr) run.refuse("'dictsort' is for a dict, and not for {}", type_name(value));
  const bool by_value = given[1] && given[1]->is_text() && given[1]->text() == "value";
  return sorted(run, pairs_of(run, *value.as_dict()), Value(std::int64_t{by_value ? 1 : 0}), is_set(given[0]),
                is_set(given[2]));
}

Value reverse(Run& run, const Value& value, const Given&) {
  std::vector<Value> items = items_of(run, value);
  std::ranges::reverse(items);
  if (!value.is_text()) return generated(run, std::move(items));
  std::string text;
  for (const Value& item : items) text += item.text();
  return Value(std::move(text));
}

Value unique(Run& run, const Value& value, const Given& given) {
  std::vector<Value> kept, keys;
  for (const Value& item : items_of(run, value)) {
    const Value key = key_of(run, item, given[1], is_set(given[0]));
    if (!key.is_undefined()) must_be_key(run, key);
    if (std::ranges::any_of(keys, [&](const Value& other) { return equal(run, other, key); })) continue;
    keys.push_back(key);
    kept.push_back(item);
  }
  return generated(run, std::move(kept));
}

template <bool kGreatest>
Value extreme(Run& run, const Value& value, const Given& given) {
  std::optional<Value> best, best_key;
  for (const Value& item : items_of(run, value)) {
    const Value key = key_of(run, item, given[1], is_set(given[0]));
    if (best && (kGreatest ? order(run, key, *best_key) <= 0 : order(run, key, *best_key) >= 0)) continue;
    best = item;
    best_key = key;
  }
  return best ? *best : Value::undefined("No aggregated item, sequence was empty.");
}

Value total(Run& run, const Value& value, const Given& given) {
  Value sum = given[1].value_or(Value(std::int64_t{0}));
  for (const Value& item : items_of(run, value)) {
    sum = calculated(run, "+", sum, given[0] && !given[0]->is_none() ? part_of(run, item, *given[0]) : item);
  }
  return sum;
}

Value attribute(Run& run, const Value& value, const Given& given) {
  if (!given[0]) run.refuse("'attr' wants a name");
  const std::string name = printed(run, *given[0]);
  if (value.as_dict() == nullptr) return attribute_of(run, value, name);
  return method_of(run, value, name).value_or(Value());  // and no member
}

Value batch(Run& run, const Value& value, const Given& given) {
  if (!given[0] || !given[0]->is_integer() || given[0]->integer() < 1) run.refuse("'batch' wants a number");
  const auto size = static_cast<std::size_t>(given[0]->integer());
  std::vector<Value> batches, now;
  const auto close = [&] {
    batches.push_back(Value::list(run, std::move(now)));
    now.clear();
  };
  for (Value& item : items_of(run, value)) {
    if (now.size() == size) close();
    now.push_back(std::move(item));
  }
  if (now.empty()) return generated(run, std::move(batches));
  if (given[1] && !given[1]->is_none()) {
    run.spend(static_cast<Index>(size - now.size()));
    now.resize(size, *given[1]);
  }
  close();
  return generated(run, std::move(batches));
}

Arguments behind(const Arguments& arguments, std::size_t first) {
  return {{arguments.positional.begin() + static_cast<std::ptrdiff_t>(first), arguments.positional.end()},
          arguments.named};
}

const std::string& name_given(Run& run, const Arguments& arguments, std::size_t at) {
  const Value& name = arguments.positional[at];
  if (!name.is_text()) run.refuse("a name must be a str, and is {}", type_name(name));
  return name.text();
}

Value mapped(Run& run, const Value& value, const Arguments& arguments) {
  std::vector<Value> made;
  if (!truth(value)) return generated(run, {});  // whatever it is, as Jinja2
  if (arguments.positional.empty()) {
    const Given given = arguments.bound(run, "map", {"attribute", "default"});
    if (!given[0]) run.refuse("'map' wants an attribute or a filter");
    for (const Value& item : items_of(run, value)) {
      made.push_back(part_of(run, item, *given[0], given[1] ? &*given[1] : nullptr));
    }
  } else {
    const std::string& name = name_given(run, arguments, 0);
    const Arguments rest = behind(arguments, 1);
    for (const Value& item : items_of(run, value)) made.push_back(filtered(run, name, item, rest));
  }
  return generated(run, std::move(made));
}

// Of those items, or items with an attribute, that pass a test, or fail.
Value selected(Run& run, const Value& value, const Arguments& arguments, bool by_attribute, bool keeps) {
  const std::size_t first = by_attribute ? 1 : 0;
  if (arguments.positional.size() < first) run.refuse("an attribute is missing");
  const bool has_test = arguments.positional.size() > first;
  const std::string* const test = has_test ? &name_given(run, arguments, first) : nullptr;
  const Arguments rest = has_test ? behind(arguments, first + 1) : Arguments();
  std::vector<Value> kept;
  if (!truth(value)) return generated(run, {});  // whatever it is, as Jinja2
  for (const Value& item : items_of(run, value)) {
    const Value tested = by_attribute ? part_of(run, item, arguments.positional[0]) : item;
    if ((has_test ? passes_test(run, *test, tested, rest) : truth(tested)) == keeps) kept.push_back(item);
  }
  return generated(run, std::move(kept));
}

}  // namespace

const std::vector<Filter>& item_filters() {
  static const std::vector<Filter> filters = {
      {"length", {}, length},
      {"count", {}, length},
      {"join", {"d", "attribute"}, join},
      {"first", {}, end_of<false>},
      {"last", {}, end_of<true>},
      {"list", {}, to_list},
      {"items", {}, members},
      {"sort", {"reverse", "case_sensitive", "attribute"}, sort},
      {"dictsort", {"case_sensitive", "by", "reverse"}, sort_members},
      {"reverse", {}, reverse},
      {"unique", {"case_sensitive", "attribute"}, unique},
      {"min", {"case_sensitive", "attribute"}, extreme<false>},
      {"max", {"case_sensitive", "attribute"}, extreme<true>},
      {"sum", {"attribute", "start"}, total},
      {"attr", {"name"}, attribute},
      {"batch", {"linecount", "fill_with"}, batch},
  };
  return filters;
}

std::optional<Value> filtered_by_another(Run& run, std::string_view name, const Value& value,
                                         const Arguments& arguments) {
  const Run::Level level(run);
  if (name == "map") return mapped(run, value, arguments);
  const bool selects = name == "select" || name == "selectattr", rejects = name == "reject" || name == "rejectattr";
  if (!selects && !rejects) return std::nullopt;
  return selected(run, value, arguments, name.ends_with("attr"), selects);
}

}  // namespace heed::jinja
