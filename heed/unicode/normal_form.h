// Unicode's normal forms, and the characters that readers see as one.
//
//   normal_form("e\u0301", NormalForm::nfc) == "\u00E9";
//   for_each_grapheme("e\u0301x", [](std::string_view cluster) { ... });   // "e\u0301", then "x"
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "heed/base/error.h"

namespace heed {

enum class NormalForm { nfc, nfd, nfkc, nfkd };

// Unicode Standard Annex 15, by Unicode 15. The text is well-formed UTF-8; heed::Error is thrown where it is not.
std::string normal_form(std::string_view text, NormalForm form);

// Calls use(cluster) for each extended grapheme cluster (Unicode Standard Annex 29) of well-formed UTF-8, in order.
void for_each_grapheme(std::string_view text, const std::function<void(std::string_view cluster)>& use);

}  // namespace heed
