#include "heed/base/name_ending.h"

namespace heed {

std::string name_ending(const std::filesystem::path& path) {
  std::string ending = path.extension().string();
  for (char& c : ending) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return ending;
}

}  // namespace heed
