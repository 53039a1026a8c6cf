// Files of weights as others write them, byte by byte, for tests of what reads them.
//
//   const std::string gguf = GgufBytes().text("general.architecture", "llama").tensor("w", 0, {2, 3}, six).bytes();
//   const std::string other = Ctranslate2Bytes(6).variable("w", {2, 3}, 0, six).alias("v", "w").bytes();
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "heed/base/index.h"

namespace heed::testing {

// The numbers' bytes.
template <typename T>
std::string bytes_of(const std::vector<T>& numbers) {
  static_assert(std::is_trivially_copyable_v<T>);
  return std::string(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(T));
}
template <typename T>
std::string bytes_of(T number) {
  return bytes_of(std::vector<T>{number});
}

// The bytes of 1 to 6, as f32.
inline std::string six_floats() { return bytes_of(std::vector<float>{1, 2, 3, 4, 5, 6}); }

// A GGUF file. What is added may be wrong in any way: nothing is checked.
class GgufBytes {
 public:
  explicit GgufBytes(std::uint32_t version = 3) : version_(version) {}

  // A value of any kind, by the format's number for it and its bytes.
  GgufBytes& value(std::string_view key, std::uint32_t kind, const std::string& bytes);
  GgufBytes& text(std::string_view key, std::string_view text);
  GgufBytes& integer(std::string_view key, std::uint32_t value);
  GgufBytes& texts(std::string_view key, const std::vector<std::string>& texts);
  // A tensor of ggml's type of this number, in heed's shape, behind the one before it.
  GgufBytes& tensor(std::string_view name, std::uint32_t type, std::vector<Index> shape, const std::string& bytes);
  // The same at an offset of the data.
  GgufBytes& tensor_at(std::uint64_t offset, std::string_view name, std::uint32_t type, std::vector<Index> shape);

  std::string bytes(std::size_t alignment = 32) const;

  // A length of 8 bytes, and the text.
  static std::string string(std::string_view text);

 private:
  struct Tensor {
    std::string description;
    std::uint64_t offset;
    bool at_offset;
    std::string bytes;
  };

  std::uint32_t version_;
  std::uint64_t values_ = 0;
  std::string metadata_;
  std::vector<Tensor> tensors_;
};

// CTranslate2's model.bin.
class Ctranslate2Bytes {
 public:
  explicit Ctranslate2Bytes(std::uint32_t version = 6, std::string spec = "TransformerSpec", std::uint32_t revision = 7)
      : version_(version), spec_(std::move(spec)), revision_(revision) {}

  // `type` is the format's number of a type, or before version 4 the width of a number.
  Ctranslate2Bytes& variable(std::string_view name, const std::vector<Index>& shape, std::uint8_t type,
                             const std::string& bytes);
  Ctranslate2Bytes& alias(std::string_view alias, std::string_view name);

  std::string bytes() const;

  // A length of 2 bytes, the text, and a zero.
  static std::string string(std::string_view text);

 private:
  std::uint32_t version_;
  std::string spec_;
  std::uint32_t revision_;
  std::uint32_t variables_ = 0, aliases_ = 0;
  std::string variable_bytes_, alias_bytes_;
};

}  // namespace heed::testing
