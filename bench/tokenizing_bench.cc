// Tokenizing: how fast a folder's tokenizer makes ids of a text's lines, on one thread. Prints one line of JSON: the
// fastest pass over the text, and the count and sum of the ids, which tell whether another tokenizer's are the same.
//
//   heed_tokenizing_bench FOLDER TEXT [PASSES = 3]
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/index.h"
#include "heed/base/text_lines.h"
#include "heed/text/open_tokenizer.h"

namespace heed {
namespace {

void time_tokenizer(const char* folder, const char* text, int passes) {
  const std::unique_ptr<Vocabulary> vocabulary = open_tokenizer(folder);
  const std::vector<std::string> lines = read_text_lines(text);
  double fastest = std::numeric_limits<double>::infinity();
  Index count = 0, sum = 0;
  for (int pass = 0; pass < passes; ++pass) {
    count = sum = 0;
    const auto begin = std::chrono::steady_clock::now();
    for (const std::string& line : lines) {
      for (const int id : vocabulary->encode(line)) ++count, sum += id;
    }
    fastest = std::min(fastest, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  fmt::print("{{\"seconds\": {}, \"ids\": {}, \"sum\": {}}}\n", fastest, count, sum);
}

}  // namespace
}  // namespace heed

int main(int argc, char** argv) {
  if (argc < 3 || argc > 4) {
    fmt::print(stderr, "usage: heed_tokenizing_bench FOLDER TEXT [PASSES]\n");
    return 2;
  }
  try {
    heed::time_tokenizer(argv[1], argv[2], argc > 3 ? std::max(1, std::atoi(argv[3])) : 3);
  } catch (const heed::Error& error) {
    fmt::print(stderr, "heed_tokenizing_bench: {}\n", error.what());
    return 1;
  }
}
