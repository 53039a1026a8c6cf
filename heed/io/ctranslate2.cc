#include "heed/io/ctranslate2.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "heed/base/check.h"
#include "heed/base/file.h"
#include "heed/base/printable.h"
#include "heed/io/byte_reader.h"
#include "heed/io/ctranslate2_names.h"

namespace heed {
namespace {

constexpr std::uint32_t kLastBinaryVersion = 6, kFirstWithSpec = 2, kFirstWithAliases = 3, kFirstWithTypes = 4;
constexpr std::uint32_t kFirstRevision = 1;
constexpr Index kMostVariables = Index{1} << 18;
constexpr std::string_view kScale = "_scale";
// What weights of int16 are divided by in files that have no scale of their own for them.
constexpr float kScaleOfAll = 1000;

// A length of 2 bytes, the text, and a zero, which the length counts.
std::string read_text(ByteReader& reader, std::string_view what, std::size_t least) {
  const std::string_view text = reader.take(reader.number<std::uint16_t>(what), what);
  HEED_CHECK(text.size() > least && text.find('\0') == text.size() - 1,
             "{}: {} before byte {} must be a text that ends with its only zero", reader.file(), what, reader.at());
  return std::string(text.substr(0, text.size() - 1));
}

std::string read_name(ByteReader& reader, std::string_view what) { return read_text(reader, what, 1); }

// Of before there were several, it may be empty.
std::string read_spec(ByteReader& reader) { return read_text(reader, "the name of the specification", 0); }

StoredType type_of(std::uint8_t number, const std::string& where) {
  constexpr StoredType kStoredTypes[] = {StoredType::f32, StoredType::i8,  StoredType::i16,
                                         StoredType::i32, StoredType::f16, StoredType::bf16};
  HEED_CHECK(number < std::size(kStoredTypes), "{}: the type must be from 0 to {}, but is {}", where,
             std::size(kStoredTypes) - 1, number);
  return kStoredTypes[number];
}

StoredType type_of_width(std::uint8_t width, const std::string& where) {
  HEED_CHECK(width == 1 || width == 2 || width == 4, "{}: a number must be 1, 2 or 4 bytes wide, but is {}", where,
             width);
  return width == 1 ? StoredType::i8 : width == 2 ? StoredType::i16 : StoredType::f32;
}

StoredTensor read_variable(ByteReader& reader, std::uint32_t version, const std::string& name,
                           const std::shared_ptr<MappedFile>& file) {
  const std::string where = fmt::format("{}: {}", reader.file(), printable(name));
  StoredTensor variable{.file = file};
  const auto rank = reader.number<std::uint8_t>("the rank of a variable");
  HEED_CHECK(rank <= kMaxRank, "{}: the rank must be at most {}, but is {}", where, kMaxRank, rank);
  variable.rank = rank;
  for (int axis = 0; axis < rank; ++axis) {
    variable.shape[static_cast<std::size_t>(axis)] = reader.number<std::uint32_t>("an extent of a variable");
  }
  const auto code = reader.number<std::uint8_t>("the type of a variable");
  const bool typed = version >= kFirstWithTypes;
  variable.type = typed ? type_of(code, where) : type_of_width(code, where);
  const std::span<const Index> shape = std::span(variable.shape).first(rank);
  const Index needed = stored_bytes(variable.type, shape, where);
  const Index said = Index{reader.number<std::uint32_t>("the size of a variable")} * (typed ? 1 : code);
  HEED_CHECK(said == needed, "{}: {} [{}] takes {} bytes, but the file says {}", where, name_of(variable.type),
             fmt::join(shape, ", "), needed, said);
  variable.bytes = reader.take(static_cast<std::uint64_t>(needed), printable(name));
  return variable;
}

// Weights are what CTranslate2 quantises; other integers are options of the model.
bool is_weight(std::string_view name, const StoredTensor& variable) {
  return name.ends_with("weight") && variable.rank > 0 &&
         (variable.type == StoredType::i8 || variable.type == StoredType::i16);
}

void set_scales(StoredTensor& weight, std::string_view bytes) {
  weight.scales = bytes;
  const Index count = static_cast<Index>(bytes.size() / sizeof(float));
  weight.group = count == 1 ? weight.size() : weight.size() / count;
  weight.reciprocal = true;
}

// Hands each weight its scales, which are then no tensors of their own.
void attach_scales(Checkpoint::Tensors& tensors, std::string_view file) {
  static const std::string_view of_all(reinterpret_cast<const char*>(&kScaleOfAll), sizeof kScaleOfAll);
  std::vector<std::string> attached;
  for (auto& [name, weight] : tensors) {
    if (!is_weight(name, weight)) continue;
    const std::string where = fmt::format("{}: {}", file, printable(name));
    const auto found = tensors.find(name + std::string(kScale));
    if (found == tensors.end()) {
      HEED_CHECK(weight.type == StoredType::i16, "{}: is int8, but there is no {}{}", where, printable(name), kScale);
      set_scales(weight, of_all);
      continue;
    }
    const StoredTensor& scales = found->second;
    const bool of_rows = weight.type == StoredType::i8 && scales.size() == weight.shape[0];
    HEED_CHECK(scales.type == StoredType::f32 && (scales.size() == 1 || of_rows) && weight.size() > 0,
               "{}: {} [{}] must have a scale f32 of all, or, in int8, one of each row, but has {} of {}", where,
               name_of(weight.type), fmt::join(weight.shape.begin(), weight.shape.begin() + weight.rank, ", "),
               scales.size(), name_of(scales.type));
    set_scales(weight, scales.bytes);
    attached.push_back(found->first);
  }
  for (const std::string& name : attached) tensors.erase(name);
}

void read_aliases(ByteReader& reader, Checkpoint::Tensors& tensors) {
  constexpr Index kLeastBytes = 2 * (2 + 2);  // two names of a letter
  const Index count =
      reader.checked_count(reader.number<std::uint32_t>("the count of aliases"), kLeastBytes, "aliases");
  for (Index i = 0; i < count; ++i) {
    const std::string alias = read_name(reader, "an alias"), name = read_name(reader, "the name of an alias");
    const auto found = tensors.find(name);
    HEED_CHECK(found != tensors.end(), "{}: {} is an alias of {}, which is not there", reader.file(), printable(alias),
               printable(name));
    HEED_CHECK(tensors.emplace(alias, found->second).second, "{}: {} is there twice", reader.file(), printable(alias));
  }
}

// Whether it is the specification of a Transformer with an encoder and a decoder: the first files named none.
bool is_translator(std::string_view spec) {
  return spec.empty() || spec == "TransformerBase" || spec == "TransformerBig" || spec == "TransformerSpec";
}

}  // namespace

Checkpoint parse_ctranslate2(const std::shared_ptr<MappedFile>& file) {
  static_assert(std::endian::native == std::endian::little, "CTranslate2's files are little endian");
  const std::string& path = file->name();
  ByteReader reader(file->bytes(), path);
  const auto version = reader.number<std::uint32_t>("the version");
  HEED_CHECK(1 <= version && version <= kLastBinaryVersion,
             "{}: the version of a CTranslate2 file must be from 1 to {}, but is {}", path, kLastBinaryVersion,
             version);
  const bool has_spec = version >= kFirstWithSpec;
  const std::string spec = has_spec ? read_spec(reader) : "";
  const std::uint32_t revision =
      has_spec ? reader.number<std::uint32_t>("the revision of the specification") : kFirstRevision;
  const bool has_first_names = revision == kFirstRevision && is_translator(spec);

  constexpr Index kLeastBytes = 2 + 2 + 1 + 1 + 4;  // a name of a letter, a rank, a type, a size
  const Index count =
      reader.checked_count(reader.number<std::uint32_t>("the count of variables"), kLeastBytes, "variables");
  HEED_CHECK(count <= kMostVariables, "{}: {} variables, more than {}", path, count, kMostVariables);
  Checkpoint::Tensors tensors;
  for (Index i = 0; i < count; ++i) {
    std::string name = read_name(reader, "the name of a variable");
    // Before scales are looked for, which weights alone have.
    if (has_first_names) name = name_of_today(std::move(name));
    HEED_CHECK(tensors.emplace(name, read_variable(reader, version, name, file)).second, "{}: {} is there twice", path,
               printable(name));
  }
  attach_scales(tensors, path);
  if (version >= kFirstWithAliases) read_aliases(reader, tensors);
  HEED_CHECK(reader.left() == 0, "{}: the last {} bytes belong to nothing", path, reader.left());
  return {CheckpointFormat::ctranslate2, path, std::move(tensors),
          Json::object({{"binary_version", version}, {"spec", spec}, {"spec_revision", revision}})};
}

Checkpoint open_ctranslate2(const std::filesystem::path& path) {
  return parse_ctranslate2(std::make_shared<MappedFile>(path));
}

// A version, and a name that is printable ASCII: of the specification, or, where there is none, of the first variable,
// behind their count.
bool looks_like_ctranslate2(std::string_view bytes) {
  const auto printable_ascii = [](const std::string& name) {
    return std::ranges::all_of(name, [](char c) { return c >= ' ' && c <= '~'; });
  };
  try {
    ByteReader reader(bytes, "");
    const auto version = reader.number<std::uint32_t>("");
    if (version == 0 || version > 255) return false;  // a later one is told by its number
    if (version >= kFirstWithSpec) {
      const std::string spec = read_spec(reader);
      if (!spec.empty()) return printable_ascii(spec);
      reader.number<std::uint32_t>("");  // the revision
    }
    reader.number<std::uint32_t>("");
    return printable_ascii(read_name(reader, ""));
  } catch (const Error&) {
    return false;
  }
}

std::vector<std::string> read_ctranslate2_vocabulary(const std::filesystem::path& path) {
  const std::string text = read_file(path);
  if (path.extension() == ".json") return Json::parse(text, path.string()).string_list();
  std::vector<std::string> pieces;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    pieces.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return pieces;
}

}  // namespace heed
