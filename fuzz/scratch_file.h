// Files for what reads or writes a path: in a folder of the process's own, in $TMPDIR, which script/fuzz puts in
// memory.
#pragma once

#include <filesystem>
#include <string_view>

namespace heed::fuzz {

// Made at the first call. script/fuzz removes it: a process that a finding ends can not.
const std::filesystem::path& scratch_folder();

// A file of this name in that folder, which holds the bytes.
std::filesystem::path scratch_file(std::string_view name, std::string_view bytes);

}  // namespace heed::fuzz
