// The parts of the page, put into the library by the build (cmake/HeedEmbed.cmake): page.html and fragment.html as they
// lie in page/, page.js, its modules and style in one, and the name by which a content policy knows that script
// ("sha256-...", cmake/HeedPage.cmake). Use page.h.
#pragma once

#include <string_view>

namespace heed {

extern const std::string_view kPageHtml, kFragmentHtml, kPageJs, kPageSha256;

}  // namespace heed
