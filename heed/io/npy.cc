#include "heed/io/npy.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <optional>
#include <vector>

#include "heed/base/check.h"
#include "heed/base/file.h"
#include "heed/base/file_writer.h"
#include "heed/base/index.h"
#include "heed/base/printable.h"
#include "heed/io/file_tensor.h"
#include "heed/tensor/shape_bytes.h"

namespace heed {
namespace {

static_assert(std::endian::native == std::endian::little, "elements are copied as they are");

// A file is: the magic, the version (2 bytes), the header's length (2 bytes in version 1, otherwise 4), the header (a
// Python dictionary, then spaces and a newline), the elements. numpy aligns the elements to 64 bytes.
constexpr std::string_view kNpyMagic("\x93NUMPY", 6);
constexpr std::size_t kMostNpyHeaderBytes = 1 << 16;
constexpr std::size_t kAlignment = 64;
constexpr Index kMaxNpyRank = 32;

constexpr std::pair<std::string_view, DType> kDTypes[] = {
    {"<f4", DType::f32}, {"<f8", DType::f64}, {"<f2", DType::f16},
    {"<i4", DType::i32}, {"<i8", DType::i64}, {"|b1", DType::boolean},
};

struct NpyHeader {
  std::optional<std::string> descr;
  std::optional<bool> fortran_order;
  std::optional<std::vector<Index>> shape;
};

// Reads the one form of Python dictionary that the format has: {'descr': '<f4', 'fortran_order': False, 'shape': (2,
// 3), }.
class NpyHeaderParser {
 public:
  NpyHeaderParser(std::string_view text, std::string_view file) : text_(text), file_(file) {}

  NpyHeader parse() {
    NpyHeader header;
    expect('{');
    while (!accept('}')) {
      const std::string key = string();
      expect(':');
      if (key == "descr") {
        set(header.descr, string(), key);
      } else if (key == "fortran_order") {
        set(header.fortran_order, boolean(), key);
      } else if (key == "shape") {
        set(header.shape, tuple(), key);
      } else {
        fail("{}: unknown key '{}' in the header", file_, printable(key));
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_spaces();
    if (at_ != text_.size()) refuse("the end of the header");
    HEED_CHECK(header.descr && header.fortran_order && header.shape,
               "{}: the header must have descr, fortran_order and shape", file_);
    return header;
  }

 private:
  template <typename T>
  void set(std::optional<T>& field, T value, const std::string& key) {
    HEED_CHECK(!field, "{}: the key '{}' appears twice in the header", file_, printable(key));
    field = std::move(value);
  }

  void skip_spaces() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  bool accept(char c) {
    skip_spaces();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) refuse(std::string{'\'', c, '\''});
  }
  bool accept_word(std::string_view word) {
    skip_spaces();
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  std::string string() {
    skip_spaces();
    const char quote = accept('\'') ? '\'' : '"';
    if (quote == '"' && !accept('"')) refuse("a string");
    const std::size_t end = text_.find(quote, at_);
    if (end == std::string_view::npos) refuse("the end of a string");
    const std::string_view value = text_.substr(at_, end - at_);
    // Names and dtypes are plain; anything else would only be echoed in an error.
    if (!std::ranges::all_of(value, [](char c) { return c >= ' ' && c <= '~' && c != '\\'; })) refuse("a plain string");
    at_ = end + 1;
    return std::string(value);
  }
  bool boolean() {
    if (accept_word("True")) return true;
    if (!accept_word("False")) refuse("True or False");
    return false;
  }
  Index integer() {
    skip_spaces();
    Index value = 0;
    const char* const begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (error != std::errc() || value < 0) refuse("a 64-bit extent");
    at_ += static_cast<std::size_t>(end - begin);
    return value;
  }
  // Python writes (), (2,) and (2, 3).
  std::vector<Index> tuple() {
    std::vector<Index> values;
    expect('(');
    while (!accept(')')) {
      values.push_back(integer());
      if (!accept(',')) {
        expect(')');
        if (values.size() == 1) refuse("a comma after a tuple's only item");
        break;
      }
    }
    return values;
  }

  [[noreturn]] void refuse(std::string_view wanted) {
    fail(
        "{}: the header must be {{'descr': ..., 'fortran_order': ..., 'shape': ...}}, but at byte {} of it {} is "
        "missing",
        file_, at_ + 1, wanted);
  }

  std::string_view text_, file_;
  std::size_t at_ = 0;
};

DType dtype_of(const std::string& descr, std::string_view file) {
  for (const auto& [name, dtype] : kDTypes) {
    if (descr == name) return dtype;
  }
  HEED_CHECK(!descr.starts_with('>'), "{}: the dtype '{}' is big-endian; only little-endian files are read", file,
             printable(descr));
  fail("{}: the dtype must be one of <f4, <f8, <f2, <i4, <i8, |b1, but is '{}'", file, printable(descr));
}

// The elements of a column-major array of `shape`, in row-major order.
Tensor row_major(const Tensor& stored, const std::vector<Index>& shape) {
  const Tensor ordered = Tensor::empty_like(stored.view());
  const Index bytes = size_of(stored.dtype());
  std::vector<Index> index(shape.size(), 0);
  for (Index to = 0; to < stored.size(); ++to) {
    Index from = 0;
    for (std::size_t axis = shape.size(); axis-- > 0;) from = from * shape[axis] + index[axis];
    std::memcpy(ordered.data<char>() + to * bytes, stored.data<char>() + from * bytes, static_cast<std::size_t>(bytes));
    for (std::size_t axis = shape.size(); axis-- > 0;) {  // the next index, the last axis fastest
      if (++index[axis] < shape[axis]) break;
      index[axis] = 0;
    }
  }
  return ordered;
}

NpyArray parse(std::string_view bytes, std::string_view name, Index max_rank) {
  HEED_CHECK(bytes.starts_with(kNpyMagic), "{}: not an npy file", name);
  HEED_CHECK(bytes.size() >= 12, "{}: cut short: {} bytes", name, bytes.size());
  const int version = static_cast<unsigned char>(bytes[6]), minor = static_cast<unsigned char>(bytes[7]);
  HEED_CHECK(version >= 1 && version <= 3 && minor == 0, "{}: the npy version must be 1.0, 2.0 or 3.0, but is {}.{}",
             name, version, minor);
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  std::uint32_t length = 0;
  std::memcpy(&length, bytes.data() + 8, length_bytes);
  bytes.remove_prefix(8 + length_bytes);
  HEED_CHECK(length <= kMostNpyHeaderBytes, "{}: a header of {} bytes, more than {}", name, length,
             kMostNpyHeaderBytes);
  HEED_CHECK(length <= bytes.size(), "{}: cut short: {} bytes of a header of {}", name, bytes.size(), length);

  const NpyHeader header = NpyHeaderParser(bytes.substr(0, length), name).parse();
  bytes.remove_prefix(length);
  const DType dtype = dtype_of(*header.descr, name);
  const std::vector<Index>& shape = *header.shape;
  const Index expected = checked_bytes(dtype, shape, name, max_rank);
  HEED_CHECK(static_cast<Index>(bytes.size()) == expected,
             "{}: shape [{}] of '{}' takes {} bytes, but the file holds {}", name, fmt::join(shape, ", "),
             *header.descr, expected, bytes.size());

  const Tensor stored = Tensor::empty(dtype, {expected / size_of(dtype)});
  std::ranges::copy(bytes, stored.data<char>());
  if (dtype == DType::boolean) check_booleans(stored, name);
  return {shape, *header.fortran_order ? row_major(stored, shape) : stored};
}

}  // namespace

Tensor parse_npy(std::string_view bytes, std::string_view name) {
  const NpyArray array = parse(bytes, name, kMaxRank);
  const Tensor tensor = tensor_of_shape(array.elements.dtype(), array.shape);
  std::memcpy(tensor.data<char>(), array.elements.data<char>(),
              static_cast<std::size_t>(tensor.size() * size_of(tensor.dtype())));
  return tensor;
}

Tensor read_npy(const std::filesystem::path& path) { return parse_npy(read_file(path), path.string()); }

NpyArray parse_npy_array(std::string_view bytes, std::string_view name) { return parse(bytes, name, kMaxNpyRank); }

NpyArray read_npy_array(const std::filesystem::path& path) { return parse_npy_array(read_file(path), path.string()); }

namespace {

// All that stands before the elements.
std::string npy_header(const ConstView& view, std::string_view name) {
  HEED_CHECK(!view.empty(), "{}: the view to write is empty", name);
  const auto descr = std::ranges::find(kDTypes, view.dtype, &std::pair<std::string_view, DType>::second);
  HEED_CHECK(descr != std::end(kDTypes), "{}: npy files cannot hold {}", name, name_of(view.dtype));
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", descr->first,
                  fmt::join(view.shape.begin(), view.shape.begin() + view.rank, ", "), view.rank == 1 ? "," : "");
  const std::size_t unpadded = kNpyMagic.size() + 4 + header.size() + 1;
  header.append(round_up(unpadded, kAlignment) - unpadded, ' ');
  header += '\n';
  const std::uint16_t length = static_cast<std::uint16_t>(header.size());
  std::string all(kNpyMagic);
  all.append("\x01\x00", 2);
  all.append(reinterpret_cast<const char*>(&length), sizeof length);
  return all + header;
}

}  // namespace

std::string npy_bytes(const ConstView& view, std::string_view name) {
  std::string bytes = npy_header(view, name);
  const Tensor copied = view.contiguous() ? Tensor() : Tensor::copy_of(view);
  bytes.append(static_cast<const char*>(copied.is_empty() ? view.data : copied.data<char>()),
               static_cast<std::size_t>(view.size()) * static_cast<std::size_t>(size_of(view.dtype)));
  return bytes;
}

void write_npy(const std::filesystem::path& path, const ConstView& view) {
  const std::string header = npy_header(view, path.string());
  FileWriter writer(path);
  writer.write(header);
  const Tensor copied = view.contiguous() ? Tensor() : Tensor::copy_of(view);
  writer.write(copied.is_empty() ? view.data : copied.data<char>(), view.size() * size_of(view.dtype));
  writer.commit();
}

}  // namespace heed
