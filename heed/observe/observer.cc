#include "heed/observe/observer.h"

namespace heed {

std::span<const std::pair<std::string_view, AttentionKind>> enum_names(AttentionKind) {
  static constexpr std::pair<std::string_view, AttentionKind> kNames[] = {
      {"encoder", AttentionKind::encoder}, {"decoder", AttentionKind::decoder}, {"cross", AttentionKind::cross}};
  return kNames;
}

}  // namespace heed
