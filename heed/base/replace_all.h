// One word for another, everywhere in a text.
//
//   replace_all(std::string("a-b-c"), "-", " ");                 // "a b c"
#pragma once

#include <string>
#include <string_view>
#include <type_traits>

namespace heed {

// Every `from`, left to right; what is written is not read again. An empty `from` is nowhere.
template <typename Char>
std::basic_string<Char> replace_all(std::basic_string<Char> text,
                                    std::type_identity_t<std::basic_string_view<Char>> from,
                                    std::type_identity_t<std::basic_string_view<Char>> to) {
  std::size_t at = from.empty() ? text.npos : text.find(from);
  if (at == text.npos) return text;
  std::basic_string<Char> replaced;
  std::size_t kept = 0;
  for (; at != text.npos; at = text.find(from, kept)) {
    replaced.append(text, kept, at - kept).append(to);
    kept = at + from.size();
  }
  return replaced.append(text, kept);
}

}  // namespace heed
