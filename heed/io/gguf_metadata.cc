#include "heed/io/gguf_metadata.h"

#include <fmt/format.h>

#include <limits>
#include <string>
#include <unordered_set>
#include <vector>

#include "heed/base/check.h"
#include "heed/base/printable.h"

namespace heed {
namespace {

// The vocabularies in use have at most some 256,000 pieces, each with a score and a kind, and twice as many merges.
constexpr Index kMostValues = Index{1} << 22;
constexpr Index kMostItems = 65536, kMostKeys = 65536;
constexpr int kMostNested = 8;
constexpr std::uint64_t kMostKeyBytes = 65535;

enum class Kind : std::uint32_t { u8, i8, u16, i16, u32, i32, f32, boolean, string, array, u64, i64, f64 };

class MetadataReader {
 public:
  explicit MetadataReader(ByteReader& reader) : reader_(reader) {}

  Json pairs(std::uint64_t count) {
    constexpr Index kLeastBytes = 8 + 4 + 1;  // an empty key's length, a kind, a number of a byte
    const Index pairs = reader_.checked_count(count, kLeastBytes, "keys of metadata");
    HEED_CHECK(pairs <= kMostKeys, "{}: {} keys of metadata, more than {}", reader_.file(), pairs, kMostKeys);
    std::vector<Json::Member> members;
    std::unordered_set<std::string_view> keys;
    for (Index i = 0; i < pairs; ++i) {
      const std::string_view key = read_gguf_string(reader_, "a key of metadata");
      HEED_CHECK(!key.empty() && key.size() <= kMostKeyBytes, "{}: a key must be of 1 to {} bytes, but has {}",
                 reader_.file(), kMostKeyBytes, key.size());
      HEED_CHECK(keys.insert(key).second, "{}: the key {} is there twice", reader_.file(), printable(key));
      key_ = key;
      members.emplace_back(key, value(kind(), 0));
    }
    return Json::object(std::move(members));
  }

 private:
  [[noreturn]] void refuse(std::string_view rule) const {
    fail("{}: {}: {} at byte {}", reader_.file(), printable(key_), rule, reader_.at());
  }

  Kind kind() {
    const auto kind = reader_.number<std::uint32_t>("the kind of a value");
    if (kind > static_cast<std::uint32_t>(Kind::f64)) refuse(fmt::format("{} is no kind of value,", kind));
    return static_cast<Kind>(kind);
  }

  template <typename T>
  T number() {
    return reader_.number<T>("a value of metadata");
  }

  bool boolean() {
    const auto byte = number<std::uint8_t>();
    if (byte > 1) refuse(fmt::format("a boolean must be 0 or 1, but is {},", byte));
    return byte == 1;
  }

  std::string string() { return std::string(read_gguf_string(reader_, "a string of metadata")); }

  Index integer(Kind kind) {
    switch (kind) {
      case Kind::u8:
        return number<std::uint8_t>();
      case Kind::i8:
        return number<std::int8_t>();
      case Kind::u16:
        return number<std::uint16_t>();
      case Kind::i16:
        return number<std::int16_t>();
      case Kind::u32:
        return number<std::uint32_t>();
      case Kind::i32:
        return number<std::int32_t>();
      default:
        return number<std::int64_t>();
    }
  }

  Json value(Kind kind, int depth) {
    switch (kind) {
      case Kind::f32:
        return number<float>();
      case Kind::f64:
        return number<double>();
      case Kind::boolean:
        return boolean();
      case Kind::string:
        return string();
      case Kind::array:
        return array(depth + 1);
      case Kind::u64: {
        const auto value = number<std::uint64_t>();
        constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<Index>::max());
        return value <= kMost ? Json(static_cast<Index>(value)) : Json(static_cast<double>(value));
      }
      default:
        return integer(kind);
    }
  }

  Json array(int depth) {
    if (depth > kMostNested) refuse(fmt::format("arrays are nested more than {} deep", kMostNested));
    const Kind kind = this->kind();
    const Index count =
        reader_.checked_count(number<std::uint64_t>(), least_bytes(kind), fmt::format("values of {}", printable(key_)));
    values_ += count;
    if (values_ > kMostValues) refuse(fmt::format("more than {} values of metadata", kMostValues));
    switch (kind) {
      case Kind::string:
        return list<std::string>(count, [&] { return string(); });
      case Kind::f32:
        return list<double>(count, [&] { return static_cast<double>(number<float>()); });
      case Kind::f64:
        return list<double>(count, [&] { return number<double>(); });
      case Kind::u64:
      case Kind::boolean:
      case Kind::array:
        return items(kind, count, depth);
      default:
        return list<Index>(count, [&] { return integer(kind); });
    }
  }

  // What may be of several kinds of Json, or is rare.
  Json items(Kind kind, Index count, int depth) {
    items_ += count;
    if (items_ > kMostItems) refuse(fmt::format("more than {} booleans, arrays and u64 in arrays", kMostItems));
    std::vector<Json> items;
    for (Index i = 0; i < count; ++i) items.push_back(value(kind, depth));
    return Json::array(std::move(items));
  }

  // Values of one kind, of which there are hundreds of thousands in a file, without a Json for each.
  template <typename T, typename Read>
  static Json list(Index count, Read read) {
    std::vector<T> items(static_cast<std::size_t>(count));
    for (T& item : items) item = read();
    return Json::array_of(std::span<const T>(items));
  }

  static Index least_bytes(Kind kind) {
    constexpr Index kBytes[] = {1, 1, 2, 2, 4, 4, 4, 1, 8, 12, 8, 8, 8};
    return kBytes[static_cast<int>(kind)];
  }

  ByteReader& reader_;
  std::string_view key_;          // that is being read
  Index values_ = 0, items_ = 0;  // in arrays
};

}  // namespace

std::string_view read_gguf_string(ByteReader& reader, std::string_view what) {
  return reader.take(reader.number<std::uint64_t>(what), what);
}

Json read_gguf_metadata(ByteReader& reader, std::uint64_t count) { return MetadataReader(reader).pairs(count); }

}  // namespace heed
