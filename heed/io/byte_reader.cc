#include "heed/io/byte_reader.h"

#include "heed/base/check.h"

namespace heed {

std::string_view ByteReader::take(std::uint64_t bytes, std::string_view what) {
  HEED_CHECK(bytes <= bytes_.size() - at_, "{}: cut short: {} at byte {} takes {} bytes, but {} are left", file_, what,
             at_, bytes, bytes_.size() - at_);
  const std::string_view taken = bytes_.substr(at_, static_cast<std::size_t>(bytes));
  at_ += taken.size();
  return taken;
}

Index ByteReader::checked_count(std::uint64_t count, Index least_bytes, std::string_view what) const {
  HEED_CHECK(count <= static_cast<std::uint64_t>(left() / least_bytes),
             "{}: cut short: {} {} are said to be at byte {}, of {} bytes or more each, but {} are left", file_, count,
             what, at_, least_bytes, left());
  return static_cast<Index>(count);
}

}  // namespace heed
