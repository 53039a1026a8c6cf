// What Jinja's expressions are of: Python's values, as far as templates of chats meet them.
//
//   Value talk = Value::list(run, {Value("a"), Value(1)});
//   truth(talk);                                                        // true
//   equal(run, talk, talk);
// None can be changed but a namespace, as in the environment that templates of chats run in.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "heed/text/jinja/run.h"

namespace heed::jinja {

struct Arguments;

// What there is not: false, empty and no text, but an error where more is asked of it.
struct Undefined {
  std::shared_ptr<const std::string> why;  // "'x' is undefined"
};
struct None {};
using Text = std::shared_ptr<const std::string>;  // UTF-8

struct List;
struct Dict;
struct Callable;
struct Object;
struct Namespace;
// A generator is what filters give that go over items: once, without a length.
enum class Form { list, tuple, generator };

class Value {
 public:
  Value() : is_(Undefined{}) {}
  explicit Value(Undefined undefined) : is_(std::move(undefined)) {}
  explicit Value(None none) : is_(none) {}
  explicit Value(std::same_as<bool> auto truth) : is_(truth) {}
  explicit Value(std::int64_t number) : is_(number) {}
  explicit Value(double number) : is_(number) {}
  explicit Value(std::string text) : is_(std::make_shared<const std::string>(std::move(text))) {}
  explicit Value(std::string_view text) : Value(std::string(text)) {}
  explicit Value(const char* text) : Value(std::string(text)) {}
  explicit Value(std::shared_ptr<Object> object) : is_(std::move(object)) {}

  static Value undefined(std::string why) {
    return Value(Undefined{std::make_shared<const std::string>(std::move(why))});
  }
  // These throw heed::Error for values more than kDeepestValue within each other, and count a step for each item.
  static Value list(Run& run, std::vector<Value> items, Form form = Form::list);
  static Value dict(Run& run, std::vector<std::pair<Value, Value>> members);  // with keys that differ
  // One that holds `self`, if given.
  static Value callable(Run& run, std::string name, std::function<Value(Run&, const Arguments&)> call,
                        const Value* self = nullptr);

  template <typename T>
  bool is() const {
    return std::holds_alternative<T>(is_);
  }
  bool is_undefined() const { return is<Undefined>(); }
  bool is_none() const { return is<None>(); }
  bool is_text() const { return is<Text>(); }
  bool is_integer() const { return is<bool>() || is<std::int64_t>(); }  // as Python's arithmetic has it
  bool is_number() const { return is_integer() || is<double>(); }

  // Of what it is, which the caller knows.
  const std::string& text() const { return *std::get<Text>(is_); }
  const Text& shared_text() const { return std::get<Text>(is_); }
  std::int64_t integer() const { return is<bool>() ? (std::get<bool>(is_) ? 1 : 0) : std::get<std::int64_t>(is_); }
  double number() const { return is<double>() ? std::get<double>(is_) : static_cast<double>(integer()); }
  bool boolean() const { return std::get<bool>(is_); }
  const std::string& why_undefined() const;
  const List* as_list() const;  // null where it is none; so below
  const Dict* as_dict() const;
  const Callable* as_callable() const;
  const Object* as_object() const;
  Namespace* as_namespace() const;

 private:
  std::variant<Undefined, None, bool, std::int64_t, double, Text, std::shared_ptr<const List>,
               std::shared_ptr<const Dict>, std::shared_ptr<const Callable>, std::shared_ptr<Object>>
      is_;
};

struct List {
  std::vector<Value> items;
  Form form = Form::list;
  int depth = 1;
  mutable bool is_consumed = false;  // a generator
};
struct Dict {
  std::vector<std::pair<Value, Value>> members;
  int depth = 1;
};
struct Callable {
  std::string name;
  std::function<Value(Run&, const Arguments&)> call;
  int depth = 1;
};
// What has attributes of its own: a namespace, `loop`.
struct Object : Kept {
  virtual std::string_view type() const = 0;
  virtual std::optional<Value> attribute(Run& run, std::string_view name) const = 0;
  virtual int depth() const { return 1; }
};
struct Namespace final : Object {
  std::vector<std::pair<std::string, Value>> members;

  std::string_view type() const override { return "Namespace"; }
  std::optional<Value> attribute(Run& run, std::string_view name) const override;
  void set(Run& run, std::string_view name, Value value);
  void forget() override;
};

// What a call is given.
struct Arguments {
  std::vector<Value> positional;
  std::vector<std::pair<std::string, Value>> named;

  // One for each parameter, in order; nothing for one that is not given. Throws heed::Error for arguments that `what`
  // has no parameter for.
  std::vector<std::optional<Value>> bound(Run& run, std::string_view what,
                                          const std::vector<std::string_view>& parameters) const;
};

bool truth(const Value& value);
// Python's name of its type: "str".
std::string_view type_name(const Value& value);
// Python's ==. Counts steps.
bool equal(Run& run, const Value& a, const Value& b);
// The member of that key; null where there is none.
const Value* member(Run& run, const Dict& dict, const Value& key);
// Its members as tuples of two.
std::vector<Value> pairs_of(Run& run, const Dict& dict);
// Throws heed::Error for what cannot be a key: lists and dicts, and what is undefined.
void must_be_key(const Run& run, const Value& value);
// Sets the member of that key, which can be one, or adds it.
void set_member(Run& run, std::vector<std::pair<Value, Value>>& members, const Value& key, Value value);
// What a loop goes over: items, keys, characters; nothing for what is undefined. Throws heed::Error for all else. A
// generator has none the second time.
std::vector<Value> items_of(Run& run, const Value& value);
// Throws heed::Error that says why a value is not defined, where it is not.
void must_be_defined(const Run& run, const Value& value);

}  // namespace heed::jinja
