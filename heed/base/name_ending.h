// The ending of a file's name, which says what is in the file.
//
//   name_ending("Map.SVG");                        // ".svg"
#pragma once

#include <filesystem>
#include <string>

namespace heed {

// From the last point on, with A to Z as a to z; empty where there is none.
std::string name_ending(const std::filesystem::path& path);

}  // namespace heed
