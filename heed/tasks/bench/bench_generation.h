// How fast language models read a prompt and go on, held against what this machine can do: a token of one sequence
// takes as long as the weights take to be read, a prompt as long as its products.
//
//   const BenchReport report = bench_generation({.filter = BenchFilter("110m/bf16"), .seconds = 2});
#pragma once

#include <string>
#include <vector>

#include "heed/tasks/bench/bench_filter.h"
#include "heed/tasks/bench/measured_limits.h"

namespace heed {

struct GenerationBenchOptions {
  BenchFilter filter{};
  double seconds = 1;  // of samples, for each row
  std::string version{};
};

// "token/llama-110m/f32", "prompt/llama-1.1b/int8", ...: Llamas of 110 million and 1.1 billion numbers drawn at random,
// their weights in each type; a token is one step behind 512, a prompt 512 tokens at once.
std::vector<std::string> generation_bench_names();

// Measures on thread_count() threads. A token's row is held against reading memory and timed in turn with a pass over
// the weights that only reads them; a prompt's is held against multiply-adds and timed in turn with its products alone.
// Cost: memory for one model's weights, 4.4 GB for the largest. Throws heed::Error where the filter wants nothing.
BenchReport bench_generation(const GenerationBenchOptions& options, const BenchListener& listener = {});

}  // namespace heed
