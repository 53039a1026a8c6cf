#include "heed/io/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <span>
#include <tuple>
#include <vector>

#include "heed/base/check.h"
#include "heed/base/file_reader.h"
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

constexpr Index kLengthBytes = 8;
// The format's own implementation takes 100,000,000 bytes. A third of that names 250,000 tensors, more than any file in
// use has; and a header takes five times its size in memory.
constexpr std::uint64_t kMaxHeaderBytes = std::uint64_t{1} << 25;
constexpr std::size_t kMostMetadata = 65536;
constexpr std::string_view kMetadata = "__metadata__";

constexpr std::pair<std::string_view, DType> kDTypes[] = {
    {"F32", DType::f32}, {"F64", DType::f64}, {"F16", DType::f16}, {"BF16", DType::bf16},
    {"I8", DType::i8},   {"I32", DType::i32}, {"I64", DType::i64}, {"BOOL", DType::boolean},
};

DType dtype_of(const Json& json) {
  for (const auto& [name, dtype] : kDTypes) {
    if (json.string() == name) return dtype;
  }
  json.refuse("must be one of F32, F64, F16, BF16, I8, I32, I64, BOOL");
}

std::string_view dtype_name(DType dtype) {
  return std::ranges::find(kDTypes, dtype, &std::pair<std::string_view, DType>::second)->first;
}

using Entry = SafetensorsHeader::Entry;

// Where a file's bytes come from, in their order.
struct Source {
  std::string name;
  Index size;  // of all of it
  std::function<Index(void*, Index)> read_some;

  void read(void* to, Index bytes) const {
    const Index got = read_some(to, bytes);
    HEED_CHECK(got == bytes, "{}: cut short: {} bytes of {}", name, got, bytes);
  }
};

Source source_of(std::string_view bytes, std::string_view name) {
  const auto read_some = [rest = bytes](void* to, Index wanted) mutable {
    const std::string_view taken = rest.substr(0, static_cast<std::size_t>(wanted));
    std::ranges::copy(taken, static_cast<char*>(to));
    rest.remove_prefix(taken.size());
    return static_cast<Index>(taken.size());
  };
  return {std::string(name), static_cast<Index>(bytes.size()), read_some};
}

// A pipe tells its size only at its end: it is read whole, into `held`.
Source source_of(FileReader& file, const std::filesystem::path& path, std::string& held) {
  if (!file.size()) return source_of(held = file.read_rest(), path.string());
  return {path.string(), *file.size(), [&file](void* to, Index bytes) { return file.read(to, bytes); }};
}

Entry parse_entry(const std::string& name, const Json& json, Index data_bytes, std::string_view file) {
  json.allow_only({"dtype", "shape", "data_offsets"});
  Entry entry;
  entry.dtype = dtype_of(json["dtype"]);
  const std::vector<Index> shape = json["shape"].integer_list(0);
  const std::string where = fmt::format("{}: {}", file, printable(name));
  const Index bytes = checked_bytes(entry.dtype, shape, where);
  entry.rank = static_cast<int>(shape.size());
  std::ranges::copy(shape, entry.shape.begin());
  const std::vector<Index> offsets = json["data_offsets"].integer_list(0);
  HEED_CHECK(offsets.size() == 2, "{}: data_offsets must be [begin, end], but has {} items", where, offsets.size());
  entry.begin = offsets[0];
  entry.end = offsets[1];
  HEED_CHECK(entry.begin <= entry.end && entry.end <= data_bytes,
             "{}: data_offsets [{}, {}] lie outside the file's {} bytes of data", where, entry.begin, entry.end,
             data_bytes);
  HEED_CHECK(entry.end - entry.begin == bytes, "{}: {} [{}] takes {} bytes, but data_offsets [{}, {}] hold {}", where,
             dtype_name(entry.dtype), fmt::join(shape, ", "), bytes, entry.begin, entry.end, entry.end - entry.begin);
  return entry;
}

using Entries = std::vector<const std::pair<const std::string, Entry>*>;

// The entries in the order of their bytes, every one of which must belong to exactly one tensor.
Entries in_file_order(const SafetensorsHeader& header, Index data_bytes, std::string_view file) {
  Entries entries;
  for (const auto& item : header.tensors) entries.push_back(&item);
  std::ranges::stable_sort(entries, {},
                           [](const auto* item) { return std::tie(item->second.begin, item->second.end); });
  Index end = 0;
  for (const auto* item : entries) {
    const auto& [name, entry] = *item;
    HEED_CHECK(entry.begin >= end, "{}: {}: its bytes from {} overlap those of another tensor, which end at {}", file,
               printable(name), entry.begin, end);
    HEED_CHECK(entry.begin == end, "{}: {}: the {} bytes of data before it belong to no tensor", file, printable(name),
               entry.begin - end);
    end = entry.end;
  }
  HEED_CHECK(end == data_bytes, "{}: the last {} bytes belong to no tensor", file, data_bytes - end);
  return entries;
}

struct Contents {
  SafetensorsHeader header;
  Entries order;  // of the header's tensors
};

// Reads what stands before the data. Entries are taken one by one: the header's Json would be many times its size.
Contents read_header(const Source& source) {
  const std::string& name = source.name;
  HEED_CHECK(source.size >= kLengthBytes, "{}: not a safetensors file: {} bytes", name, source.size);
  std::uint64_t length = 0;
  source.read(&length, kLengthBytes);
  HEED_CHECK(length <= kMaxHeaderBytes,
             "{}: a header of {} bytes, over the limit of {}: too many tensors, or not a safetensors file", name,
             length, kMaxHeaderBytes);
  const Index header_bytes = static_cast<Index>(length), data_bytes = source.size - kLengthBytes - header_bytes;
  HEED_CHECK(data_bytes >= 0, "{}: cut short: a header of {} bytes in a file of {}", name, length, source.size);
  std::string text(length, '\0');
  source.read(text.data(), header_bytes);
  HEED_CHECK(text.starts_with('{'), "{}: not a safetensors file: the header is not a JSON object", name);

  Contents contents;
  std::map<std::string, SafetensorsHeader::Entry>& tensors = contents.header.tensors;
  std::map<std::string, std::string>& metadata = contents.header.metadata;
  Json::parse_members(
      text, fmt::format("{}: header", name),
      [&](std::span<const std::string> path, const Json& value) {
        if (path[0] != kMetadata) {
          tensors.emplace(path[0], parse_entry(path[0], value, data_bytes, name));
        } else if (path.size() == 1) {
          value.members();  // an object, whose members have been here
        } else {
          HEED_CHECK(metadata.size() < kMostMetadata, "{}: header: {} has more than {} texts", name, kMetadata,
                     kMostMetadata);
          metadata.emplace(path[1], value.string());
        }
      },
      kMetadata);
  contents.order = in_file_order(contents.header, data_bytes, name);
  return contents;
}

// Reads the data of a source that stands behind its header.
template <typename Take>
void read_data(const Source& source, const Contents& contents, Take&& take) {
  for (const auto* item : contents.order) {
    const auto& [name, entry] = *item;
    Tensor tensor = tensor_of_shape(entry.dtype, std::span(entry.shape).first(static_cast<std::size_t>(entry.rank)));
    source.read(tensor.data<char>(), entry.end - entry.begin);
    if (entry.dtype == DType::boolean) check_booleans(tensor, fmt::format("{}: {}", source.name, printable(name)));
    take(name, std::move(tensor));
  }
}

}  // namespace

struct SafetensorsFile::Opened {
  explicit Opened(const std::filesystem::path& path)
      : file(path), source(source_of(file, path, held)), contents(read_header(source)) {}

  FileReader file;
  std::string held;
  Source source;
  Contents contents;
};

SafetensorsFile::SafetensorsFile(const std::filesystem::path& path) : opened_(std::make_unique<Opened>(path)) {}
SafetensorsFile::SafetensorsFile(SafetensorsFile&&) noexcept = default;
SafetensorsFile& SafetensorsFile::operator=(SafetensorsFile&&) noexcept = default;
SafetensorsFile::~SafetensorsFile() = default;

const std::string& SafetensorsFile::name() const { return opened_->source.name; }

const SafetensorsHeader& SafetensorsFile::header() const { return opened_->contents.header; }

void SafetensorsFile::read(const std::function<void(const std::string&, Tensor)>& take) {
  read_data(opened_->source, opened_->contents, take);
}

SafetensorsHeader read_safetensors_header(const std::filesystem::path& path) {
  FileReader file(path);
  std::string held;
  return read_header(source_of(file, path, held)).header;
}

std::map<std::string, Tensor> read_safetensors(const std::filesystem::path& path,
                                               std::map<std::string, std::string>* metadata) {
  SafetensorsFile file(path);
  if (metadata != nullptr) *metadata = file.header().metadata;
  std::map<std::string, Tensor> tensors;
  file.read([&](const std::string& name, Tensor tensor) { tensors[name] = std::move(tensor); });
  return tensors;
}

std::map<std::string, Tensor> parse_safetensors(std::string_view bytes, std::string_view name,
                                                std::map<std::string, std::string>* metadata) {
  const Source source = source_of(bytes, name);
  const Contents contents = read_header(source);
  if (metadata != nullptr) *metadata = contents.header.metadata;
  std::map<std::string, Tensor> tensors;
  read_data(source, contents,
            [&](const std::string& tensor_name, Tensor tensor) { tensors[tensor_name] = std::move(tensor); });
  return tensors;
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
  HEED_CHECK(header.size() <= kMaxHeaderBytes, "{}: the header would be of {} bytes, over the limit of {}", file,
             header.size(), kMaxHeaderBytes);

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
