// The convention for options: one plain struct with one visit_fields, from which the JSON configuration, the command
// line and the documentation all come.
//
//   enum class Norm { pre, post };
//   inline std::span<const std::pair<std::string_view, Norm>> enum_names(Norm) {
//     static constexpr std::pair<std::string_view, Norm> kNames[] = {{"pre", Norm::pre}, {"post", Norm::post}};
//     return kNames;
//   }
//   struct Options {
//     Index layers = 6;
//     Norm norm = Norm::pre;
//     template <typename V>
//     friend void visit_fields(Options& o, V&& visit) {
//       visit("layers", o.layers, "Layers of the encoder and of the decoder.", NumberRange::from(1, 1024));
//       visit("norm", o.norm, "Where a layer normalises: pre (before it) or post (after its residual).");
//     }
//   };
//   Options options;
//   from_json(read_json("config.json"), options);   // else: "config.json: norm: must be one of pre, post, but is ..."
//   write_json("config.json", to_json(options));
//
//   check_ranges(options, "Options");               // else: "Options: layers must be from 1 to 1024, but is 0"
//
// A field is a bool, an integer type, float, double, std::string, an enum with enum_names, a type with a notation
// (NotationField), another such struct (an object in JSON), or a std::vector of these. A number may have a range.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "heed/io/json.h"
#include "heed/io/number_range.h"

namespace heed {

// An enum whose values have names: enum_names(E) is found by argument-dependent lookup and gives a range of (name,
// value), as std::pair or anything else that takes two structured bindings apart. The room that defines the enum needs
// nothing from here.
template <typename E>
concept NamedEnum = std::is_enum_v<E> && requires(E value) {
  enum_names(value);
};

// A struct with visit_fields(options, visit(name, member, doc)), or visit(name, member, doc, range) for some.
template <typename T>
concept HasFields = std::is_class_v<T> && requires(T& options) {
  visit_fields(options, [](std::string_view, auto&, std::string_view, NumberRange = {}) {});
};

// A field with a notation of its own: made from text, for which it throws heed::Error, and written as text().
template <typename T>
concept NotationField = std::constructible_from<T, std::string_view> && requires(const T& value) {
  { value.text() } -> std::convertible_to<std::string>;
};

// A field that a range may bound.
template <typename T>
concept NumberField = (std::integral<T> || std::floating_point<T>)&&!std::same_as<T, bool>;

// The value's name; empty for a value that enum_names does not list.
template <NamedEnum E>
std::string_view enum_name(E value) {
  for (const auto& [name, listed] : enum_names(value)) {
    if (listed == value) return name;
  }
  return {};
}

// "pre, post": for error messages and documentation.
template <NamedEnum E>
std::string enum_choices() {
  std::string choices;
  for (const auto& [name, listed] : enum_names(E{})) choices += (choices.empty() ? "" : ", ") + std::string(name);
  return choices;
}

// Sets value to the one that has this name, or returns false.
template <NamedEnum E>
bool enum_from_name(std::string_view text, E& value) {
  for (const auto& [name, listed] : enum_names(value)) {
    if (name == text) {
      value = listed;
      return true;
    }
  }
  return false;
}

// What from_json does about a field that the JSON object has not.
enum class Missing {
  refuse,       // throws heed::Error that names the field
  keep_default  // leaves the member as it is
};

template <HasFields Options>
Json to_json(const Options& options);
template <HasFields Options>
void from_json(const Json& json, Options& options, Missing missing = Missing::refuse);

// A field's value as JSON.
template <typename T>
Json field_to_json(const T& value) {
  if constexpr (HasFields<T>) {
    return to_json(value);
  } else if constexpr (NamedEnum<T>) {
    return Json(enum_name(value));
  } else if constexpr (NotationField<T>) {
    return Json(value.text());
  } else if constexpr (requires { typename T::value_type; } && !std::same_as<T, std::string>) {
    Json list = Json::array();
    for (const auto& item : value) list.append(field_to_json<typename T::value_type>(item));
    return list;
  } else if constexpr (std::same_as<T, float>) {
    return Json::array_of(std::span<const float>(&value, 1))[Index{0}];
  } else {
    return Json(value);
  }
}

// Sets a field from JSON. Throws heed::Error that names the place for a value of the wrong type or out of the type's
// range.
template <typename T>
void field_from_json(const Json& json, T& value, Missing missing) {
  if constexpr (HasFields<T>) {
    from_json(json, value, missing);
  } else if constexpr (NamedEnum<T>) {
    if (json.kind() != Json::Kind::string || !enum_from_name(json.string(), value)) {
      json.refuse("must be one of " + enum_choices<T>());
    }
  } else if constexpr (NotationField<T>) {
    const std::string& text = json.string();
    try {
      value = T(std::string_view(text));
    } catch (const Error& error) {
      throw Error(json.where() + ": " + error.what());
    }
  } else if constexpr (std::same_as<T, bool>) {
    value = json.boolean();
  } else if constexpr (std::integral<T>) {
    value = static_cast<T>(json.integer(std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
  } else if constexpr (std::floating_point<T>) {
    const double number = json.number();
    if (number < std::numeric_limits<T>::lowest() || number > std::numeric_limits<T>::max())
      json.refuse("must fit a float");
    value = static_cast<T>(number);
  } else if constexpr (std::same_as<T, std::string>) {
    value = json.string();
  } else {
    T list;
    for (const Json& item : json.items()) field_from_json(item, list.emplace_back(), missing);
    value = std::move(list);
  }
}

// The options as a JSON object, in the order of visit_fields.
template <HasFields Options>
Json to_json(const Options& options) {
  Json object = Json::object();
  Options copy = options;  // one visit_fields serves reading and writing, so it takes a mutable struct
  visit_fields(copy, [&](std::string_view name, const auto& member, std::string_view, NumberRange = {}) {
    object.set(name, field_to_json(member));
  });
  return object;
}

// Whether a file from before there was this field may lack it: Options::kLaterFields, where there is one, lists it.
template <HasFields Options>
bool is_later_field(std::string_view name) {
  if constexpr (requires { Options::kLaterFields; }) {
    for (std::string_view later : Options::kLaterFields) {
      if (later == name) return true;
    }
  }
  return false;
}

// Sets the options from a JSON object, or leaves all of them as they were and throws heed::Error: for a key that is no
// field, a value of the wrong type, and, with Missing::refuse, a field without a key that is no later field.
template <HasFields Options>
void from_json(const Json& json, Options& options, Missing missing) {
  Options read = options;
  std::vector<std::string_view> names;
  visit_fields(read, [&](std::string_view name, auto&, std::string_view, NumberRange = {}) { names.push_back(name); });
  json.allow_only(names);
  visit_fields(read, [&](std::string_view name, auto& member, std::string_view, NumberRange = {}) {
    const bool needed = missing == Missing::refuse && !is_later_field<Options>(name);
    if (needed || json.has(name)) field_from_json(json[name], member, missing);
  });
  options = std::move(read);
}

// Throws heed::Error that begins with `what` and names the field, for a number outside its range; NaN and the
// infinities are in none.
template <HasFields Options>
void check_ranges(const Options& options, std::string_view what) {
  Options copy = options;
  visit_fields(copy, [&]<typename T>(std::string_view name, const T& member, std::string_view, NumberRange range = {}) {
    if constexpr (std::floating_point<T>) {
      range.check(what, name, member);
    } else if constexpr (NumberField<T>) {
      range.check(what, name, static_cast<std::int64_t>(member));
    }
  });
}

}  // namespace heed
