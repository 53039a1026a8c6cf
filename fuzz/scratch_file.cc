#include "scratch_file.h"

#include <stdlib.h>

#include <cstdio>

#include "property.h"

namespace heed::fuzz {

const std::filesystem::path& scratch_folder() {
  static const std::filesystem::path folder = [] {
    std::string name = std::filesystem::temp_directory_path() / "heed_fuzz_XXXXXX";
    require(::mkdtemp(name.data()) != nullptr, "a scratch folder can be made");
    return name;
  }();
  return folder;
}

// Not by heed's own FileWriter, which puts each file on disk before it goes on.
std::filesystem::path scratch_file(std::string_view name, std::string_view bytes) {
  std::filesystem::path path = scratch_folder() / name;
  std::FILE* const file = std::fopen(path.c_str(), "wb");
  require(file != nullptr, "a scratch file can be opened");
  const bool wrote = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  require(std::fclose(file) == 0 && wrote, "a scratch file can be written");
  return path;
}

}  // namespace heed::fuzz
