// Pictures as files, with a word where a reader of the file would miss something.
//
//   save_figure(draw_figure(trace, map), command.out);
#pragma once

#include <filesystem>

#include "heed/viz/picture.h"

namespace heed::cli {

// save_picture; then, for what embeds glyphs (a PNG, a PDF), one line on standard error that names the characters for
// which no font has one.
void save_figure(const Picture& picture, const std::filesystem::path& path);

}  // namespace heed::cli
