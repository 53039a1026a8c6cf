// What every corpus scorer asks of its input, and the last part of every signature.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/index.h"

namespace heed {

// Throws heed::Error naming `function` unless there is a hypothesis, a reference set, in each set as many references as
// hypotheses, and every one of them is valid UTF-8 (the error names its line).
void check_segments(std::string_view function, std::span<const std::string> hypotheses,
                    std::span<const std::vector<std::string>> references);

// How many segments a thread scores at a time.
inline constexpr Index kSegmentsPerTask = 32;

// One reference set for each reference of a single hypothesis.
std::vector<std::vector<std::string>> as_reference_sets(std::span<const std::string> references);

// "nrefs:N|FIELDS|version:heed-0.1.0": sacreBLEU's form, with heed's version, since the number is heed's.
std::string signature(Index reference_sets, std::string_view fields);

}  // namespace heed
