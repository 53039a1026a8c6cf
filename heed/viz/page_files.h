// The parts of the page as they lie in page/, put into the library by the build (cmake/HeedEmbed.cmake). Use page.h.
#pragma once

#include <string_view>

namespace heed {

extern const std::string_view kPageHtml, kPageCss, kPageJs;

}  // namespace heed
