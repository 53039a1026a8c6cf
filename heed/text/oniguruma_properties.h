// Oniguruma's sets of characters that have a name, as what stands in a class of PCRE2's.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "heed/text/pcre_class.h"

namespace heed {

// \s, \w and \h.
inline constexpr std::string_view kOnigurumaSpace =
    "\\x{9}-\\x{D}\\x{20}\\x{85}\\x{A0}\\x{1680}\\x{2000}-\\x{200A}\\x{2028}\\x{2029}\\x{202F}\\x{205F}\\x{3000}";
inline constexpr std::string_view kOnigurumaWord = "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}";
inline constexpr std::string_view kOnigurumaHexDigits = "0-9A-Fa-f";
// Outside classes Oniguruma looks Latin-1 up in a table, which has these as word characters too.
inline constexpr std::string_view kOnigurumaWordAlone =
    "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\x{B2}\\x{B3}\\x{B9}\\x{BC}-\\x{BE}";

// What \p{name} is, of a name in lower case without '_', '-' and spaces. One that is not known is taken for a script's.
ClassItem property_class(std::string_view name);

// What [:name:] is; none where there is no such name.
std::optional<ClassItem> posix_class(std::string_view name);

}  // namespace heed
