// A folder of ONNX cases.
#pragma once

#include <filesystem>

#include "report.h"

namespace heed::conformance {

// Runs every case.json at or below the folder, in the order of their paths. Throws heed::Error where the folder cannot
// be read.
void run_onnx_cases(const std::filesystem::path& folder, Report& report);

}  // namespace heed::conformance
