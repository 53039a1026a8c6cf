// The tokenizers that BLEU scores are quoted with.
//
//   bleu_tokenize("It's 3,000.", BleuTokenizer::v13a)   // "It's 3,000 ."
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "heed/base/error.h"

namespace heed {

enum class BleuTokenizer {
  none,       // white space only: for text that is already tokenised
  v13a,       // mteval-v13a.pl: ASCII punctuation; sacreBLEU's default, and WMT's
  intl,       // mteval-v14.pl --international-tokenization: Unicode punctuation and symbols
  character,  // every character but white space
};

// The name in signatures and on command lines: "none", "13a", "intl", "char".
std::string_view bleu_tokenizer_name(BleuTokenizer tokenizer);
// Throws heed::Error that lists the names, for another one.
BleuTokenizer parse_bleu_tokenizer(std::string_view name);

// Returns the tokens of one line with a space between each two, as sacreBLEU's tokenizers do. As there, the
// international one leaves XML entities alone. Throws heed::Error for invalid UTF-8.
std::string bleu_tokenize(std::string_view line, BleuTokenizer tokenizer);

// The same, on code points.
std::vector<std::u32string> bleu_tokens(std::u32string_view line, BleuTokenizer tokenizer);

}  // namespace heed
