#include "heed/text/oniguruma_properties.h"

#include <array>
#include <utility>

namespace heed {
namespace {

constexpr std::string_view kVisible = "\\p{L}\\p{M}\\p{N}\\p{P}\\p{S}\\p{Cf}\\p{Co}";
constexpr std::string_view kAssigned = "\\p{L}\\p{M}\\p{N}\\p{P}\\p{S}\\p{Z}\\p{Cc}\\p{Cf}\\p{Co}\\p{Cs}";

// Names of what is no script; spelled without '_', '-' and spaces, in lower case.
constexpr std::array<std::pair<std::string_view, std::string_view>, 16> kPosix = {{
    {"alnum", "\\p{Alphabetic}\\p{Nd}"},
    {"alpha", "\\p{Alphabetic}"},
    {"any", "\\x{0}-\\x{10FFFF}"},
    {"ascii", "\\x{0}-\\x{7F}"},
    {"blank", "\\p{Zs}\\x{9}"},
    {"cntrl", "\\p{Cc}"},
    {"digit", "\\p{Nd}"},
    {"graph", kVisible},
    {"lower", "\\p{Lowercase}"},
    {"print", "\\p{L}\\p{M}\\p{N}\\p{P}\\p{S}\\p{Cf}\\p{Co}\\p{Zs}"},
    {"punct", "\\p{P}"},
    {"space", kOnigurumaSpace},
    {"upper", "\\p{Uppercase}"},
    {"whitespace", kOnigurumaSpace},
    {"word", kOnigurumaWord},
    {"xdigit", kOnigurumaHexDigits},
}};
// What is not in a class of these: what is not assigned is known by what is, as later characters may be added to that.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kAllBut = {{
    {"c", "\\p{L}\\p{M}\\p{N}\\p{P}\\p{S}\\p{Z}"},
    {"other", "\\p{L}\\p{M}\\p{N}\\p{P}\\p{S}\\p{Z}"},
    {"cn", kAssigned},
    {"unassigned", kAssigned},
}};
constexpr std::array<std::pair<std::string_view, std::string_view>, 36> kCategories = {{
    {"letter", "L"},
    {"uppercaseletter", "Lu"},
    {"lowercaseletter", "Ll"},
    {"titlecaseletter", "Lt"},
    {"casedletter", "L&"},
    {"modifierletter", "Lm"},
    {"otherletter", "Lo"},
    {"mark", "M"},
    {"combiningmark", "M"},
    {"nonspacingmark", "Mn"},
    {"spacingmark", "Mc"},
    {"enclosingmark", "Me"},
    {"number", "N"},
    {"decimalnumber", "Nd"},
    {"letternumber", "Nl"},
    {"othernumber", "No"},
    {"punctuation", "P"},
    {"connectorpunctuation", "Pc"},
    {"dashpunctuation", "Pd"},
    {"openpunctuation", "Ps"},
    {"closepunctuation", "Pe"},
    {"initialpunctuation", "Pi"},
    {"finalpunctuation", "Pf"},
    {"otherpunctuation", "Po"},
    {"symbol", "S"},
    {"mathsymbol", "Sm"},
    {"currencysymbol", "Sc"},
    {"modifiersymbol", "Sk"},
    {"othersymbol", "So"},
    {"separator", "Z"},
    {"spaceseparator", "Zs"},
    {"lineseparator", "Zl"},
    {"paragraphseparator", "Zp"},
    {"control", "Cc"},
    {"format", "Cf"},
    {"privateuse", "Co"},
}};
constexpr std::string_view kShortCategories =
    " cc cf co cs l l& lc ll lm lo lt lu m mc me mn n nd nl no p pc pd pe pf pi po ps s sc sk sm so z zl zp zs ";
constexpr std::string_view kBinaryProperties =
    " alphabetic lowercase uppercase emoji emojipresentation emojimodifier emojimodifierbase emojicomponent "
    "extendedpictographic ideographic unifiedideograph math dash hexdigit diacritic extender variationselector "
    "idstart idcontinue xidstart xidcontinue ids idc xids xidc defaultignorablecodepoint cased caseignorable ";

bool among(std::string_view word, std::string_view list) {
  return list.find(" " + std::string(word) + " ") != std::string_view::npos;
}

}  // namespace

ClassItem property_class(std::string_view name) {
  for (const auto& [known, items] : kPosix) {
    if (name == known) return {{}, std::string(items)};
  }
  for (const auto& [known, others] : kAllBut) {
    if (name == known) return {{}, std::string(others), true};
  }
  if (name == "assigned") return {{}, std::string(kAssigned)};
  for (const auto& [known, category] : kCategories) {
    if (name == known) return {{}, "\\p{" + std::string(category) + "}"};
  }
  const std::string plain(name);
  if (among(plain, kShortCategories)) return {{}, plain == "lc" ? "\\p{L&}" : "\\p{" + plain + "}"};
  return {{}, among(plain, kBinaryProperties) ? "\\p{" + plain + "}" : "\\p{sc:" + plain + "}"};
}

std::optional<ClassItem> posix_class(std::string_view name) {
  if (name == "punct") return ClassItem{{}, "\\p{P}\\p{S}"};  // \p{Punct} has no symbols
  for (const auto& [known, items] : kPosix) {
    if (name == known) return ClassItem{{}, std::string(items)};
  }
  return std::nullopt;
}

}  // namespace heed
