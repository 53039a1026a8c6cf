#include "heed/io/gguf.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <vector>

#include "heed/base/check.h"
#include "heed/base/index.h"
#include "heed/base/printable.h"
#include "heed/io/byte_reader.h"
#include "heed/io/gguf_metadata.h"
#include "heed/io/gguf_parts.h"

namespace heed {
namespace {

constexpr std::string_view kGgufMagic = "GGUF";
constexpr std::uint32_t kFirstVersion = 2, kLastVersion = 3;
constexpr Index kMostTensors = Index{1} << 18;
constexpr Index kDefaultAlignment = 32, kMostAlignment = Index{1} << 20;

// ggml's types by their numbers, with those that heed does not read, so that an error can name them.
struct GgmlType {
  std::uint32_t number;
  std::string_view name;
  std::optional<StoredType> type = {};
};
constexpr GgmlType kGgmlTypes[] = {
    {0, "F32", StoredType::f32},
    {1, "F16", StoredType::f16},
    {2, "Q4_0", stored(BlockType::q4_0)},
    {3, "Q4_1", stored(BlockType::q4_1)},
    {6, "Q5_0", stored(BlockType::q5_0)},
    {7, "Q5_1", stored(BlockType::q5_1)},
    {8, "Q8_0", stored(BlockType::q8_0)},
    {9, "Q8_1"},
    {10, "Q2_K", stored(BlockType::q2_k)},
    {11, "Q3_K", stored(BlockType::q3_k)},
    {12, "Q4_K", stored(BlockType::q4_k)},
    {13, "Q5_K", stored(BlockType::q5_k)},
    {14, "Q6_K", stored(BlockType::q6_k)},
    {15, "Q8_K"},
    {16, "IQ2_XXS"},
    {17, "IQ2_XS"},
    {18, "IQ3_XXS"},
    {19, "IQ1_S"},
    {20, "IQ4_NL", stored(BlockType::iq4_nl)},
    {21, "IQ3_S"},
    {22, "IQ2_S"},
    {23, "IQ4_XS", stored(BlockType::iq4_xs)},
    {24, "I8", StoredType::i8},
    {25, "I16", StoredType::i16},
    {26, "I32", StoredType::i32},
    {27, "I64", StoredType::i64},
    {28, "F64", StoredType::f64},
    {29, "IQ1_M"},
    {30, "BF16", StoredType::bf16},
    {34, "TQ1_0"},
    {35, "TQ2_0"},
    {39, "MXFP4"},
};

StoredType type_of(std::uint32_t number, const std::string& where) {
  std::vector<std::string_view> readable;
  std::string name = fmt::format("{}", number);
  for (const GgmlType& known : kGgmlTypes) {
    if (known.type && known.number == number) return *known.type;
    if (known.type) readable.push_back(known.name);
    if (known.number == number) name = known.name;
  }
  fail("{}: the type must be one of {}, but is {}", where, fmt::join(readable, ", "), name);
}

// A tensor as the head of the file describes it, whose bytes are yet to be found.
struct Described {
  std::string name;
  StoredTensor stored;
  std::uint64_t offset = 0;
  Index bytes = 0;
};

Described read_tensor(ByteReader& reader) {
  Described tensor;
  tensor.name = read_gguf_string(reader, "the name of a tensor");
  const std::string where = fmt::format("{}: {}", reader.file(), printable(tensor.name));
  HEED_CHECK(!tensor.name.empty(), "{}: a tensor has no name", reader.file());
  const auto rank = reader.number<std::uint32_t>("the rank of a tensor");
  HEED_CHECK(rank <= kMaxRank, "{}: the rank must be at most {}, but is {}", where, kMaxRank, rank);
  std::vector<Index> shape(rank);
  for (auto extent = shape.rbegin(); extent != shape.rend(); ++extent) {
    *extent = reader.number<Index>("an extent of a tensor");  // beyond 2^63 it is negative, and refused as that
  }
  tensor.stored.type = type_of(reader.number<std::uint32_t>("the type of a tensor"), where);
  tensor.bytes = stored_bytes(tensor.stored.type, shape, where);
  tensor.stored.rank = static_cast<int>(rank);
  std::ranges::copy(shape, tensor.stored.shape.begin());
  tensor.offset = reader.number<std::uint64_t>("the offset of a tensor");
  return tensor;
}

Index alignment_of(const Json& metadata) {
  constexpr const char* kKey = "general.alignment";
  if (!metadata.has(kKey)) return kDefaultAlignment;
  const Index alignment = metadata[kKey].integer(1, kMostAlignment);
  if (!std::has_single_bit(static_cast<std::uint64_t>(alignment))) metadata[kKey].refuse("must be a power of two");
  return alignment;
}

// Gives each tensor its bytes of the data, which no two share.
Checkpoint::Tensors place(std::vector<Described> described, const std::shared_ptr<MappedFile>& file,
                          std::string_view data, Index alignment) {
  std::ranges::stable_sort(described, {}, &Described::offset);
  Checkpoint::Tensors tensors;
  std::uint64_t end = 0;
  for (Described& tensor : described) {
    const auto& [name, stored, offset, size] = tensor;
    const std::string where = fmt::format("{}: {}", file->name(), printable(name));
    const auto bytes = static_cast<std::uint64_t>(size);
    HEED_CHECK(offset % static_cast<std::uint64_t>(alignment) == 0,
               "{}: its offset must be a multiple of {}, the file's alignment, but is {}", where, alignment, offset);
    HEED_CHECK(offset <= data.size() && bytes <= data.size() - offset,
               "{}: cut short: its {} bytes from {} do not lie in the file's {} bytes of data", where, bytes, offset,
               data.size());
    HEED_CHECK(offset >= end, "{}: its bytes from {} overlap those of another tensor, which end at {}", where, offset,
               end);
    end = offset + bytes;
    tensor.stored.file = file;
    tensor.stored.bytes = data.substr(offset, bytes);
    const bool first = tensors.emplace(std::move(tensor.name), std::move(tensor.stored)).second;
    HEED_CHECK(first, "{}: the tensor is there twice", where);
  }
  return tensors;
}

// What one file has.
struct Part {
  Checkpoint::Tensors tensors;
  Json metadata;
};

Part parse_part(const std::shared_ptr<MappedFile>& file) {
  const std::string& name = file->name();
  ByteReader reader(file->bytes(), name);
  HEED_CHECK(file->bytes().starts_with(kGgufMagic), "{}: not a GGUF file", name);
  reader.take(kGgufMagic.size(), "the magic");
  const auto version = reader.number<std::uint32_t>("the version");
  HEED_CHECK((version & 0xFFFF) != 0 || version == 0, "{}: is big endian; only little-endian files are read", name);
  HEED_CHECK(kFirstVersion <= version && version <= kLastVersion, "{}: the GGUF version must be {} or {}, but is {}",
             name, kFirstVersion, kLastVersion, version);
  constexpr Index kLeastBytes = 8 + 4 + 4 + 8;  // a name's length, a rank, a type, an offset
  const Index count =
      reader.checked_count(reader.number<std::uint64_t>("the count of tensors"), kLeastBytes, "tensors");
  HEED_CHECK(count <= kMostTensors, "{}: {} tensors, more than {}", name, count, kMostTensors);
  Json metadata = read_gguf_metadata(reader, reader.number<std::uint64_t>("the count of metadata")).named(name);
  const Index alignment = alignment_of(metadata);

  std::vector<Described> described;
  for (Index i = 0; i < count; ++i) described.push_back(read_tensor(reader));
  const std::size_t head = static_cast<std::size_t>(round_up(reader.at(), alignment));
  const std::string_view data = file->bytes().substr(std::min(head, file->bytes().size()));
  return {place(std::move(described), file, data, alignment), std::move(metadata)};
}

}  // namespace

Checkpoint parse_gguf(const std::shared_ptr<MappedFile>& file) {
  Part whole = parse_part(file);
  const Index parts = gguf_parts(whole.metadata);
  for (Index i = 1; i < parts; ++i) {
    const auto other = std::make_shared<MappedFile>(gguf_part(file->name(), i, parts));
    Part part = parse_part(other);
    check_gguf_part(part.metadata, i, parts);
    whole.tensors.merge(part.tensors);
    HEED_CHECK(part.tensors.empty(), "{}: {}: the tensor is in a file before this one, too", other->name(),
               printable(part.tensors.begin()->first));
    HEED_CHECK(std::ssize(whole.tensors) <= kMostTensors,
               "{}: {} tensors with those of the files before it, more than {}", other->name(), whole.tensors.size(),
               kMostTensors);
  }
  constexpr const char* kTensors = "split.tensors.count";
  if (parts > 1 && whole.metadata.has(kTensors) && whole.metadata[kTensors].integer() != std::ssize(whole.tensors)) {
    whole.metadata[kTensors].refuse(fmt::format("must be the {} tensors of {} files", whole.tensors.size(), parts));
  }
  return {CheckpointFormat::gguf, file->name(), std::move(whole.tensors), std::move(whole.metadata)};
}

Checkpoint open_gguf(const std::filesystem::path& path) { return parse_gguf(std::make_shared<MappedFile>(path)); }

}  // namespace heed
