#include "heed/io/gguf_parts.h"

#include <fmt/format.h>

#include <algorithm>

#include "heed/base/check.h"

namespace heed {
namespace {

constexpr const char *kNumber = "split.no", *kCount = "split.count";
constexpr Index kMostParts = 99999;  // in five digits

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string ending(Index number, Index parts) { return fmt::format("-{:05}-of-{:05}.gguf", number + 1, parts); }

}  // namespace

Index gguf_parts(const Json& metadata) {
  if (!metadata.has(kCount)) return 1;
  const Index parts = metadata[kCount].integer(0, kMostParts);
  if (parts <= 1) return 1;
  if (metadata.has(kNumber) && metadata[kNumber].integer() != 0) {
    metadata[kNumber].refuse(fmt::format("must be 0, of the first of {} files, which is the one to name", parts));
  }
  return parts;
}

void check_gguf_part(const Json& metadata, Index number, Index parts) {
  for (const auto& [key, value] : {std::pair(kNumber, number), std::pair(kCount, parts)}) {
    if (metadata[key].integer() != value) metadata[key].refuse(fmt::format("must be {} here", value));
  }
}

std::filesystem::path gguf_part(const std::filesystem::path& first, Index number, Index parts) {
  const std::string name = first.filename().string(), end = ending(0, parts);
  HEED_CHECK(name.ends_with(end), "{}: is the first of {} files, which are found by its name: it must end in {}",
             first.string(), parts, end);
  return first.parent_path() / (name.substr(0, name.size() - end.size()) + ending(number, parts));
}

std::filesystem::path first_gguf_part(const std::filesystem::path& path) {
  const std::string name = path.filename().string(), form = ending(0, 1);
  if (name.size() < form.size()) return path;
  const std::size_t begin = name.size() - form.size();
  // "-00002-of-00003.gguf", where a digit may be any.
  const bool is_part = std::equal(form.begin(), form.end(), name.begin() + static_cast<std::ptrdiff_t>(begin),
                                  [](char a, char b) { return a == b || (is_digit(a) && is_digit(b)); });
  if (!is_part) return path;
  return path.parent_path() / (name.substr(0, begin) + form.substr(0, 6) + name.substr(begin + 6));
}

}  // namespace heed
