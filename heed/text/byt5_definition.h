// ByT5's tokenizer (Xue et al. 2022), which no file has: a text is its bytes.
//
//   const Byt5Rules rules{.extra = {"<extra_id_0>"}};
//   Tokenizer::from_definition(byt5_definition(rules, "byt5"), "byt5").encode_special("a").ids;   // 'a' + 3, 1
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "heed/io/json.h"

namespace heed {

struct Byt5Rules {
  std::string pad = "<pad>", end = "</s>", unknown = "<unk>";
  std::vector<std::string> extra{};  // behind the bytes
};

// The content of a tokenizer.json that does the same: pad, end and unknown are 0, 1 and 2, a byte b is b + 3, and the
// extra tokens follow from 259 on; the end stands behind a text, and behind each of two, whose types are all 0. Bytes
// that are no UTF-8 are left out of decoded text, and so is U+FFFD, which the class would keep. Throws heed::Error that
// begins with `name` where two of the tokens are one, or one is a byte's piece.
Json byt5_definition(const Byt5Rules& rules, std::string_view name);

}  // namespace heed
