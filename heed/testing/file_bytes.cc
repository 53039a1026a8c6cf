#include "heed/testing/file_bytes.h"

#include <algorithm>

#include "heed/base/index.h"

namespace heed::testing {
namespace {

constexpr std::uint32_t kInteger = 4, kString = 8, kArray = 9;  // GGUF's kinds of values

void pad(std::string& bytes, std::size_t alignment) { bytes.resize(round_up(bytes.size(), alignment), '\0'); }

std::string describe_tensor(std::string_view name, std::uint32_t type, std::vector<Index> shape) {
  std::reverse(shape.begin(), shape.end());  // GGUF writes the extent of rows first
  return GgufBytes::string(name) + bytes_of(static_cast<std::uint32_t>(shape.size())) + bytes_of(shape) +
         bytes_of(type);
}

}  // namespace

std::string GgufBytes::string(std::string_view text) {
  return bytes_of(static_cast<std::uint64_t>(text.size())).append(text);
}

GgufBytes& GgufBytes::value(std::string_view key, std::uint32_t kind, const std::string& bytes) {
  metadata_ += string(key) + bytes_of(kind) + bytes;
  ++values_;
  return *this;
}

GgufBytes& GgufBytes::text(std::string_view key, std::string_view text) { return value(key, kString, string(text)); }

GgufBytes& GgufBytes::integer(std::string_view key, std::uint32_t value) {
  return this->value(key, kInteger, bytes_of(value));
}

GgufBytes& GgufBytes::texts(std::string_view key, const std::vector<std::string>& texts) {
  std::string bytes = bytes_of(kString) + bytes_of(static_cast<std::uint64_t>(texts.size()));
  for (const std::string& text : texts) bytes += string(text);
  return value(key, kArray, bytes);
}

GgufBytes& GgufBytes::tensor(std::string_view name, std::uint32_t type, std::vector<Index> shape,
                             const std::string& bytes) {
  tensors_.push_back({describe_tensor(name, type, std::move(shape)), 0, false, bytes});
  return *this;
}

GgufBytes& GgufBytes::tensor_at(std::uint64_t offset, std::string_view name, std::uint32_t type,
                                std::vector<Index> shape) {
  tensors_.push_back({describe_tensor(name, type, std::move(shape)), offset, true, ""});
  return *this;
}

std::string GgufBytes::bytes(std::size_t alignment) const {
  std::string head = "GGUF" + bytes_of(version_) + bytes_of(static_cast<std::uint64_t>(tensors_.size())) +
                     bytes_of(values_) + metadata_;
  std::string data;
  for (const Tensor& tensor : tensors_) {
    pad(data, alignment);
    const auto behind = static_cast<std::uint64_t>(data.size());
    head += tensor.description + bytes_of(tensor.at_offset ? tensor.offset : behind);
    data += tensor.bytes;
  }
  pad(head, alignment);
  return head + data;
}

std::string Ctranslate2Bytes::string(std::string_view text) {
  return bytes_of(static_cast<std::uint16_t>(text.size() + 1)).append(text) + '\0';
}

Ctranslate2Bytes& Ctranslate2Bytes::variable(std::string_view name, const std::vector<Index>& shape, std::uint8_t type,
                                             const std::string& bytes) {
  variable_bytes_ += string(name) + bytes_of(static_cast<std::uint8_t>(shape.size()));
  for (Index extent : shape) variable_bytes_ += bytes_of(static_cast<std::uint32_t>(extent));
  const std::size_t size = version_ >= 4 ? bytes.size() : bytes.size() / type;
  variable_bytes_ += bytes_of(type) + bytes_of(static_cast<std::uint32_t>(size)) + bytes;
  ++variables_;
  return *this;
}

Ctranslate2Bytes& Ctranslate2Bytes::alias(std::string_view alias, std::string_view name) {
  alias_bytes_ += string(alias) + string(name);
  ++aliases_;
  return *this;
}

std::string Ctranslate2Bytes::bytes() const {
  std::string bytes = bytes_of(version_);
  if (version_ >= 2) bytes += string(spec_) + bytes_of(revision_);
  bytes += bytes_of(variables_) + variable_bytes_;
  if (version_ >= 3) bytes += bytes_of(aliases_) + alias_bytes_;
  return bytes;
}

}  // namespace heed::testing
