#include "heed/metrics/segments.h"

#include "heed/base/check.h"
#include "heed/base/utf8.h"

namespace heed {
namespace {

// A test holds it to the project's version.
constexpr std::string_view kVersion = "0.1.0";

void check_text(std::string_view function, std::span<const std::string> segments, std::string_view what) {
  for (std::size_t i = 0; i < segments.size(); ++i) {
    Index wrong = 0;
    HEED_CHECK(valid_utf8(segments[i], &wrong), "{}: {} {}: byte {} is not valid UTF-8", function, what, i + 1, wrong);
  }
}

}  // namespace

void check_segments(std::string_view function, std::span<const std::string> hypotheses,
                    std::span<const std::vector<std::string>> references) {
  HEED_CHECK(!hypotheses.empty(), "{}: there are no hypotheses", function);
  HEED_CHECK(!references.empty(), "{}: there are no references", function);
  check_text(function, hypotheses, "hypothesis");
  for (std::size_t r = 0; r < references.size(); ++r) {
    HEED_CHECK(references[r].size() == hypotheses.size(), "{}: {} hypotheses, but {} references in set {}", function,
               hypotheses.size(), references[r].size(), r + 1);
    check_text(function, references[r], fmt::format("reference set {}, line", r + 1));
  }
}

std::vector<std::vector<std::string>> as_reference_sets(std::span<const std::string> references) {
  std::vector<std::vector<std::string>> sets;
  for (const std::string& reference : references) sets.push_back({reference});
  return sets;
}

std::string signature(Index reference_sets, std::string_view fields) {
  return fmt::format("nrefs:{}|{}|version:heed-{}", reference_sets, fields, kVersion);
}

}  // namespace heed
