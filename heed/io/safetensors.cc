#include "heed/io/safetensors.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <tuple>
#include <vector>

#include "heed/base/check.h"
#include "heed/base/file.h"
#include "heed/base/file_writer.h"
#include "heed/base/printable.h"
#include "heed/base/utf8.h"
#include "heed/io/file_tensor.h"
#include "heed/io/json.h"
#include "heed/tensor/shape_bytes.h"

namespace heed {
namespace {

// A file is: the header's length (8 bytes, little endian), the header (JSON, may end in spaces), the tensors' bytes.
// Lengths and elements are copied as they are.
static_assert(std::endian::native == std::endian::little, "safetensors files are little endian");

constexpr std::uint64_t kLengthBytes = 8;
constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;  // the format's own limit
constexpr std::string_view kMetadata = "__metadata__";

constexpr std::pair<std::string_view, DType> kDTypes[] = {
    {"F32", DType::f32}, {"F64", DType::f64}, {"F16", DType::f16},      {"BF16", DType::bf16},
    {"I32", DType::i32}, {"I64", DType::i64}, {"BOOL", DType::boolean},
};

DType dtype_of(const Json& json) {
  for (const auto& [name, dtype] : kDTypes) {
    if (json.string() == name) return dtype;
  }
  json.refuse("must be one of F32, F64, F16, BF16, I32, I64, BOOL");
}

std::string_view dtype_name(DType dtype) {
  return std::ranges::find(kDTypes, dtype, &std::pair<std::string_view, DType>::second)->first;
}

// What the header says about one tensor, in bytes from the end of the header.
struct Entry {
  std::string name;
  DType dtype;
  std::vector<Index> shape;
  Index begin, end;
};

Entry parse_entry(const std::string& name, const Json& json, Index data_bytes, std::string_view file) {
  json.allow_only({"dtype", "shape", "data_offsets"});
  Entry entry{name, dtype_of(json["dtype"]), json["shape"].integer_list(0), 0, 0};
  const std::string where = fmt::format("{}: {}", file, printable(name));
  const Index bytes = checked_bytes(entry.dtype, entry.shape, where);
  const std::vector<Index> offsets = json["data_offsets"].integer_list(0);
  HEED_CHECK(offsets.size() == 2, "{}: data_offsets must be [begin, end], but has {} items", where, offsets.size());
  entry.begin = offsets[0];
  entry.end = offsets[1];
  HEED_CHECK(entry.begin <= entry.end && entry.end <= data_bytes,
             "{}: data_offsets [{}, {}] lie outside the file's {} bytes of data", where, entry.begin, entry.end,
             data_bytes);
  HEED_CHECK(entry.end - entry.begin == bytes, "{}: {} [{}] takes {} bytes, but data_offsets [{}, {}] hold {}", where,
             dtype_name(entry.dtype), fmt::join(entry.shape, ", "), bytes, entry.begin, entry.end,
             entry.end - entry.begin);
  return entry;
}

// Every byte of the data must belong to exactly one tensor: sorts the entries by their bytes.
void check_cover(std::vector<Entry>& entries, Index data_bytes, std::string_view file) {
  std::ranges::sort(entries, {}, [](const Entry& entry) { return std::tie(entry.begin, entry.end); });
  Index end = 0;
  for (const Entry& entry : entries) {
    HEED_CHECK(entry.begin >= end, "{}: {}: its bytes from {} overlap those of another tensor, which end at {}", file,
               printable(entry.name), entry.begin, end);
    HEED_CHECK(entry.begin == end, "{}: {}: the {} bytes of data before it belong to no tensor", file,
               printable(entry.name), entry.begin - end);
    end = entry.end;
  }
  HEED_CHECK(end == data_bytes, "{}: the last {} bytes belong to no tensor", file, data_bytes - end);
}

}  // namespace

std::map<std::string, Tensor> parse_safetensors(std::string_view bytes, std::string_view name,
                                                std::map<std::string, std::string>* metadata) {
  HEED_CHECK(bytes.size() >= kLengthBytes, "{}: not a safetensors file: {} bytes", name, bytes.size());
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), kLengthBytes);
  HEED_CHECK(length <= kMaxHeaderBytes, "{}: not a safetensors file: a header of {} bytes, more than {}", name, length,
             kMaxHeaderBytes);
  HEED_CHECK(length <= bytes.size() - kLengthBytes, "{}: cut short: a header of {} bytes in a file of {}", name, length,
             bytes.size());
  const std::string_view header = bytes.substr(kLengthBytes, length);
  const std::string_view data = bytes.substr(kLengthBytes + length);
  HEED_CHECK(header.starts_with('{'), "{}: not a safetensors file: the header is not a JSON object", name);

  std::vector<Entry> entries;
  std::map<std::string, std::string> texts;
  for (const auto& [key, value] : Json::parse(header, fmt::format("{}: header", name)).members()) {
    if (key == kMetadata) {
      for (const auto& [text_key, text] : value.members()) texts[text_key] = text.string();
    } else {
      entries.push_back(parse_entry(key, value, static_cast<Index>(data.size()), name));
    }
  }
  check_cover(entries, static_cast<Index>(data.size()), name);

  std::map<std::string, Tensor> tensors;
  for (const Entry& entry : entries) {
    const Tensor tensor = tensor_of_shape(entry.dtype, entry.shape);
    std::ranges::copy(
        data.substr(static_cast<std::size_t>(entry.begin), static_cast<std::size_t>(entry.end - entry.begin)),
        tensor.data<char>());
    if (entry.dtype == DType::boolean) check_booleans(tensor, fmt::format("{}: {}", name, printable(entry.name)));
    tensors[entry.name] = tensor;
  }
  if (metadata != nullptr) *metadata = std::move(texts);
  return tensors;
}

std::map<std::string, Tensor> read_safetensors(const std::filesystem::path& path,
                                               std::map<std::string, std::string>* metadata) {
  return parse_safetensors(read_file(path), path.string(), metadata);
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
                         Json::object({{"dtype", dtype_name(view.dtype)},
                                       {"shape", Json::array_of(std::span<const Index>(view.shape.data(), view.rank))},
                                       {"data_offsets", Json::array({begin, end})}}));
  }
  std::string header = Json::object(std::move(members)).dump();
  header.resize((header.size() + 7) / 8 * 8, ' ');
  HEED_CHECK(header.size() <= kMaxHeaderBytes, "{}: the header would be over {} bytes", file, kMaxHeaderBytes);

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
