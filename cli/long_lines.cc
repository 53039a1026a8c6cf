#include "long_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "heed/io/fields.h"
#include "output.h"

namespace heed::cli {

CLI::Option* add_long_lines(CLI::App& command, LongLines& value) {
  return command
      .add_option_function<std::string>(
          "--long-lines", [&value](const std::string& text) { enum_from_name(text, value); },
          "A sentence of more tokens than the model can hold: fail, naming its line; crop it; or take it for empty.")
      ->check(CLI::IsMember({"fail", "crop", "empty"}))
      ->default_str(std::string(enum_name(value)));
}

void LongLineWarning::print() const {
  constexpr std::size_t kMostShown = 10;
  if (lines_.empty()) return;
  const std::size_t shown = std::min(lines_.size(), kMostShown);
  const std::vector<Index> first(lines_.begin(), std::next(lines_.begin(), static_cast<std::ptrdiff_t>(shown)));
  print_message(fmt::format("{}: {} too long for the model and {}: line {}{}", name_,
                            lines_.size() == 1 ? "one sentence was" : fmt::format("{} sentences were", lines_.size()),
                            treatment_ == LongLines::crop ? "cropped" : "taken for empty", fmt::join(first, ", "),
                            shown < lines_.size() ? ", ..." : ""));
}

}  // namespace heed::cli
