#include "heed/io/sharded_safetensors.h"

#include <fmt/format.h>

#include "heed/base/check.h"
#include "heed/base/file.h"
#include "heed/base/printable.h"
#include "heed/io/safetensors.h"

namespace heed {
namespace {

constexpr std::size_t kMostShards = 4096;

// A shard of the index's own folder, opened when it is first asked for.
class Shards {
 public:
  explicit Shards(const std::filesystem::path& index) : index_(index) {}

  const Checkpoint& holding(const std::string& tensor, const Json& entry) {
    const std::string& file = entry.string();
    if (const auto found = opened_.find(file); found != opened_.end()) return found->second;
    const bool plain = !file.empty() && file != "." && file != ".." &&
                       file.find_first_of(std::string_view("/\0", 2)) == std::string::npos;
    if (!plain) entry.refuse("must be the name of a file beside the index");
    HEED_CHECK(opened_.size() < kMostShards, "{}: more than {} files", index_.string(), kMostShards);
    const std::filesystem::path path = index_.parent_path() / file;
    HEED_CHECK(file_exists(path), "{}: the file {} is missing, in which it says that {} is", index_.string(),
               printable(file), printable(tensor));
    return opened_.emplace(file, open_safetensors(path)).first->second;
  }

 private:
  const std::filesystem::path& index_;
  std::map<std::string, Checkpoint, std::less<>> opened_;
};

}  // namespace

Checkpoint open_sharded_safetensors(const std::filesystem::path& index) {
  const Json json = read_json(index);
  Shards shards(index);
  Checkpoint::Tensors tensors;
  for (const auto& [name, entry] : json["weight_map"].members()) {
    const Checkpoint& shard = shards.holding(name, entry);
    const auto found = shard.tensors().find(name);
    HEED_CHECK(found != shard.tensors().end(), "{}: says that {} is in {}, which has no such tensor", index.string(),
               printable(name), shard.name());
    tensors.emplace(name, found->second);
  }
  HEED_CHECK(!tensors.empty(), "{}: names no tensors", index.string());
  Json metadata = json.has("metadata") ? json["metadata"] : Json::object();
  if (metadata.kind() != Json::Kind::object) metadata.refuse("must be an object");
  return {CheckpointFormat::safetensors, index.string(), std::move(tensors), std::move(metadata)};
}

}  // namespace heed
