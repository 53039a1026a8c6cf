#include "heed/testing/data_folder.h"

#include <cstdlib>

#include "heed/base/text_lines.h"
#include "heed/io/json.h"

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

std::vector<std::string> case_texts(const std::filesystem::path& folder) {
  const std::string cases = "cases.jsonl";
  std::vector<std::string> texts;
  for (const std::string& line : read_text_lines(folder / cases))
    texts.push_back(Json::parse(line, cases)["text"].string());
  return texts;
}

}  // namespace heed::testing
