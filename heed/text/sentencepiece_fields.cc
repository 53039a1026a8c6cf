#include "heed/text/sentencepiece_fields.h"

#include <cstring>

#include "heed/base/check.h"

namespace heed {
namespace {

template <typename T>
T number_in(std::string_view bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

}  // namespace

void SentencePieceField::expect(WireType expected, std::string_view what, std::string_view name) const {
  HEED_CHECK(type == expected, "{}: not a SentencePiece model: its {} has the wire type {}", name, what,
             static_cast<int>(type));
}

float SentencePieceField::number32() const {
  const auto bits = static_cast<std::uint32_t>(value);
  float read;
  std::memcpy(&read, &bits, sizeof read);
  return read;
}

SentencePieceField SentencePieceMessage::next() {
  const std::uint64_t tag = varint();
  SentencePieceField field{tag >> 3, static_cast<WireType>(tag & 7), 0, {}};
  HEED_CHECK(field.number > 0, "{}: not a SentencePiece model: a field has the number 0", name_);
  switch (field.type) {
    case WireType::varint:
      field.value = varint();
      break;
    case WireType::fixed64:
      field.value = number_in<std::uint64_t>(take(sizeof(std::uint64_t)));
      break;
    case WireType::fixed32:
      field.value = number_in<std::uint32_t>(take(sizeof(std::uint32_t)));
      break;
    case WireType::bytes:
      field.bytes = take(varint());
      break;
    default:
      fail("{}: not a SentencePiece model: a field has the wire type {}", name_, tag & 7);
  }
  return field;
}

std::string_view SentencePieceMessage::take(std::uint64_t count) {
  HEED_CHECK(count <= rest_.size(), "{}: not a SentencePiece model, or cut short: a field needs {} bytes, {} are left",
             name_, count, rest_.size());
  const std::string_view taken = rest_.substr(0, count);
  rest_.remove_prefix(count);
  return taken;
}

std::uint64_t SentencePieceMessage::varint() {
  std::uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    const auto byte = static_cast<std::uint64_t>(static_cast<unsigned char>(take(1)[0]));
    value |= (byte & 0x7F) << shift;
    if (byte < 0x80) return value;
  }
  fail("{}: not a SentencePiece model: a number runs over 64 bits", name_);
}

}  // namespace heed
