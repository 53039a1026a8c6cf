#include "heed/observe/observer.h"

namespace heed {

std::span<const std::pair<std::string_view, AttentionKind>> enum_names(AttentionKind) {
  static constexpr std::pair<std::string_view, AttentionKind> kNames[] = {
      {"encoder", AttentionKind::encoder}, {"decoder", AttentionKind::decoder}, {"cross", AttentionKind::cross}};
  return kNames;
}

void show_embeddings(AttentionObserver* observer, EmbeddedSide side, const ConstView& before, const ConstView& after) {
  if (observer == nullptr || before.dtype != DType::f32 || !observer->wants_embeddings(side)) return;
  observer->on_embeddings(side, before, after);
}

void show_hidden(AttentionObserver* observer, EmbeddedSide side, Index layer, const ConstView& hidden) {
  if (observer == nullptr || hidden.dtype != DType::f32 || !observer->wants_hidden(side, layer)) return;
  observer->on_hidden(side, layer, hidden);
}

}  // namespace heed
