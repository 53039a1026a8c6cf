#include "heed/tasks/parameter_fingerprint.h"

#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <string_view>

namespace heed {
namespace {

// FNV-1a, of eight bytes at a time, and of those that are left with zeros behind them.
class Hash {
 public:
  void add(std::string_view bytes) {
    word(bytes.size());
    for (; !bytes.empty(); bytes.remove_prefix(std::min<std::size_t>(8, bytes.size()))) {
      std::uint64_t next = 0;
      std::memcpy(&next, bytes.data(), std::min<std::size_t>(8, bytes.size()));
      word(next);
    }
  }
  void add(const Tensor& tensor) {
    const View& view = tensor.view();
    for (int axis = 0; axis < view.rank; ++axis) word(static_cast<std::uint64_t>(view.shape[axis]));
    add(name_of(view.dtype));
    if (view.size() > 0) {
      add({view.as<const char>(), static_cast<std::size_t>(view.size() * size_of(view.dtype))});
    }
  }
  std::uint64_t value() const { return hash_ ^ (hash_ >> 32); }

 private:
  void word(std::uint64_t next) { hash_ = ((hash_ ^ next) * 0x100000001b3u) ^ (hash_ >> 29); }

  std::uint64_t hash_ = 0xcbf29ce484222325u;
};

}  // namespace

std::string fingerprint_of(const ParameterList& parameters) {
  Hash hash;
  for (const auto& [name, var] : parameters) {
    hash.add(name);
    hash.add(var.value());
    if (!var.scales().is_empty()) hash.add(var.scales());
  }
  return fmt::format("{} parameters, {:016x}", parameters.size(), hash.value());
}

}  // namespace heed
