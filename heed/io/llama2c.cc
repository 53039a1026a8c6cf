#include "heed/io/llama2c.h"

#include <fmt/format.h>

#include <bit>
#include <cstdlib>
#include <optional>
#include <span>

#include "heed/base/check.h"
#include "heed/base/file.h"
#include "heed/io/byte_reader.h"

namespace heed {
namespace {

constexpr std::uint32_t kLlama2cMagic = 0x616b3432;  // "24ka" in the file's bytes
constexpr std::size_t kHeaderBytes = 256;            // of version 1 and 2
constexpr Index kMostExtent = Index{1} << 24, kMostLayers = 4096;

struct Llama2cHeader {
  std::uint32_t version = 0;
  Index dim = 0, hidden_dim = 0, layers = 0, heads = 0, key_value_heads = 0, vocabulary = 0, positions = 0;
  bool shared_classifier = false;
  Index group = 0;  // of version 2

  Index key_value_dim() const { return dim / heads * key_value_heads; }
};

bool is_extent(Index value, Index most = kMostExtent) { return 1 <= value && value <= most; }

// Whether a model can have these extents: of seven numbers that anything else begins with, few do.
bool goes_together(const Llama2cHeader& header) {
  return is_extent(header.dim) && is_extent(header.hidden_dim) && is_extent(header.layers, kMostLayers) &&
         is_extent(header.heads) && is_extent(header.key_value_heads) && is_extent(header.vocabulary) &&
         is_extent(header.positions) && header.dim % header.heads == 0 && header.dim / header.heads % 2 == 0 &&
         header.heads % header.key_value_heads == 0;
}

Llama2cHeader read_header(ByteReader& reader) {
  Llama2cHeader header;
  const bool marked = reader.left() >= 4 && ByteReader(reader).number<std::uint32_t>("the magic") == kLlama2cMagic;
  if (marked) {
    reader.number<std::uint32_t>("the magic");
    header.version = reader.number<std::uint32_t>("the version");
    HEED_CHECK(header.version == 1 || header.version == 2,
               "{}: the version of a llama2.c file with a magic must be 1 or 2, but is {}", reader.file(),
               header.version);
  }
  for (Index* const extent : {&header.dim, &header.hidden_dim, &header.layers, &header.heads, &header.key_value_heads,
                              &header.vocabulary, &header.positions}) {
    *extent = reader.number<std::int32_t>("the header");
  }
  if (marked) {
    header.shared_classifier = reader.number<std::uint8_t>("the header") != 0;
    if (header.version == 2) header.group = reader.number<std::int32_t>("the size of a group");
    reader.take(kHeaderBytes - static_cast<std::size_t>(reader.at()), "the header");
  } else {
    header.shared_classifier = header.vocabulary > 0;
    header.vocabulary = std::abs(header.vocabulary);
  }
  return header;
}

// Takes tensors off the file in its order.
class Layout {
 public:
  Layout(const Llama2cHeader& header, ByteReader& reader, const std::shared_ptr<MappedFile>& file)
      : header_(header), reader_(reader), file_(file) {}

  // f32 numbers that are no matrix of the model's.
  void vector(const std::string& name) { add(name, StoredType::f32, {header_.dim}); }
  // A matrix, of one type with all others; the scales of its groups are behind it.
  void matrix(const std::string& name, Index rows, Index columns) {
    const Index group = header_.group;
    if (group == 0) return void(add(name, StoredType::f32, {rows, columns}));
    StoredTensor& tensor = add(name, StoredType::i8, {rows, columns});
    HEED_CHECK(tensor.size() % group == 0, "{}: {}: {} numbers are not whole groups of {}", reader_.file(), name,
               tensor.size(), group);
    tensor.group = group;
    tensor.scales =
        reader_.take(static_cast<std::uint64_t>(tensor.size() / group) * sizeof(float), "the scales of a matrix");
  }
  // Of each layer, one behind the other.
  void vectors(std::string_view name) {
    for (Index layer = 0; layer < header_.layers; ++layer) vector(fmt::format("layers.{}.{}.weight", layer, name));
  }
  void matrices(std::string_view name, Index rows, Index columns) {
    for (Index layer = 0; layer < header_.layers; ++layer) {
      matrix(fmt::format("layers.{}.{}.weight", layer, name), rows, columns);
    }
  }

  Checkpoint::Tensors finish() {
    HEED_CHECK(reader_.left() == 0, "{}: {} bytes are left behind a model of these extents", reader_.file(),
               reader_.left());
    return std::move(tensors_);
  }

 private:
  StoredTensor& add(const std::string& name, StoredType type, std::initializer_list<Index> shape) {
    StoredTensor tensor{.type = type, .rank = static_cast<int>(shape.size()), .file = file_};
    std::ranges::copy(shape, tensor.shape.begin());
    const Index bytes = stored_bytes(type, shape, fmt::format("{}: {}", reader_.file(), name));
    tensor.bytes = reader_.take(static_cast<std::uint64_t>(bytes), name);
    return tensors_.emplace(name, std::move(tensor)).first->second;
  }

  const Llama2cHeader& header_;
  ByteReader& reader_;
  const std::shared_ptr<MappedFile>& file_;
  Checkpoint::Tensors tensors_;
};

// Attention's and the feed-forward network's matrices, of which w3 and w1 make the gated product that w2 maps back.
void attention_matrices(Layout& layout, const Llama2cHeader& header) {
  layout.matrices("attention.wq", header.dim, header.dim);
  layout.matrices("attention.wk", header.key_value_dim(), header.dim);
  layout.matrices("attention.wv", header.key_value_dim(), header.dim);
  layout.matrices("attention.wo", header.dim, header.dim);
}
void feed_forward_matrices(Layout& layout, const Llama2cHeader& header) {
  layout.matrices("feed_forward.w1", header.hidden_dim, header.dim);
  layout.matrices("feed_forward.w2", header.dim, header.hidden_dim);
  layout.matrices("feed_forward.w3", header.hidden_dim, header.dim);
}

Checkpoint::Tensors read_tensors(const Llama2cHeader& header, ByteReader& reader,
                                 const std::shared_ptr<MappedFile>& file) {
  Layout layout(header, reader, file);
  const std::string embedding = "tok_embeddings.weight", norm = "norm.weight";
  if (header.version == 0) {
    layout.matrix(embedding, header.vocabulary, header.dim);
    layout.vectors("attention_norm");
    attention_matrices(layout, header);
    layout.vectors("ffn_norm");
    feed_forward_matrices(layout, header);
    layout.vector(norm);
    const auto angles = static_cast<std::uint64_t>(header.positions * (header.dim / header.heads / 2));
    reader.take(2 * angles * sizeof(float), "the tables of rotary positions");
  } else {
    layout.vectors("attention_norm");
    layout.vectors("ffn_norm");
    layout.vector(norm);
    layout.matrix(embedding, header.vocabulary, header.dim);
    attention_matrices(layout, header);
    feed_forward_matrices(layout, header);
  }
  if (!header.shared_classifier) layout.matrix("output.weight", header.vocabulary, header.dim);
  return layout.finish();
}

}  // namespace

Checkpoint parse_llama2c(const std::shared_ptr<MappedFile>& file) {
  static_assert(std::endian::native == std::endian::little, "llama2.c's files are little endian");
  ByteReader reader(file->bytes(), file->name());
  const Llama2cHeader header = read_header(reader);
  HEED_CHECK(goes_together(header),
             "{}: no model has these extents: dim {}, hidden_dim {}, {} layers, {} heads, {} for keys, vocabulary {}, "
             "{} positions",
             file->name(), header.dim, header.hidden_dim, header.layers, header.heads, header.key_value_heads,
             header.vocabulary, header.positions);
  HEED_CHECK(header.version != 2 || is_extent(header.group), "{}: a group must be of 1 to {} numbers, but is of {}",
             file->name(), kMostExtent, header.group);
  Json metadata = Json::object({{"version", header.version},
                                {"dim", header.dim},
                                {"hidden_dim", header.hidden_dim},
                                {"n_layers", header.layers},
                                {"n_heads", header.heads},
                                {"n_kv_heads", header.key_value_heads},
                                {"vocab_size", header.vocabulary},
                                {"max_seq_len", header.positions},
                                {"shared_classifier", header.shared_classifier},
                                {"group_size", header.group}});
  return {CheckpointFormat::llama2c, file->name(), read_tensors(header, reader, file), std::move(metadata)};
}

Checkpoint open_llama2c(const std::filesystem::path& path) { return parse_llama2c(std::make_shared<MappedFile>(path)); }

bool looks_like_llama2c(std::string_view bytes) {
  try {
    ByteReader reader(bytes, "");
    if (ByteReader(reader).number<std::uint32_t>("") == kLlama2cMagic) return true;
    return goes_together(read_header(reader));
  } catch (const Error&) {
    return false;
  }
}

// The longest piece's bytes; then of each piece its score, its length and its text, to the end of the file.
Llama2cVocabulary parse_llama2c_vocabulary(std::string_view bytes, std::string_view name) {
  ByteReader reader(bytes, name);
  Llama2cVocabulary vocabulary;
  vocabulary.longest = reader.number<std::int32_t>("the longest piece's length");
  while (reader.left() > 0) {
    vocabulary.scores.push_back(reader.number<float>("a piece's score"));
    const Index length = reader.number<std::int32_t>("a piece's length");
    HEED_CHECK(0 <= length && length <= vocabulary.longest,
               "{}: the piece at byte {} must be of 0 to {} bytes, as the file says of the longest, but is of {}", name,
               reader.at(), vocabulary.longest, length);
    vocabulary.pieces.emplace_back(reader.take(static_cast<std::uint64_t>(length), "a piece"));
  }
  HEED_CHECK(!vocabulary.pieces.empty(), "{}: no pieces", name);
  return vocabulary;
}

Llama2cVocabulary read_llama2c_vocabulary(const std::filesystem::path& path) {
  return parse_llama2c_vocabulary(read_file(path), path.string());
}

}  // namespace heed
