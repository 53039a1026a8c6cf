#include "heed/text/jinja/operators.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "heed/base/printable.h"
#include "heed/base/utf8.h"
#include "heed/text/jinja/methods.h"
#include "heed/text/jinja/printing.h"
#include "heed/text/jinja/texts.h"
#include "heed/unicode/unicode.h"

namespace heed::jinja {
namespace {

[[noreturn]] void refuse_types(Run& run, std::string_view sign, const Value& a, const Value& b) {
  must_be_defined(run, a);
  must_be_defined(run, b);
  run.refuse("'{}' is not for {} and {}", sign, type_name(a), type_name(b));
}

std::int64_t power(Run& run, std::int64_t base, std::int64_t exponent) {
  std::int64_t result = 1;
  bool overflows = false;
  for (; exponent > 0 && !overflows; exponent >>= 1) {
    if ((exponent & 1) != 0) overflows = __builtin_mul_overflow(result, base, &result);
    if (exponent > 1) overflows = overflows || __builtin_mul_overflow(base, base, &base);
  }
  if (overflows) run.refuse("a whole number beyond 64 bits");
  return result;
}

Value whole(Run& run, std::string_view sign, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  bool overflows = false;
  if (sign == "**") {
    if (b < 0) return Value(std::pow(static_cast<double>(a), static_cast<double>(b)));
    return Value(power(run, a, b));
  }
  if (sign == "+") {
    overflows = __builtin_add_overflow(a, b, &result);
  } else if (sign == "-") {
    overflows = __builtin_sub_overflow(a, b, &result);
  } else if (sign == "*") {
    overflows = __builtin_mul_overflow(a, b, &result);
  } else {
    if (b == 0) run.refuse("a division by zero");
    if (sign == "/") return Value(static_cast<double>(a) / static_cast<double>(b));
    overflows = b == -1 && a == std::numeric_limits<std::int64_t>::min();
    if (!overflows) {
      const std::int64_t rest = a % b;
      const bool rounds_down = rest != 0 && (rest < 0) != (b < 0);
      result = sign == "//" ? a / b - (rounds_down ? 1 : 0) : rest + (rounds_down ? b : 0);
    }
  }
  if (overflows) run.refuse("a whole number beyond 64 bits");
  return Value(result);
}

Value real(Run& run, std::string_view sign, double a, double b) {
  if (sign == "+") return Value(a + b);
  if (sign == "-") return Value(a - b);
  if (sign == "*") return Value(a * b);
  if (sign == "**") return Value(std::pow(a, b));
  if (b == 0) run.refuse("a division by zero");
  if (sign == "/") return Value(a / b);
  if (sign == "//") return Value(std::floor(a / b));
  const double rest = std::fmod(a, b);
  return Value(rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest);
}

Value added(Run& run, const Value& a, const Value& b) {
  if (a.is_text() && b.is_text()) {
    run.spend_on_text(a.text().size() + b.text().size());
    return Value(a.text() + b.text());
  }
  const List* const left = a.as_list();
  const List* const right = b.as_list();
  if (left == nullptr || right == nullptr || left->form != right->form || left->form == Form::generator) {
    refuse_types(run, "+", a, b);
  }
  run.spend(std::ssize(left->items) + std::ssize(right->items));
  std::vector<Value> items = left->items;
  items.insert(items.end(), right->items.begin(), right->items.end());
  return Value::list(run, std::move(items), left->form);
}

Value repeated(Run& run, const Value& value, std::int64_t times) {
  times = std::max<std::int64_t>(times, 0);
  const List* const list = value.as_list();
  const auto size = static_cast<std::int64_t>(list == nullptr ? value.text().size() : list->items.size());
  if (size > 0 && times > Run::kMostSteps * Run::kBytesOfStep / size) run.spend(Run::kMostSteps + 1);
  if (list == nullptr) {
    run.spend_on_text(static_cast<std::size_t>(size * times));
    std::string text;
    text.reserve(static_cast<std::size_t>(size * times));
    for (std::int64_t i = 0; i < (size > 0 ? times : 0); ++i) text += value.text();
    return Value(std::move(text));
  }
  run.spend(size * times);
  std::vector<Value> items;
  for (std::int64_t i = 0; i < (size > 0 ? times : 0); ++i) {
    items.insert(items.end(), list->items.begin(), list->items.end());
  }
  return Value::list(run, std::move(items), list->form);
}

bool can_be_repeated(const Value& value) {
  const List* const list = value.as_list();
  return value.is_text() || (list != nullptr && list->form != Form::generator);
}

int order_of_lists(Run& run, const List& a, const List& b) {
  for (std::size_t i = 0; i < std::min(a.items.size(), b.items.size()); ++i) {
    if (!equal(run, a.items[i], b.items[i])) return order(run, a.items[i], b.items[i]);
  }
  return a.items.size() < b.items.size() ? -1 : a.items.size() > b.items.size() ? 1 : 0;
}

bool contains(Run& run, const Value& value, const Value& sought) {
  if (value.is_text()) {
    if (!sought.is_text()) refuse_types(run, "in", sought, value);
    run.spend_on_text(value.text().size());
    return value.text().find(sought.text()) != std::string::npos;
  }
  if (const Dict* dict = value.as_dict()) {
    if (!sought.is_undefined()) must_be_key(run, sought);
    return member(run, *dict, sought) != nullptr;
  }
  const std::vector<Value> items = items_of(run, value);
  return std::ranges::any_of(items, [&](const Value& item) { return equal(run, item, sought); });
}

std::string described(const Value& value) {
  return value.is_none() ? "None" : fmt::format("{} object", type_name(value));
}

// The place that an index means, counted from the end where it is negative; -1 where there is none.
std::int64_t place(std::int64_t index, std::size_t size) {
  if (index < 0) index += static_cast<std::int64_t>(size);
  return index >= 0 && index < static_cast<std::int64_t>(size) ? index : -1;
}

std::string character(const std::string& text, std::int64_t index) {
  std::string_view rest = text;
  for (; index > 0; --index) rest.remove_prefix(utf8_length(rest.front()));
  return std::string(rest.substr(0, utf8_length(rest.front())));
}

std::int64_t bound(Run& run, const Value& value, std::int64_t otherwise) {
  if (value.is_undefined() || value.is_none()) return otherwise;
  if (!value.is_integer()) run.refuse("a slice is between whole numbers, and not {}", type_name(value));
  return value.integer();
}

// The places that a slice takes, in order.
std::vector<std::size_t> places(Run& run, std::size_t size, const Value& begin, const Value& end, const Value& step) {
  const auto length = static_cast<std::int64_t>(size);
  const std::int64_t by = bound(run, step, 1);
  if (by == 0) run.refuse("a slice's step is 0");
  const auto clamped = [&](const Value& value, std::int64_t otherwise) {
    std::int64_t at = bound(run, value, otherwise);
    if (value.is_undefined() || value.is_none()) return at;
    if (at < 0) at = at < -length ? -1 : at + length;
    return by > 0 ? std::clamp<std::int64_t>(at, 0, length) : std::min(at, length - 1);
  };
  const std::int64_t first = clamped(begin, by > 0 ? 0 : length - 1);
  const std::int64_t last = clamped(end, by > 0 ? length : -1);
  std::vector<std::size_t> all;
  if (by > 0) {
    for (std::int64_t at = first; at < last; at += by) {
      all.push_back(static_cast<std::size_t>(at));
      if (by >= last - at) break;
    }
  } else {
    for (std::int64_t at = first; at > last; at += by) {
      all.push_back(static_cast<std::size_t>(at));
      if (by <= last - at) break;
    }
  }
  run.spend(std::ssize(all));
  return all;
}

}  // namespace

Value calculated(Run& run, std::string_view sign, const Value& a, const Value& b) {
  if (a.is_integer() && b.is_integer()) return whole(run, sign, a.integer(), b.integer());
  if (a.is_number() && b.is_number()) return real(run, sign, a.number(), b.number());
  if (sign == "+") return added(run, a, b);
  if (sign == "*" && can_be_repeated(a) && b.is_integer()) return repeated(run, a, b.integer());
  if (sign == "*" && can_be_repeated(b) && a.is_integer()) return repeated(run, b, a.integer());
  if (sign == "%" && a.is_text()) {
    const List* const list = b.as_list();
    const bool is_tuple = list != nullptr && list->form == Form::tuple;
    return Value(formatted(run, a.text(), is_tuple ? list->items : std::vector<Value>{b}));
  }
  refuse_types(run, sign, a, b);
}

Value signed_value(Run& run, std::string_view sign, const Value& value) {
  must_be_defined(run, value);
  if (!value.is_number()) run.refuse("'{}' is not for {}", sign, type_name(value));
  if (value.is_integer()) return whole(run, sign, 0, value.integer());
  return Value(sign == "-" ? -value.number() : value.number());
}

int order(Run& run, const Value& a, const Value& b) {
  run.spend(1);
  if (a.is_number() && b.is_number()) {
    if (a.is_integer() && b.is_integer()) return a.integer() < b.integer() ? -1 : a.integer() > b.integer() ? 1 : 0;
    if (std::isnan(a.number()) || std::isnan(b.number())) run.refuse("what is not a number has no order");
    return a.number() < b.number() ? -1 : a.number() > b.number() ? 1 : 0;
  }
  if (a.is_text() && b.is_text()) {
    run.spend_on_text(std::min(a.text().size(), b.text().size()));
    return a.text().compare(b.text());
  }
  const List* const left = a.as_list();
  const List* const right = b.as_list();
  if (left == nullptr || right == nullptr || left->form != right->form || left->form == Form::generator) {
    refuse_types(run, "<", a, b);
  }
  return order_of_lists(run, *left, *right);
}

bool compared(Run& run, std::string_view sign, const Value& a, const Value& b) {
  if (sign == "==") return equal(run, a, b);
  if (sign == "!=") return !equal(run, a, b);
  if (sign == "in") return contains(run, b, a);
  if (sign == "not in") return !contains(run, b, a);
  const int which = order(run, a, b);
  if (sign == "<") return which < 0;
  if (sign == "<=") return which <= 0;
  if (sign == ">") return which > 0;
  return which >= 0;
}

Value attribute_of(Run& run, const Value& value, std::string_view name) {
  must_be_defined(run, value);
  const Dict* const dict = value.as_dict();
  if (name.starts_with('_') && dict == nullptr) {
    return Value::undefined(fmt::format("'{}' of a {} is out of reach", printable(name), type_name(value)));
  }
  if (const Object* object = value.as_object()) {
    if (auto held = object->attribute(run, name)) return *std::move(held);
  }
  if (auto method = method_of(run, value, name)) return *std::move(method);
  if (dict != nullptr) {
    if (const Value* held = member(run, *dict, Value(name))) return *held;
  }
  return Value::undefined(fmt::format("'{}' has no attribute '{}'", described(value), printable(name)));
}

Value item_of(Run& run, const Value& value, const Value& key) {
  must_be_defined(run, value);
  const List* const list = value.as_list();
  if (const Dict* dict = value.as_dict()) {
    if (const Value* held = member(run, *dict, key)) return *held;
  } else if (key.is_integer() && list != nullptr && list->form != Form::generator) {
    const std::int64_t at = place(key.integer(), list->items.size());
    if (at >= 0) return list->items[static_cast<std::size_t>(at)];
  } else if (key.is_integer() && value.is_text()) {
    run.spend_on_text(value.text().size());
    const std::int64_t at = place(key.integer(), static_cast<std::size_t>(count_code_points(value.text())));
    if (at >= 0) return Value(character(value.text(), at));
  }
  if (!key.is_text()) {
    return Value::undefined(fmt::format("{} has no element {}", described(value), printable(represented(run, key))));
  }
  if (value.as_dict() == nullptr) return attribute_of(run, value, key.text());
  if (auto method = method_of(run, value, key.text())) return *std::move(method);
  return Value::undefined(fmt::format("'{}' has no attribute '{}'", described(value), printable(key.text())));
}

Value slice_of(Run& run, const Value& value, const Value& begin, const Value& end, const Value& step) {
  must_be_defined(run, value);
  if (const List* list = value.as_list(); list != nullptr && list->form != Form::generator) {
    std::vector<Value> items;
    for (const std::size_t at : places(run, list->items.size(), begin, end, step)) items.push_back(list->items[at]);
    return Value::list(run, std::move(items), list->form);
  }
  if (!value.is_text()) run.refuse("'{}' object cannot be sliced", type_name(value));
  run.spend_on_text(value.text().size());
  const std::u32string text = decode_utf8(value.text(), "a template's text");
  std::string cut;
  for (const std::size_t at : places(run, text.size(), begin, end, step)) append_utf8(text[at], cut);
  return Value(std::move(cut));
}

}  // namespace heed::jinja
