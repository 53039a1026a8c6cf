// The outputs of Transformer layers that PyTorch's own tests state.
#pragma once

#include <filesystem>

#include "report.h"

namespace heed::conformance {

// Runs every case of the file (docs/conformance.md has its form). Throws heed::Error for one that is not of the form.
void run_pytorch_cases(const std::filesystem::path& file, Report& report);

}  // namespace heed::conformance
