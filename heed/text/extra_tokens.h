// The tokens that T5's tokenizers have for gaps in a text, which their classes make up: <extra_id_0>, <extra_id_1>, ...
//
//   extra_tokens(TokenizerSettings("t5-small"), 100, "t5-small").front()   // "<extra_id_0>"
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "heed/base/index.h"
#include "heed/text/tokenizer_settings.h"

namespace heed {

// As many as the settings' extra_ids says, or `otherwise`, and those that they name among their tokens, in their order,
// where they name any. Throws heed::Error that begins with `name` where those are not as many, as the classes do, and
// for more than any vocabulary has.
std::vector<std::string> extra_tokens(const TokenizerSettings& settings, Index otherwise, std::string_view name);

// Whether a token is called so.
bool is_extra_token(std::string_view token);

}  // namespace heed
