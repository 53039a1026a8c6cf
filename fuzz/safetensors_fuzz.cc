// Safetensors files: what was read and is written again reads the same, and is written with the same bytes; a file
// that is mapped says what the tensors are.
#include "heed/io/safetensors.h"

#include "heed/base/file.h"
#include "property.h"
#include "scratch_file.h"

namespace heed::fuzz {
namespace {

struct Contents {
  std::map<std::string, Tensor> tensors;
  std::map<std::string, std::string> metadata;
};

Contents read(std::string_view bytes) {
  Contents contents;
  contents.tensors = parse_safetensors(bytes, "input", &contents.metadata);
  return contents;
}

std::string write(const Contents& contents) {
  const std::filesystem::path file = scratch_folder() / "written.safetensors";
  write_safetensors(file, {contents.tensors.begin(), contents.tensors.end()}, contents.metadata);
  return read_file(file);
}

void check_entries(const Checkpoint& file, const Contents& contents) {
  require(texts_of(file.metadata()) == contents.metadata, "the file says its metadata");
  require(file.tensors().size() == contents.tensors.size(), "the file says every tensor");
  for (const auto& [name, tensor] : contents.tensors) {
    const auto found = file.tensors().find(name);
    require(found != file.tensors().end() && found->second.dtype() == tensor.dtype() &&
                found->second.rank == tensor.rank() && found->second.shape == tensor.view().shape &&
                found->second.size() == tensor.size(),
            "the file says what a tensor is");
  }
}

void check_safetensors(std::string_view bytes) {
  const std::filesystem::path path = scratch_file("input.safetensors", bytes);
  const auto file = taken([&] { return open_safetensors(path); });
  const auto contents = taken([&] { return read(bytes); });
  require(file || !contents, "what can be read can be opened");
  if (!contents) return;
  check_entries(*file, *contents);
  const std::string written = write(*contents);
  const Contents again = read(written);
  require(again.metadata == contents->metadata, "metadata that is written reads the same");
  require(again.tensors.size() == contents->tensors.size(), "every tensor is written");
  for (const auto& [name, tensor] : contents->tensors) {
    require(again.tensors.contains(name) && same(again.tensors.at(name), tensor),
            "a tensor that is written reads the same");
  }
  require(write(again) == written, "the same tensors are the same bytes");
}

}  // namespace
}  // namespace heed::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  heed::fuzz::check_safetensors(heed::fuzz::bytes_of(data, size));
  return 0;
}
