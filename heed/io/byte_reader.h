// Numbers and texts, read one after the other off bytes that nobody vouches for.
//
//   ByteReader reader(file->bytes(), file->name());
//   const auto version = reader.number<std::uint32_t>("the version");
//   const Index tensors = reader.checked_count(reader.number<std::uint64_t>("the count"), 24, "tensors");
//   const std::string_view name = reader.take(reader.number<std::uint64_t>("a name's length"), "a name");
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "heed/base/error.h"
#include "heed/base/index.h"

namespace heed {

// Every call throws heed::Error that names the file, the byte and what was to be read where the bytes do not reach.
class ByteReader {
 public:
  // `file` names the bytes in errors; both must outlive the reader.
  ByteReader(std::string_view bytes, std::string_view file) : bytes_(bytes), file_(file) {}

  // A number as this machine has it in memory: little endian.
  template <typename T>
  T number(std::string_view what) {
    static_assert(std::endian::native == std::endian::little);
    T value;
    std::memcpy(&value, take(sizeof value, what).data(), sizeof value);
    return value;
  }
  std::string_view take(std::uint64_t bytes, std::string_view what);
  // A count of what takes at least `least_bytes` each: no more than the bytes that are left can hold.
  Index checked_count(std::uint64_t count, Index least_bytes, std::string_view what) const;

  // How many bytes have been read, and how many are left.
  Index at() const { return static_cast<Index>(at_); }
  Index left() const { return static_cast<Index>(bytes_.size() - at_); }
  std::string_view file() const { return file_; }

 private:
  std::string_view bytes_, file_;
  std::size_t at_ = 0;
};

}  // namespace heed
