#include "heed/text/extra_tokens.h"

#include <fmt/format.h>

#include "heed/base/check.h"

namespace heed {

bool is_extra_token(std::string_view token) { return token.starts_with("<extra_id_"); }

std::vector<std::string> extra_tokens(const TokenizerSettings& settings, Index otherwise, std::string_view name) {
  constexpr Index kMost = 1 << 16;
  const Index count = settings.number("extra_ids").value_or(otherwise);
  HEED_CHECK(count <= kMost, "{}: extra_ids must be at most {}, but is {}", name, kMost, count);
  std::vector<std::string> tokens = settings.tokens();
  std::erase_if(tokens, [](const std::string& token) { return !is_extra_token(token); });
  if (count == 0) return {};
  if (tokens.empty()) {
    for (Index i = 0; i < count; ++i) tokens.push_back(fmt::format("<extra_id_{}>", i));
  }
  HEED_CHECK(std::ssize(tokens) == count, "{}: {} tokens are named <extra_id_...>, but extra_ids is {}", name,
             tokens.size(), count);
  return tokens;
}

}  // namespace heed
