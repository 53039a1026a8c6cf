// Where the tests' outside truth lies (docs/test-data.md).
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace heed::testing {

// A file or folder of the numeric cases of others that are in the tree, tests/data, as the build unpacked them: it is
// there for everybody.
std::filesystem::path tree_data(const std::filesystem::path& relative);

// $HEED_DATA, or ../shared/data beside the source tree, followed by `relative`; nothing where that is not there.
std::optional<std::filesystem::path> data_path(const std::filesystem::path& source_folder,
                                               const std::filesystem::path& relative);

// The texts of the cases in folder/cases.jsonl.
std::vector<std::string> case_texts(const std::filesystem::path& folder);

}  // namespace heed::testing

// For the head of a test: skips it, saying why, where the data is not there; otherwise defines `name` as its path.
#define HEED_DATA_OR_SKIP(name, relative)                                                       \
  const auto name##_found = ::heed::testing::data_path(HEED_SOURCE_DIR, relative);              \
  if (!name##_found) GTEST_SKIP() << "no " << (relative) << " in $HEED_DATA or ../shared/data"; \
  const std::filesystem::path name = *name##_found
