#include "heed/text/tokenizer/normaliser.h"

#include <algorithm>
#include <array>
#include <vector>

#include "heed/base/check.h"
#include "heed/base/utf8.h"
#include "heed/io/base64.h"
#include "heed/text/tokenizer/byte_alphabet.h"
#include "heed/text/tokenizer/character_map.h"
#include "heed/text/tokenizer/growth.h"
#include "heed/text/tokenizer/json_fields.h"
#include "heed/text/tokenizer/library_unicode.h"
#include "heed/text/tokenizer/replacement.h"
#include "heed/text/tokenizer/step_sequence.h"
#include "heed/unicode/unicode.h"

namespace heed {
namespace {

using Character = std::string_view;

// Each character on its own: use(c, bytes, text) appends what becomes of it.
template <typename Use>
std::string map_characters(std::string_view text, const Use& use) {
  std::string mapped;
  mapped.reserve(text.size());
  for_each_code_point(text, [&](char32_t c, Character bytes) { use(c, bytes, mapped); });
  return mapped;
}

void append_lower(char32_t c, Character bytes, std::string& text) {
  if (c < 0x80) {
    text += static_cast<char>(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
    return;
  }
  char32_t second = 0;
  const char32_t lower = library_lower(c, &second);
  if (lower == c) {
    text += bytes;
  } else {
    append_utf8(lower, text);
  }
  if (second != 0) append_utf8(second, text);
}

bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

// Whether a text begins with a character that a normaliser may drop: others are changed at most.
bool may_go(std::string_view text) {
  if (text.empty()) return false;
  char32_t first = 0;
  for_each_code_point(text.substr(0, utf8_length(text[0])), [&](char32_t c, Character) { first = c; });
  return is_white_space(first) || is_invisible(first) || is_mark(first);
}

// A normaliser that is one function.
template <typename Function>
class FunctionNormaliser final : public Normaliser {
 public:
  explicit FunctionNormaliser(Function function) : function_(std::move(function)) {}
  std::string normalise(std::string_view text) const override { return function_(text); }

 private:
  Function function_;
};

template <typename Function>
std::unique_ptr<const Normaliser> normaliser_of(Function function) {
  return std::make_unique<FunctionNormaliser<Function>>(std::move(function));
}

class NormaliserSequence final : public Normaliser {
 public:
  explicit NormaliserSequence(std::vector<std::unique_ptr<const Normaliser>> steps) : steps_(std::move(steps)) {}
  std::string normalise(std::string_view text) const override {
    std::string normalised(text);
    for (const auto& step : steps_) {
      normalised = step->normalise(normalised);
      check_growth(normalised.size(), text.size(), "the tokenizer's normalizer");
    }
    return normalised;
  }
  bool loses_first(std::string_view text) const override {
    std::string normalised(text);
    for (const auto& step : steps_) {
      if (step->loses_first(normalised)) return true;
      normalised = step->normalise(normalised);
      check_growth(normalised.size(), text.size(), "the tokenizer's normalizer");
    }
    return false;
  }

 private:
  std::vector<std::unique_ptr<const Normaliser>> steps_;
};

// --- BERT ------------------------------------------------------------------------------------------------------------

// What BERT writes with spaces around it. The fourth range begins later than the block does (U+2B820), in the library
// that tokenizer.json is of as it does here.
bool is_chinese(char32_t c) {
  constexpr std::array<std::array<char32_t, 2>, 8> kIdeographs = {{{0x4E00, 0x9FFF},
                                                                   {0x3400, 0x4DBF},
                                                                   {0x20000, 0x2A6DF},
                                                                   {0x2A700, 0x2B73F},
                                                                   {0x2B740, 0x2B81F},
                                                                   {0x2B920, 0x2CEAF},
                                                                   {0xF900, 0xFAFF},
                                                                   {0x2F800, 0x2FA1F}}};
  return c >= 0x3400 &&
         std::ranges::any_of(kIdeographs, [&](const auto& range) { return c >= range[0] && c <= range[1]; });
}

void append_clean(char32_t c, Character bytes, std::string& text) {
  if (c == '\t' || c == '\n' || c == '\r') {
    text += ' ';
  } else if (c == 0 || c == 0xFFFD || is_library_invisible(c)) {  // among these are spaces, such as U+0085
    return;
  } else if (is_white_space(c)) {
    text += ' ';
  } else {
    text += bytes;
  }
}

struct BertNormalisation {
  bool clean, chinese, strip_accents, lower;

  std::string operator()(std::string_view text) const {
    std::string normalised(text);
    if (clean) normalised = map_characters(normalised, append_clean);
    if (chinese && !is_ascii(normalised)) {
      normalised = map_characters(normalised, [](char32_t c, Character bytes, std::string& out) {
        const bool apart = is_chinese(c);
        if (apart) out += ' ';
        out += bytes;
        if (apart) out += ' ';
      });
    }
    if (strip_accents && !is_ascii(normalised)) {
      normalised = map_characters(library_normal_form(normalised, NormalForm::nfd),
                                  [](char32_t c, Character bytes, std::string& out) {
                                    if (c < 0x300 || !is_library_nonspacing_mark(c)) out += bytes;
                                  });
    }
    if (lower) normalised = map_characters(normalised, append_lower);
    return normalised;
  }
};

std::unique_ptr<const Normaliser> read_bert(const Json& json) {
  const bool lower = flag_or(json, "lowercase", true);
  return normaliser_of(BertNormalisation{.clean = flag_or(json, "clean_text", true),
                                         .chinese = flag_or(json, "handle_chinese_chars", true),
                                         .strip_accents = flag_or(json, "strip_accents", lower),
                                         .lower = lower});
}

// --- Others ----------------------------------------------------------------------------------------------------------

// Control characters go, and what is space in some way is a space: SentencePiece's nmt rules.
void append_nmt(char32_t c, Character bytes, std::string& text) {
  const bool goes =
      (c >= 0x01 && c <= 0x08) || c == 0x0B || (c >= 0x0E && c <= 0x1F) || c == 0x7F || c == 0x8F || c == 0x9F;
  const bool is_space = c == 0x09 || c == 0x0A || c == 0x0C || c == 0x0D || c == 0x1680 ||
                        (c >= 0x200B && c <= 0x200F) || c == 0x2028 || c == 0x2029 || c == 0x2581 || c == 0xFEFF ||
                        c == 0xFFFD;
  if (goes) return;
  if (is_space) {
    text += ' ';
  } else {
    text += bytes;
  }
}

std::string strip(std::string_view text, bool left, bool right) {
  std::size_t begin = text.size(), end = 0;  // of what is not space
  for_each_code_point(text, [&](char32_t c, Character bytes) {
    if (is_white_space(c)) return;
    const auto at = static_cast<std::size_t>(bytes.data() - text.data());
    begin = std::min(begin, at);
    end = at + bytes.size();
  });
  if (begin >= end) return left || right ? "" : std::string(text);
  if (!left) begin = 0;
  if (!right) end = text.size();
  return std::string(text.substr(begin, end - begin));
}

class ReplaceNormaliser final : public Normaliser {
 public:
  explicit ReplaceNormaliser(const Json& json) : replacement_(json) {}
  std::string normalise(std::string_view text) const override { return replacement_.apply(text); }
  bool loses_first(std::string_view text) const override { return replacement_.loses_first(text); }

 private:
  Replacement replacement_;
};

// SentencePiece's table.
class PrecompiledNormaliser final : public Normaliser {
 public:
  explicit PrecompiledNormaliser(CharacterMap map) : map_(std::move(map)) {}
  std::string normalise(std::string_view text) const override { return map_.apply(text); }
  // The library forgets what the table drops before anything is left.
  bool loses_first(std::string_view /*text*/) const override { return false; }

 private:
  CharacterMap map_;
};

std::unique_ptr<const Normaliser> read_precompiled(const Json& json) {
  if (!is_given(json, "precompiled_charsmap"))
    return normaliser_of([](std::string_view text) { return std::string(text); });
  const Json map = json["precompiled_charsmap"];
  return std::make_unique<PrecompiledNormaliser>(CharacterMap(base64_bytes(map.string(), map.where()), map.where()));
}

std::unique_ptr<const Normaliser> read_form(NormalForm form) {
  return normaliser_of([form](std::string_view text) { return library_normal_form(text, form); });
}

std::unique_ptr<const Normaliser> read_normalisers(const Json& json) {
  std::vector<std::unique_ptr<const Normaliser>> steps;
  add_steps(json, "normalizers", "normalizers", read_normaliser, steps);
  return std::make_unique<NormaliserSequence>(std::move(steps));
}

}  // namespace

bool Normaliser::loses_first(std::string_view text) const {
  return may_go(text) && normalise(text.substr(utf8_length(text[0]))) == normalise(text);
}

std::unique_ptr<const Normaliser> read_normaliser(const Json& json) {
  if (json.is_null()) return nullptr;
  const std::string type = type_of(json);
  if (type == "Sequence") return read_normalisers(json);
  if (type == "NFC") return read_form(NormalForm::nfc);
  if (type == "NFD") return read_form(NormalForm::nfd);
  if (type == "NFKC") return read_form(NormalForm::nfkc);
  if (type == "NFKD") return read_form(NormalForm::nfkd);
  if (type == "BertNormalizer") return read_bert(json);
  if (type == "Precompiled") return read_precompiled(json);
  if (type == "Nmt") return normaliser_of([](std::string_view text) { return map_characters(text, append_nmt); });
  if (type == "Lowercase")
    return normaliser_of([](std::string_view text) { return map_characters(text, append_lower); });
  if (type == "ByteLevel") return normaliser_of([](std::string_view text) { return bytes_as_characters(text); });
  if (type == "StripAccents") {
    return normaliser_of([](std::string_view text) {
      return map_characters(text, [](char32_t c, Character bytes, std::string& out) {
        if (c < 0x300 || !is_library_mark(c)) out += bytes;
      });
    });
  }
  if (type == "Strip") {
    const bool left = flag_or(json, "strip_left", true), right = flag_or(json, "strip_right", true);
    return normaliser_of([left, right](std::string_view text) { return strip(text, left, right); });
  }
  if (type == "Prepend") {
    return normaliser_of([prefix = json["prepend"].string()](std::string_view text) {
      return text.empty() ? std::string() : prefix + std::string(text);
    });
  }
  if (type == "Replace") return std::make_unique<ReplaceNormaliser>(json);
  json["type"].refuse("must be a normalizer that heed has");
}

}  // namespace heed
