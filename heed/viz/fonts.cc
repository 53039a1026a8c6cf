#include "heed/viz/fonts.h"

#include <algorithm>
#include <numeric>

#include "heed/unicode/unicode.h"
#include "heed/viz/visible_text.h"

namespace heed {
namespace {

bool is_kana(char32_t c) { return (c >= 0x3041 && c <= 0x30FF) || (c >= 0x31F0 && c <= 0x31FF); }
bool is_hangul(char32_t c) { return (c >= 0x1100 && c <= 0x11FF) || (c >= 0xAC00 && c <= 0xD7AF); }
bool is_han(char32_t c) {
  return (c >= 0x3400 && c <= 0x9FFF) || (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x20000 && c <= 0x3FFFF);
}
bool is_arabic(char32_t c) { return (c >= 0x0600 && c <= 0x06FF) || (c >= 0x0750 && c <= 0x077F); }

}  // namespace

std::vector<std::string_view> families_of(std::string_view list) {
  std::vector<std::string_view> families;
  for (std::size_t begin = 0; begin <= list.size() && !list.empty();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    std::string_view family = list.substr(begin, end - begin);
    family.remove_prefix(std::min(family.find_first_not_of(' '), family.size()));
    family.remove_suffix(family.size() - (family.find_last_not_of(' ') + 1));
    families.push_back(family);
    begin = end + 1;
  }
  return families;
}

std::string guess_language(std::string_view text) {
  bool kana = false, hangul = false, han = false, arabic = false;
  const std::string shown = visible_text(text);
  for_each_code_point(shown, [&](char32_t c, std::string_view) {
    kana = kana || is_kana(c);
    hangul = hangul || is_hangul(c);
    han = han || is_han(c);
    arabic = arabic || is_arabic(c);
  });
  return kana ? "ja" : hangul ? "ko" : han ? "zh-Hans" : arabic ? "ar" : "en";
}

std::string language_of(std::string_view text, const TextStyle& style) {
  return style.language.empty() ? guess_language(text) : style.language;
}

std::string label_language(const std::vector<std::string>& labels) {
  const std::string language = guess_language(std::accumulate(labels.begin(), labels.end(), std::string()));
  return language == "ja" || language == "ko" ? language : "";
}

std::string font_families(std::string_view text, const TextStyle& style) {
  const std::string language = language_of(text, style);
  std::string families = style.font.empty() ? "DejaVu Sans, Verdana, Liberation Sans" : style.font;
  if (language.starts_with("ja")) {
    families += ", Noto Sans CJK JP, Noto Sans JP, Hiragino Sans, Yu Gothic";
  } else if (language.starts_with("ko")) {
    families += ", Noto Sans CJK KR, Noto Sans KR, Apple SD Gothic Neo, Malgun Gothic";
  } else if (language.starts_with("zh-Hant") || language == "zh-TW" || language == "zh-HK") {
    families += ", Noto Sans CJK TC, Noto Sans TC, PingFang TC, Microsoft JhengHei";
  } else if (language.starts_with("zh")) {
    families += ", Noto Sans CJK SC, Noto Sans SC, PingFang SC, Microsoft YaHei";
  } else if (language.starts_with("ar")) {
    families += ", Noto Sans Arabic, Noto Naskh Arabic, Geeza Pro";
  }
  return families + ", sans-serif";
}

}  // namespace heed
