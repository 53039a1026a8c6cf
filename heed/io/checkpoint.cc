#include "heed/io/checkpoint.h"

#include "heed/base/check.h"
#include "heed/base/printable.h"

namespace heed {
namespace {

// Of several files, the one that the tensor lies in.
std::string where(const StoredTensor& stored, std::string_view name) {
  return fmt::format("{}: {}", stored.file->name(), printable(name));
}

}  // namespace

Checkpoint::Checkpoint(CheckpointFormat format, std::string name, Tensors tensors, Json metadata)
    : format_(format),
      name_(std::move(name)),
      tensors_(std::move(tensors)),
      metadata_(std::move(metadata).named(name_)) {}

Tensor Checkpoint::tensor(std::string_view name) const {
  const StoredTensor& stored = found(name);
  return load_values(stored, where(stored, name));
}

Tensor Checkpoint::scales(std::string_view name) const {
  const StoredTensor& stored = found(name);
  return load_scales(stored, where(stored, name));
}

Tensor Checkpoint::blocks(std::string_view name) const { return load_blocks(found(name)); }

const StoredTensor& Checkpoint::found(std::string_view name) const {
  const auto found = tensors_.find(name);
  HEED_CHECK(found != tensors_.end(), "{}: has no tensor {}", name_, printable(name));
  found->second.file->check_unchanged();
  return found->second;
}

}  // namespace heed
