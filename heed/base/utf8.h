// Whether bytes are text.
#pragma once

#include <string_view>

#include "heed/base/index.h"

namespace heed {

// True if text is well-formed UTF-8 (no overlong forms, no surrogates, nothing past U+10FFFF). Where it is not and
// offset is given, *offset is the first byte that is wrong.
bool valid_utf8(std::string_view text, Index* offset = nullptr);

}  // namespace heed
