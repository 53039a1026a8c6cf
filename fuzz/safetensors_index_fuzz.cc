// The index of tensors in several safetensors files, of which two are there: what is taken gives each tensor the file
// that the index says.
#include "checkpoint_property.h"
#include "heed/io/json.h"
#include "heed/io/safetensors.h"
#include "heed/io/sharded_safetensors.h"
#include "property.h"
#include "scratch_file.h"

namespace heed::fuzz {
namespace {

void write_shards() {
  const Tensor number = Tensor::zeros(DType::f32, {1});
  write_safetensors(scratch_folder() / "1", {{"a", number}, {"b", number}});
  write_safetensors(scratch_folder() / "2", {{"b", number}, {"c", number}});
}

void check_safetensors_index(std::string_view bytes) {
  static const bool written = (write_shards(), true);
  require(written, "the shards are there");
  const std::filesystem::path index = scratch_file("index.json", bytes);
  const auto file = taken([&] { return open_sharded_safetensors(index); });
  if (!file) return;
  require_tensors(*file);
  const Json map = read_json(index)["weight_map"];
  require(map.size() == static_cast<Index>(file->tensors().size()), "every tensor of the index is there");
  for (const auto& [name, stored] : file->tensors()) {
    require(stored.file->name() == (scratch_folder() / map[name].string()).string(), "a tensor is in its file");
  }
}

}  // namespace
}  // namespace heed::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  heed::fuzz::check_safetensors_index(heed::fuzz::bytes_of(data, size));
  return 0;
}
