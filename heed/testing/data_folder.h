// Where the tests' outside truth lies.
#pragma once

#include <filesystem>
#include <optional>

namespace heed::testing {

// $HEED_DATA, or ../shared/data beside the source tree, followed by `relative`; nothing where that is not there.
std::optional<std::filesystem::path> data_path(const std::filesystem::path& source_folder,
                                               const std::filesystem::path& relative);

}  // namespace heed::testing

// For the head of a test: skips it, saying why, where the data is not there; otherwise defines `name` as its path.
#define HEED_DATA_OR_SKIP(name, relative)                                                       \
  const auto name##_found = ::heed::testing::data_path(HEED_SOURCE_DIR, relative);              \
  if (!name##_found) GTEST_SKIP() << "no " << (relative) << " in $HEED_DATA or ../shared/data"; \
  const std::filesystem::path name = *name##_found
