#include "heed/observe/hidden_recorder.h"

namespace heed {

HiddenRecorder::HiddenRecorder(EmbeddedSide side, Index first, Index last)
    : side_(side), first_(first), hidden_(static_cast<std::size_t>(last - first + 1)) {}

bool HiddenRecorder::wants_hidden(EmbeddedSide side, Index layer) const {
  return side == side_ && layer >= first_ && layer - first_ < std::ssize(hidden_);
}

void HiddenRecorder::on_hidden(EmbeddedSide, Index layer, ConstView hidden) {
  hidden_[static_cast<std::size_t>(layer - first_)] = Tensor::copy_of(hidden);
}

}  // namespace heed
