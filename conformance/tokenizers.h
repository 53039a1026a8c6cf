// Others' tokenizers: folders with a tokenizer's files and cases.jsonl.
#pragma once

#include <filesystem>

#include "report.h"

namespace heed::conformance {

// Runs every line of every cases.jsonl at or below the folder, in the order of names.
void run_tokenizer_cases(const std::filesystem::path& folder, Report& report);

}  // namespace heed::conformance
