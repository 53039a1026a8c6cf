#include "heed/text/jinja/given.h"

namespace heed::jinja {

bool is_set(const std::optional<Value>& given) { return given && truth(*given); }

Index whole_given(Run& run, const std::optional<Value>& given, Index otherwise) {
  if (!given || given->is_none()) return otherwise;
  must_be_defined(run, *given);
  if (!given->is_integer()) run.refuse("an argument must be an int, and is {}", type_name(*given));
  return given->integer();
}

std::optional<std::string_view> text_or_none(Run& run, const std::optional<Value>& given) {
  if (!given || given->is_none()) return std::nullopt;
  return text_given(run, given);
}

const std::string& text_given(Run& run, const std::optional<Value>& given) {
  if (!given) run.refuse("an argument is missing");
  must_be_defined(run, *given);
  if (!given->is_text()) run.refuse("an argument must be a str, and is {}", type_name(*given));
  return given->text();
}

}  // namespace heed::jinja
