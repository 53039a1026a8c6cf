// Command-line options from a struct's visit_fields: the field max_tokens becomes --max-tokens, with its documentation,
// default and range. A field that is true or false is switched on by its option alone, and off by "--tie-output false".
//
//   auto given = std::make_shared<FieldOptions>();
//   given->add(command, TrainOptions{}, "Training");
//   ... when the command runs: given->apply(options);      // only what was given on the command line
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <concepts>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "heed/io/fields.h"
#include "numbers.h"
#include "option_names.h"

namespace heed::cli {

// Keeps what was given as text until apply, so that a preset can be put under it, and so that several structs can have
// a field of one name.
class FieldOptions {
 public:
  // Adds an option for every field that is not in `skip` and has none yet. What has fields of its own has no option.
  template <HasFields Options>
  void add(CLI::App& command, Options defaults, const std::string& group,
           const std::vector<std::string_view>& skip = {}) {
    visit_fields(defaults, [&]<typename T>(std::string_view name, T& member, std::string_view doc, NumberRange = {}) {
      if constexpr (!HasFields<T>) {
        if (std::find(skip.begin(), skip.end(), name) != skip.end() || has_option(command, flag(name))) return;
        add_field(command, name, member, doc)->group(group);
      }
    });
  }

  // Sets the fields that were given. Throws CLI::ValidationError for a value that is not of the field's type or outside
  // its range.
  template <HasFields Options>
  void apply(Options& options) const {
    visit_fields(options, [&]<typename T>(std::string_view name, T& member, std::string_view, NumberRange range = {}) {
      const auto found = given_.find(std::string(name));
      if (found == given_.end()) return;
      const std::string& text = found->second;
      if constexpr (NamedEnum<T>) {
        if (!enum_from_name(text, member)) refuse(name, "one of " + enum_choices<T>(), text);
      } else if constexpr (NotationField<T>) {
        try {
          member = T(std::string_view(text));
        } catch (const Error& error) {
          throw CLI::ValidationError(flag(name), error.what());
        }
      } else if constexpr (std::same_as<T, bool>) {
        if (text != "true" && text != "false") refuse(name, "true or false", text);
        member = text == "true";
      } else if constexpr (std::same_as<T, std::vector<Index>>) {
        member.clear();
        for (std::string_view item : split_at_commas(text))
          member.push_back(read_number<Index>(flag(name), item, range));
      } else if constexpr (NumberField<T>) {
        member = read_number<T>(flag(name), text, range);
      }
    });
  }

  // Throws CLI::ValidationError if a field that only `other` has was given: it would be ignored.
  template <HasFields Chosen, HasFields Other>
  void refuse_fields_of(Chosen chosen, Other other, std::string_view chosen_name) const {
    std::vector<std::string_view> known;
    visit_fields(chosen,
                 [&](std::string_view name, auto&, std::string_view, NumberRange = {}) { known.push_back(name); });
    visit_fields(other, [&](std::string_view name, auto&, std::string_view, NumberRange = {}) {
      if (given_.contains(std::string(name)) && std::find(known.begin(), known.end(), name) == known.end()) {
        throw CLI::ValidationError(flag(name), "is not an option of " + std::string(chosen_name));
      }
    });
  }

 private:
  template <typename T>
  CLI::Option* add_field(CLI::App& command, std::string_view name, const T& member, std::string_view doc) {
    CLI::Option* option = command.add_option_function<std::string>(
        flag(name), [this, key = std::string(name)](const std::string& text) { given_[key] = text; }, std::string(doc));
    if constexpr (NamedEnum<T>) {
      option->type_name(enum_choices<T>())->default_str(std::string(enum_name(member)));
    } else if constexpr (NotationField<T>) {
      option->type_name("TERM + TERM ...")->default_str(member.text());
    } else if constexpr (std::same_as<T, bool>) {
      // CLI11 gives the default to an option without its value, and true is what such an option means.
      option->expected(0, 1)->default_str("true")->option_text(member ? "[true|false]=true" : "[true|false]=false");
    } else if constexpr (std::same_as<T, std::vector<Index>>) {
      option->type_name("INT,INT,...")->default_str(fmt::format("{}", fmt::join(member, ",")));
    } else {
      static_assert(NumberField<T>, "an option of this type has no reading yet");
      option->type_name(number_type<T>())->default_str(fmt::format("{}", member));
    }
    return option;
  }

  static std::string flag(std::string_view name) {
    std::string text = "--" + std::string(name);
    std::replace(text.begin(), text.end(), '_', '-');
    return text;
  }
  [[noreturn]] static void refuse(std::string_view name, const std::string& rule, const std::string& text) {
    throw CLI::ValidationError(flag(name), "must be " + rule + ", but is " + (text.empty() ? "empty" : text));
  }

  std::map<std::string, std::string> given_;  // field name to the text given
};

}  // namespace heed::cli
