#include "heed/testing/data_folder.h"

#include <cstdlib>

namespace heed::testing {

std::filesystem::path tree_data(const std::filesystem::path& relative) {
  return std::filesystem::path(HEED_TEST_DATA) / relative;
}

std::optional<std::filesystem::path> data_path(const std::filesystem::path& source_folder,
                                               const std::filesystem::path& relative) {
  const char* set = std::getenv("HEED_DATA");
  const std::filesystem::path path =
      (set != nullptr ? std::filesystem::path(set) : source_folder / "../shared/data") / relative;
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return {};
  return path;
}

}  // namespace heed::testing
