#include "heed/text/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <mutex>
#include <new>

#include "heed/base/check.h"
#include "heed/base/printable.h"
#include "heed/base/utf8.h"
#include "heed/text/later_characters.h"
#include "heed/text/oniguruma_pattern.h"

namespace heed {

// Not unnamed, as Regex::Impl, which has members of it, is not.
struct FreePcre2 {
  void operator()(pcre2_code* code) const { pcre2_code_free(code); }
  void operator()(pcre2_compile_context* context) const { pcre2_compile_context_free(context); }
  void operator()(pcre2_match_context* context) const { pcre2_match_context_free(context); }
  void operator()(pcre2_match_data* data) const { pcre2_match_data_free(data); }
};

namespace {

constexpr std::size_t kLongestPattern = std::size_t{1} << 16;
// Backtracking steps of one match; the expressions of tokenizers take a few for each character.
constexpr std::uint32_t kMostBacktracks = 10'000'000;
constexpr std::uint32_t kMostKibibytes = 256 * 1024;

template <typename T>
std::unique_ptr<T, FreePcre2> held(T* made) {
  if (made == nullptr) throw std::bad_alloc();
  return std::unique_ptr<T, FreePcre2>(made);
}

std::string message_of(int error) {
  PCRE2_UCHAR text[256];
  pcre2_get_error_message(error, text, sizeof text);
  return reinterpret_cast<const char*>(text);
}

// Only where the whole match lies is asked for.
pcre2_match_data* match_data_of_thread() {
  thread_local const std::unique_ptr<pcre2_match_data, FreePcre2> data = held(pcre2_match_data_create(1, nullptr));
  return data.get();
}

}  // namespace

struct Regex::Impl {
  using Code = std::unique_ptr<pcre2_code, FreePcre2>;

  std::string name, pattern;
  std::string translated;
  Code code;
  // For texts with characters that PCRE2 need not know: their ranges cost every character of every text something.
  mutable std::once_flag later_made;
  mutable Code later_code;
  std::unique_ptr<pcre2_match_context, FreePcre2> context;

  Code compiled(const std::string& expression) const;
  const pcre2_code* code_for(std::string_view text) const {
    if (!has_later_character(text)) return code.get();
    std::call_once(later_made, [&] { later_code = compiled(with_later_characters(translated)); });
    return later_code.get();
  }

  // Finds the first match at or after `from`; false where there is none.
  bool find(const pcre2_code* expression, std::string_view text, std::size_t from, std::size_t& begin,
            std::size_t& end) const {
    pcre2_match_data* data = match_data_of_thread();
    const auto search = [&](std::uint32_t options) {
      return pcre2_match(expression, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), from,
                         PCRE2_NO_UTF_CHECK | options, data, context.get());
    };
    int found = search(0);
    if (found == PCRE2_ERROR_JIT_STACKLIMIT) found = search(PCRE2_NO_JIT);  // which takes memory of the heap instead
    if (found == PCRE2_ERROR_NOMATCH) return false;
    HEED_CHECK(found >= 0, "{}: the regular expression '{}' fails on a text of {} bytes: {}", name,
               printable(pattern, 200), text.size(), message_of(found));
    const PCRE2_SIZE* range = pcre2_get_ovector_pointer(data);
    HEED_CHECK(range[0] <= range[1] && range[0] >= from, "{}: the regular expression '{}' moves a match's start", name,
               printable(pattern, 200));
    begin = range[0];
    end = range[1];
    return true;
  }
};

Regex::Impl::Code Regex::Impl::compiled(const std::string& expression) const {
  const auto compile_context = held(pcre2_compile_context_create(nullptr));
  pcre2_set_newline(compile_context.get(), PCRE2_NEWLINE_LF);
  pcre2_set_parens_nest_limit(compile_context.get(), 250);
  int error = 0;
  PCRE2_SIZE offset = 0;
  Code made(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(expression.data()), expression.size(),
                          PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C, &error, &offset,
                          compile_context.get()));
  HEED_CHECK(made != nullptr, "{}: the regular expression '{}' is not supported: {}", name, printable(pattern, 200),
             message_of(error));
  pcre2_jit_compile(made.get(), PCRE2_JIT_COMPLETE);  // where it cannot, the interpreter does the same, slower
  return made;
}

Regex::Regex(std::string_view pattern, std::string name) {
  HEED_CHECK(pattern.size() <= kLongestPattern, "{}: the regular expression has {} bytes, over {}", name,
             pattern.size(), kLongestPattern);
  auto impl = std::make_unique<Impl>();
  impl->translated = pcre_pattern(pattern, name);
  impl->name = std::move(name);
  impl->pattern = pattern;
  impl->code = impl->compiled(impl->translated);
  impl->context = held(pcre2_match_context_create(nullptr));
  pcre2_set_match_limit(impl->context.get(), kMostBacktracks);
  pcre2_set_heap_limit(impl->context.get(), kMostKibibytes);
  impl_ = std::move(impl);
}

Regex::~Regex() = default;
Regex::Regex(Regex&&) noexcept = default;
Regex& Regex::operator=(Regex&&) noexcept = default;

void Regex::for_each_match(std::string_view text,
                           const std::function<void(std::size_t begin, std::size_t end)>& use) const {
  const pcre2_code* const code = impl_->code_for(text);
  std::size_t from = 0, begin = 0, end = 0;
  std::size_t last_end = std::string_view::npos;
  while (from <= text.size() && impl_->find(code, text, from, begin, end)) {
    if (begin == end && begin == last_end) {
      if (from >= text.size()) return;
      from += utf8_length(text[from]);
      continue;
    }
    use(begin, end);
    from = last_end = end;
  }
}

bool Regex::occurs_in(std::string_view text) const {
  std::size_t begin = 0, end = 0;
  return impl_->find(impl_->code_for(text), text, 0, begin, end);
}

std::size_t Regex::match_at_start(std::string_view text) const {
  std::size_t begin = 0, end = 0;
  return impl_->find(impl_->code_for(text), text, 0, begin, end) && begin == 0 ? end : 0;
}

std::string Regex::replace(std::string_view text, std::string_view content) const {
  std::string replaced;
  std::size_t kept = 0;
  for_each_match(text, [&](std::size_t begin, std::size_t end) {
    replaced.append(text, kept, begin - kept);
    replaced += content;
    kept = end;
  });
  replaced.append(text, kept);
  return replaced;
}

}  // namespace heed
