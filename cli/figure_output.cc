#include "figure_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "heed/unicode/unicode.h"
#include "output.h"

namespace heed::cli {
namespace {

void warn_of_boxes(const std::vector<std::string>& missing, const std::filesystem::path& path) {
  constexpr std::size_t kMostShown = 10;
  if (missing.empty()) return;
  std::string list;
  for (std::size_t i = 0; i < std::min(missing.size(), kMostShown); ++i) {
    const auto code = static_cast<unsigned>(decode_utf8(missing[i], "a character").front());
    list += fmt::format("{}{} (U+{:04X})", i == 0 ? "" : ", ", missing[i], code);
  }
  print_message(fmt::format("{}: no font of this machine has {}{}: {} instead", path.string(), list,
                            missing.size() > kMostShown ? ", ..." : "",
                            missing.size() == 1 ? "a box is drawn" : "boxes are drawn"));
}

}  // namespace

void save_figure(const Picture& picture, const std::filesystem::path& path) {
  save_picture(picture, path);
  if (picture_format(path) != PictureFormat::svg) warn_of_boxes(missing_glyphs(picture), path);
}

}  // namespace heed::cli
