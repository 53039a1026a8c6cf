#include "heed/unicode/normal_form.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>

#include "heed/base/check.h"
#include "heed/unicode/unicode.h"

namespace heed {
namespace {

int options_of(NormalForm form) {
  switch (form) {
    case NormalForm::nfc:
      return UTF8PROC_STABLE | UTF8PROC_COMPOSE;
    case NormalForm::nfd:
      return UTF8PROC_STABLE | UTF8PROC_DECOMPOSE;
    case NormalForm::nfkc:
      return UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT;
    case NormalForm::nfkd:
      return UTF8PROC_STABLE | UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT;
  }
  return 0;
}

}  // namespace

std::string normal_form(std::string_view text, NormalForm form) {
  if (std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; })) return std::string(text);
  utf8proc_uint8_t* made = nullptr;
  const utf8proc_ssize_t length =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()), static_cast<utf8proc_ssize_t>(text.size()),
                   &made, static_cast<utf8proc_option_t>(options_of(form)));
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(made, std::free);
  if (length == UTF8PROC_ERROR_NOMEM) throw std::bad_alloc();
  HEED_CHECK(length >= 0, "normal_form: {}", utf8proc_errmsg(length));
  return std::string(reinterpret_cast<const char*>(made), static_cast<std::size_t>(length));
}

void for_each_grapheme(std::string_view text, const std::function<void(std::string_view cluster)>& use) {
  utf8proc_int32_t state = 0, last = 0;
  const char* begin = text.data();
  for_each_code_point(text, [&](char32_t c, std::string_view bytes) {
    const auto point = static_cast<utf8proc_int32_t>(c);
    if (bytes.data() != text.data() && utf8proc_grapheme_break_stateful(last, point, &state)) {
      use({begin, static_cast<std::size_t>(bytes.data() - begin)});
      begin = bytes.data();
    }
    last = point;
  });
  if (!text.empty()) use({begin, static_cast<std::size_t>(text.data() + text.size() - begin)});
}

}  // namespace heed
