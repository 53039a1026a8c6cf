#include "heed/text/jinja/date.h"

#include <clocale>
#include <ctime>

#include "heed/base/printable.h"
#include "heed/text/jinja/given.h"

namespace heed::jinja {
namespace {

std::tm broken_down(std::chrono::year_month_day day) {
  const std::chrono::sys_days days(day), new_year(day.year() / 1 / 1);
  std::tm time{};
  time.tm_year = static_cast<int>(day.year()) - 1900;
  time.tm_mon = static_cast<int>(static_cast<unsigned>(day.month())) - 1;
  time.tm_mday = static_cast<int>(static_cast<unsigned>(day.day()));
  time.tm_wday = static_cast<int>(std::chrono::weekday(days).c_encoding());
  time.tm_yday = static_cast<int>((days - new_year).count());
  time.tm_isdst = -1;
  return time;
}

// Whatever locale the program has.
std::string one_part(const std::tm& time, const std::string& part) {
  static const locale_t plain = ::newlocale(LC_ALL_MASK, "C", nullptr);
  char text[64];
  return {text, ::strftime_l(text, sizeof(text), part.c_str(), &time, plain)};
}

// A width, as in "%99999d", is not read: a text could be as long as it says.
std::string written(Run& run, const std::tm& time, std::string_view format) {
  constexpr std::string_view kFlags = "-_0^#", kParts = "aAbBcCdDeFgGhHIjklmMnpPrRStTuUVwWxXyYzZ%";
  std::string text;
  for (std::size_t at = 0; at < format.size(); ++at) {
    if (format[at] != '%') {
      text += format[at];
      continue;
    }
    const std::size_t begin = at++;
    if (at < format.size() && kFlags.find(format[at]) != kFlags.npos) ++at;
    if (at >= format.size() || kParts.find(format[at]) == kParts.npos) {
      run.refuse("strftime_now: '{}' is no part of a date", printable(format.substr(begin, 3)));
    }
    text += one_part(time, std::string(format.substr(begin, at + 1 - begin)));
  }
  run.spend_on_text(text.size());
  return text;
}

}  // namespace

Value strftime_now(Run& run, std::chrono::year_month_day today) {
  return Value::callable(run, "strftime_now", [time = broken_down(today)](Run& within, const Arguments& arguments) {
    const auto given = arguments.bound(within, "strftime_now", {"format"});
    return Value(written(within, time, text_given(within, given[0])));
  });
}

}  // namespace heed::jinja
