// Conformance cases: case.json, its arrays, and the operator that it asks for. A case is a folder; the input is its
// files one behind the other, case.json first and then arrays, each of which begins with numpy's magic and is a file
// 0.npy, 1.npy, ...
#include <fmt/core.h>

#include "../conformance/case.h"
#include "../conformance/compare.h"
#include "../conformance/operators.h"
#include "heed/base/parallel.h"
#include "property.h"
#include "scratch_file.h"

namespace heed::fuzz {
namespace {

using namespace conformance;

constexpr std::string_view kMagic("\x93NUMPY", 6);
constexpr int kMostArrays = 16;

void write_case(std::string_view bytes) {
  std::size_t end = bytes.find(kMagic);
  scratch_file("case.json", bytes.substr(0, end));
  for (int i = 0; i < kMostArrays; ++i) {
    const std::string name = fmt::format("{}.npy", i);
    if (end == bytes.npos) {
      std::filesystem::remove(scratch_folder() / name);  // of an input before
      continue;
    }
    const std::size_t begin = end;
    end = bytes.find(kMagic, begin + kMagic.size());
    scratch_file(name, bytes.substr(begin, end == bytes.npos ? end : end - begin));
  }
}

bool run_case() {
  const Case c(scratch_folder());
  const Operator run = find_operator(c.domain(), c.op());
  if (run == nullptr) return false;
  const Outputs outputs = run(c);
  for (std::size_t i = 0; i < std::min(outputs.size(), c.outputs().size()); ++i) {
    if (c.outputs()[i] && !outputs[i].elements.is_empty()) {
      difference(outputs[i], c.outputs()[i]->array, c.rtol(), c.atol());
    }
  }
  return true;
}

void check_conformance_case(std::string_view bytes) {
  write_case(bytes);
  try {
    taken(run_case);
  } catch (const Skip& skip) {
    require_message(skip.what());
  }
}

}  // namespace
}  // namespace heed::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  heed::set_thread_count(1);
  heed::fuzz::check_conformance_case(heed::fuzz::bytes_of(data, size));
  return 0;
}
