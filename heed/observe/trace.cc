#include "heed/observe/trace.h"

#include <algorithm>

namespace heed {

Index TraceSide::word_count() const {
  const Index numbered = words.empty() ? 0 : *std::ranges::max_element(words) + 1;
  return std::max(numbered, std::ssize(word_texts));
}

const TraceSide& AttentionTrace::query_side(AttentionKind kind) const {
  switch (kind) {
    case AttentionKind::encoder:
      return source;
    case AttentionKind::decoder:
      return decoder;
    case AttentionKind::cross:
      break;
  }
  return target;
}

const TraceSide& AttentionTrace::key_side(AttentionKind kind) const {
  return kind == AttentionKind::decoder ? decoder : source;
}

}  // namespace heed
