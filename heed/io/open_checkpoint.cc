#include "heed/io/open_checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "heed/base/check.h"
#include "heed/base/file.h"
#include "heed/base/printable.h"
#include "heed/io/ctranslate2.h"
#include "heed/io/gguf.h"
#include "heed/io/gguf_parts.h"
#include "heed/io/llama2c.h"
#include "heed/io/safetensors.h"
#include "heed/io/sharded_safetensors.h"

namespace heed {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kIndex = "model.safetensors.index.json";

// What begins like this is known, and is not read.
struct Foreign {
  std::string_view beginning, what;
};
constexpr std::string_view kConvertPickle =
    "a Python pickle, which is not read since it may run any program: convert it, in Python, by "
    "safetensors.torch.save_file(torch.load(FILE, weights_only=True), \"model.safetensors\")";
constexpr Foreign kForeign[] = {
    {"PK\x03\x04"sv, kConvertPickle},  // torch.save makes an archive of one
    {"\x80\x02"sv, kConvertPickle},
    {"\x80\x03"sv, kConvertPickle},
    {"\x80\x04"sv, kConvertPickle},
    {"\x80\x05"sv, kConvertPickle},
    {"version https://git-lfs"sv, "a pointer of Git LFS, not the file: git lfs pull fetches it"},
    {"lmgg"sv, "a file of ggml before GGUF: convert it with llama.cpp's convert_llama_ggml_to_gguf.py"},
    {"fmgg"sv, "a file of ggml before GGUF: convert it with llama.cpp's convert_llama_ggml_to_gguf.py"},
    {"tjgg"sv, "a file of ggml before GGUF: convert it with llama.cpp's convert_llama_ggml_to_gguf.py"},
    {"\x89HDF"sv, "HDF5, of Keras or TensorFlow, which is not read: convert it to model.safetensors"},
    {"\x93NUMPY"sv, "one array of NumPy's, not a model"},
};

bool looks_like_safetensors(std::string_view bytes) {
  std::uint64_t length = 0;
  if (bytes.size() <= sizeof length) return false;
  std::memcpy(&length, bytes.data(), sizeof length);
  return bytes[sizeof length] == '{' && length > 1 && length < std::uint64_t{1} << 40;
}

std::optional<CheckpointFormat> format_of(std::string_view bytes) {
  if (bytes.starts_with("GGUF")) return CheckpointFormat::gguf;
  if (looks_like_safetensors(bytes)) return CheckpointFormat::safetensors;
  if (looks_like_ctranslate2(bytes)) return CheckpointFormat::ctranslate2;
  if (looks_like_llama2c(bytes)) return CheckpointFormat::llama2c;
  return {};
}

Checkpoint parse(CheckpointFormat format, const std::shared_ptr<MappedFile>& file) {
  switch (format) {
    case CheckpointFormat::safetensors:
      return parse_safetensors(file);
    case CheckpointFormat::gguf:
      return parse_gguf(file);
    case CheckpointFormat::ctranslate2:
      return parse_ctranslate2(file);
    case CheckpointFormat::llama2c:
      return parse_llama2c(file);
  }
  fail("open_checkpoint: format {} is none", static_cast<int>(format));
}

// What the bytes are known to be that heed does not read; empty where they are something else.
std::string_view foreign(std::string_view bytes) {
  for (const auto& [beginning, what] : kForeign) {
    if (bytes.starts_with(beginning)) return what;
  }
  return {};
}

// Files that could hold weights, by their names.
bool may_be_weights(const std::filesystem::path& path) {
  constexpr std::string_view kExtensions[] = {".gguf", ".safetensors", ".bin", ".pt", ".pth", ".ckpt", ".pkl", ".h5"};
  return std::ranges::find(kExtensions, path.extension().string()) != std::end(kExtensions) &&
         std::filesystem::is_regular_file(path);
}

std::vector<std::string> names_of(const std::vector<std::filesystem::path>& files) {
  std::vector<std::string> names;
  for (const std::filesystem::path& file : files) names.push_back(printable(file.filename().string()));
  return names;
}

}  // namespace

std::filesystem::path checkpoint_path(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) return path;
  for (std::string_view name : {"model.safetensors"sv, kIndex, "model.bin"sv}) {
    if (file_exists(path / name)) return path / name;
  }
  std::vector<std::filesystem::path> files;
  std::string known;
  for (const std::filesystem::path& file : files_in(path)) {
    if (!may_be_weights(file)) continue;
    const MappedFile mapped(file);
    if (format_of(mapped.bytes())) files.push_back(first_gguf_part(file));
    const std::string_view what = foreign(mapped.bytes());
    if (known.empty() && !what.empty()) known = fmt::format("{}: is {}", file.string(), what);
  }
  std::ranges::sort(files);
  files.erase(std::unique(files.begin(), files.end()), files.end());
  HEED_CHECK(!files.empty() || known.empty(), "{}", known);
  HEED_CHECK(!files.empty(), "{}: holds no weights: there is no model.safetensors, {}, *.gguf or *.bin that heed reads",
             path.string(), kIndex);
  HEED_CHECK(files.size() == 1, "{}: holds several files of weights, of which one must be named: {}", path.string(),
             fmt::join(names_of(files), ", "));
  return files.front();
}

Checkpoint open_checkpoint(const std::filesystem::path& path) {
  const std::filesystem::path found = checkpoint_path(path);
  const auto file = std::make_shared<MappedFile>(found);
  const std::string_view bytes = file->bytes();
  const std::string_view what = foreign(bytes);
  HEED_CHECK(what.empty(), "{}: is {}", file->name(), what);
  if (const auto format = format_of(bytes)) return parse(*format, file);
  if (bytes.starts_with('{')) return open_sharded_safetensors(found);
  fail("{}: is no file of weights that heed reads, which are safetensors, GGUF, CTranslate2's and llama2.c's",
       file->name());
}

}  // namespace heed
