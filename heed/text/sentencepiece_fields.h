// The messages of a serialised SentencePiece model (protobuf's wire format), field by field.
//
//   for (SentencePieceMessage model(bytes, "spiece.model"); !model.done();) {
//     if (const SentencePieceField field = model.next(); field.number == 1) read_piece(field.bytes);
//   }
#pragma once

#include <cstdint>
#include <string_view>

namespace heed {

enum class WireType { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

struct SentencePieceField {
  std::uint64_t number;
  WireType type;
  std::uint64_t value;     // of varint, fixed32 and fixed64
  std::string_view bytes;  // of bytes

  // Throws heed::Error where the field, `what`, has another wire type.
  void expect(WireType expected, std::string_view what, std::string_view name) const;
  // A fixed32 as a float.
  float number32() const;
};

// Reads the fields of one message in turn.
class SentencePieceMessage {
 public:
  // `name` is what errors call the file; both are kept by reference.
  SentencePieceMessage(std::string_view bytes, std::string_view name) : rest_(bytes), name_(name) {}

  bool done() const { return rest_.empty(); }
  // There is one. Throws heed::Error where the bytes are no field, or cut short.
  SentencePieceField next();

 private:
  std::string_view take(std::uint64_t count);
  std::uint64_t varint();

  std::string_view rest_;
  std::string_view name_;
};

}  // namespace heed
