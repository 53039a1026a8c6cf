#include "terminal.h"

#include <langinfo.h>
#include <locale.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <string_view>

namespace heed::cli {
namespace {

std::string_view value_of(const char* variable) { return variable == nullptr ? "" : variable; }

Index columns_of_output() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  const std::string_view told = value_of(std::getenv("COLUMNS"));
  Index columns = 0;
  const auto [end, error] = std::from_chars(told.data(), told.data() + told.size(), columns);
  constexpr Index kLeast = 16, kMost = 10'000;
  const bool is_one = error == std::errc() && end == told.data() + told.size();
  return is_one && columns >= kLeast && columns <= kMost ? columns : 80;
}

TerminalColours colours_of_output() {
  if (::isatty(STDOUT_FILENO) == 0 || !value_of(std::getenv("NO_COLOR")).empty()) return TerminalColours::none;
  const std::string_view colours = value_of(std::getenv("COLORTERM")), name = value_of(std::getenv("TERM"));
  if (colours == "truecolor" || colours == "24bit" || name.ends_with("-direct")) return TerminalColours::full;
  return name.find("256color") != std::string_view::npos ? TerminalColours::palette : TerminalColours::none;
}

bool locale_is_utf8() {
  const locale_t locale = ::newlocale(LC_CTYPE_MASK, "", nullptr);
  if (locale == nullptr) return false;
  const bool is_utf8 = std::string_view(::nl_langinfo_l(CODESET, locale)) == "UTF-8";
  ::freelocale(locale);
  return is_utf8;
}

}  // namespace

Terminal terminal_of_output() {
  return {.columns = columns_of_output(), .colours = colours_of_output(), .blocks = locale_is_utf8()};
}

}  // namespace heed::cli
