// A number that other bytes hardly have too: enough to notice that a run would go on from other data, no defence
// against who wants two of one fingerprint.
//
//   Fingerprint print;
//   print.add("ein Hund\n");
//   fmt::format("{:016x}", print.value());
#pragma once

#include <cstdint>
#include <string_view>

namespace heed {

// FNV-1a of 64 bits, a byte at a time. It stands in checkpoints: another function would refuse to go on from them.
class Fingerprint {
 public:
  void add(std::string_view bytes) {
    for (char byte : bytes) value_ = (value_ ^ static_cast<unsigned char>(byte)) * 0x100000001b3u;
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325u;
};

}  // namespace heed
