#include "heed/io/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <span>
#include <tuple>
#include <vector>

#include "heed/base/check.h"
#include "heed/base/file_writer.h"
#include "heed/base/printable.h"
#include "heed/base/utf8.h"
#include "heed/io/json.h"

namespace heed {
namespace {

// A file is: the header's length (8 bytes, little endian), the header (JSON, may end in spaces), the tensors' bytes.
// Lengths and elements are copied as they are.
static_assert(std::endian::native == std::endian::little, "safetensors files are little endian");

constexpr std::size_t kLengthBytes = 8;
// The format's own implementation takes 100,000,000 bytes. A third of that names 250,000 tensors, more than any file in
// use has; and a header takes five times its size in memory.
constexpr std::uint64_t kMostHeaderBytes = std::uint64_t{1} << 25;
constexpr std::size_t kMostMetadata = 65536;
constexpr std::string_view kMetadata = "__metadata__";

// Those that heed writes, first.
constexpr std::pair<std::string_view, StoredType> kElementTypes[] = {
    {"F32", StoredType::f32}, {"F64", StoredType::f64}, {"F16", StoredType::f16}, {"BF16", StoredType::bf16},
    {"I8", StoredType::i8},   {"I32", StoredType::i32}, {"I64", StoredType::i64}, {"BOOL", StoredType::boolean},
    {"U8", StoredType::u8},   {"I16", StoredType::i16}, {"U16", StoredType::u16}, {"U32", StoredType::u32},
};

StoredType type_of(const Json& json) {
  for (const auto& [name, type] : kElementTypes) {
    if (json.string() == name) return type;
  }
  json.refuse("must be one of F32, F64, F16, BF16, I8, I32, I64, BOOL, U8, I16, U16, U32");
}

std::string_view name_in_file(StoredType type) {
  return std::ranges::find(kElementTypes, type, &std::pair<std::string_view, StoredType>::second)->first;
}

StoredTensor parse_entry(const std::string& name, const Json& json, const std::shared_ptr<MappedFile>& file,
                         std::string_view data) {
  json.allow_only({"dtype", "shape", "data_offsets"});
  StoredTensor entry;
  entry.type = type_of(json["dtype"]);
  entry.file = file;
  const std::vector<Index> shape = json["shape"].integer_list(0);
  const std::string where = fmt::format("{}: {}", file->name(), printable(name));
  const Index bytes = stored_bytes(entry.type, shape, where), data_bytes = std::ssize(data);
  entry.rank = static_cast<int>(shape.size());
  std::ranges::copy(shape, entry.shape.begin());
  const std::vector<Index> offsets = json["data_offsets"].integer_list(0);
  HEED_CHECK(offsets.size() == 2, "{}: data_offsets must be [begin, end], but has {} items", where, offsets.size());
  const Index begin = offsets[0], end = offsets[1];
  HEED_CHECK(begin <= end && end <= data_bytes, "{}: data_offsets [{}, {}] lie outside the file's {} bytes of data",
             where, begin, end, data_bytes);
  HEED_CHECK(end - begin == bytes, "{}: {} [{}] takes {} bytes, but data_offsets [{}, {}] hold {}", where,
             name_in_file(entry.type), fmt::join(shape, ", "), bytes, begin, end, end - begin);
  entry.bytes = data.substr(static_cast<std::size_t>(begin), static_cast<std::size_t>(bytes));
  return entry;
}

// Every byte must belong to exactly one tensor.
void check_places(const Checkpoint::Tensors& tensors, std::string_view data, std::string_view file) {
  std::vector<const Checkpoint::Tensors::value_type*> entries;
  for (const auto& item : tensors) entries.push_back(&item);
  std::ranges::stable_sort(
      entries, {}, [](const auto* item) { return std::tuple(item->second.bytes.data(), item->second.bytes.size()); });
  std::ptrdiff_t end = 0;
  for (const auto* item : entries) {
    const auto& [name, entry] = *item;
    const std::ptrdiff_t begin = entry.bytes.data() - data.data();
    HEED_CHECK(begin >= end, "{}: {}: its bytes from {} overlap those of another tensor, which end at {}", file,
               printable(name), begin, end);
    HEED_CHECK(begin == end, "{}: {}: the {} bytes of data before it belong to no tensor", file, printable(name),
               begin - end);
    end = begin + std::ssize(entry.bytes);
  }
  HEED_CHECK(end == std::ssize(data), "{}: the last {} bytes belong to no tensor", file, std::ssize(data) - end);
}

// All of a checkpoint, whose tensors are few and borrowed.
std::map<std::string, Tensor> all_of(const Checkpoint& file, std::map<std::string, std::string>* metadata) {
  if (metadata != nullptr) *metadata = texts_of(file.metadata());
  std::map<std::string, Tensor> tensors;
  for (const auto& item : file.tensors()) tensors.emplace(item.first, file.tensor(item.first));
  return tensors;
}

}  // namespace

// Entries are taken one by one: the header's Json would be many times its size.
Checkpoint parse_safetensors(const std::shared_ptr<MappedFile>& file) {
  const std::string& name = file->name();
  const std::string_view bytes = file->bytes();
  HEED_CHECK(bytes.size() >= kLengthBytes, "{}: not a safetensors file: {} bytes", name, bytes.size());
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), kLengthBytes);
  HEED_CHECK(length <= kMostHeaderBytes,
             "{}: a header of {} bytes, over the limit of {}: too many tensors, or not a safetensors file", name,
             length, kMostHeaderBytes);
  HEED_CHECK(length <= bytes.size() - kLengthBytes, "{}: cut short: a header of {} bytes in a file of {}", name, length,
             bytes.size());
  const std::string_view header = bytes.substr(kLengthBytes, length), data = bytes.substr(kLengthBytes + length);
  HEED_CHECK(header.starts_with('{'), "{}: not a safetensors file: the header is not a JSON object", name);

  Checkpoint::Tensors tensors;
  std::vector<Json::Member> metadata;
  Json::parse_members(
      header, fmt::format("{}: header", name),
      [&](std::span<const std::string> path, const Json& value) {
        if (path[0] != kMetadata) {
          tensors.emplace(path[0], parse_entry(path[0], value, file, data));
        } else if (path.size() == 1) {
          value.members();  // an object, whose members have been here
        } else {
          HEED_CHECK(metadata.size() < kMostMetadata, "{}: header: {} has more than {} texts", name, kMetadata,
                     kMostMetadata);
          metadata.emplace_back(path[1], value.string());
        }
      },
      kMetadata);
  check_places(tensors, data, name);
  return {CheckpointFormat::safetensors, name, std::move(tensors), Json::object(std::move(metadata))};
}

Checkpoint open_safetensors(const std::filesystem::path& path) {
  return parse_safetensors(std::make_shared<MappedFile>(path));
}

std::map<std::string, Tensor> read_safetensors(const std::filesystem::path& path,
                                               std::map<std::string, std::string>* metadata) {
  return all_of(open_safetensors(path), metadata);
}

std::map<std::string, Tensor> parse_safetensors(std::string_view bytes, std::string_view name,
                                                std::map<std::string, std::string>* metadata) {
  return all_of(parse_safetensors(std::make_shared<MappedFile>(std::string(bytes), std::string(name))), metadata);
}

std::map<std::string, std::string> texts_of(const Json& metadata) {
  std::map<std::string, std::string> texts;
  for (const auto& [key, value] : metadata.members()) texts.emplace(key, value.string());
  return texts;
}

void write_safetensors(const std::filesystem::path& path, const std::map<std::string, ConstView>& tensors,
                       const std::map<std::string, std::string>& metadata) {
  const std::string file = path.string();
  std::vector<std::pair<std::string, ConstView>> ordered(tensors.begin(), tensors.end());
  for (const auto& [name, view] : ordered) {
    HEED_CHECK(name != kMetadata, "{}: a tensor must not be named {}", file, kMetadata);
    HEED_CHECK(valid_utf8(name), "{}: a tensor's name is not valid UTF-8", file);
    HEED_CHECK(!view.empty(), "{}: {}: the view is empty", file, printable(name));
  }
  std::ranges::stable_sort(ordered, std::greater(), [](const auto& item) { return size_of(item.second.dtype); });

  std::vector<Json::Member> members;
  if (!metadata.empty()) {
    std::vector<Json::Member> texts;
    for (const auto& [key, text] : metadata) {
      HEED_CHECK(valid_utf8(key) && valid_utf8(text), "{}: the metadata is not valid UTF-8", file);
      texts.emplace_back(key, text);
    }
    members.emplace_back(kMetadata, Json::object(std::move(texts)));
  }
  Index end = 0;
  for (const auto& [name, view] : ordered) {
    const Index begin = end;
    end += view.size() * size_of(view.dtype);
    members.emplace_back(name,
                         Json::object({{"dtype", name_in_file(stored(view.dtype))},
                                       {"shape", Json::array_of(std::span<const Index>(view.shape.data(), view.rank))},
                                       {"data_offsets", Json::array({begin, end})}}));
  }
  std::string header = Json::object(std::move(members)).dump();
  header.resize((header.size() + 7) / 8 * 8, ' ');
  HEED_CHECK(header.size() <= kMostHeaderBytes, "{}: the header would be of {} bytes, over the limit of {}", file,
             header.size(), kMostHeaderBytes);

  FileWriter writer(path);
  const std::uint64_t length = header.size();
  writer.write(&length, kLengthBytes);
  writer.write(header);
  for (const auto& [name, view] : ordered) {
    const Tensor copied = view.contiguous() ? Tensor() : Tensor::copy_of(view);
    writer.write(copied.is_empty() ? view.data : copied.data<char>(), view.size() * size_of(view.dtype));
  }
  writer.commit();
}

}  // namespace heed
