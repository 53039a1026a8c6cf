#include "checkpoint_property.h"

#include "property.h"

namespace heed::fuzz {

void require_tensors(const Checkpoint& file) {
  for (const auto& item : file.tensors()) {
    const std::string& name = item.first;
    const StoredTensor& stored = item.second;
    const auto tensor = taken([&] { return file.tensor(name); });
    if (!tensor) continue;
    require(tensor->dtype() == stored.dtype() && tensor->rank() == stored.rank &&
                tensor->view().shape == stored.shape && tensor->view().contiguous(),
            "a tensor is what the file says");
    require(same(*tensor, file.tensor(name)), "a tensor is the same when it is asked for again");
    const auto scales = taken([&] { return file.scales(name); });
    if (!scales) continue;
    require(scales->is_empty() != stored.has_row_scales(), "rows have scales where the file says so");
    require(scales->is_empty() || has_shape(scales->view(), {stored.shape[0]}), "every row has a scale");
  }
}

}  // namespace heed::fuzz
