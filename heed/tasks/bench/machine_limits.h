// What this machine can do and no more, measured in the process that holds its work against it.
//
//   const double peak = measure_limit(Limit::multiply_add_f32, 1.0).rate;
#pragma once

#include <span>
#include <string_view>
#include <utility>

#include "heed/tasks/bench/bench_report.h"
#include "heed/tensor/dtype.h"

namespace heed {

enum class Limit {
  multiply_add_f32,   // in registers alone, by the SIMD target in use
  multiply_add_bf16,  // the same of bf16 summed in f32, by a unit that is made for it
  multiply_add_int8,  // the same of 8 bits summed in 32
  exp,                // heed's function over an array in the first cache
  tanh,
  dram_read,  // one large array, a part of it on each thread
  l1_read,    // 16 KiB of each thread's own
  l2_read,    // 256 KiB of each thread's own
};
inline constexpr std::pair<std::string_view, Limit> kLimitNames[] = {
    {"limit/multiply-add-f32", Limit::multiply_add_f32},
    {"limit/multiply-add-bf16", Limit::multiply_add_bf16},
    {"limit/multiply-add-int8", Limit::multiply_add_int8},
    {"limit/exp", Limit::exp},
    {"limit/tanh", Limit::tanh},
    {"limit/dram-read", Limit::dram_read},
    {"limit/l1-read", Limit::l1_read},
    {"limit/l2-read", Limit::l2_read}};
inline std::span<const std::pair<std::string_view, Limit>> enum_names(Limit) { return kLimitNames; }

// The multiply-adds that numbers of this type could have: those of a unit for it, and of f32 where none is faster.
Limit multiply_add_limit(DType type);

// Measures it for so many seconds, on thread_count() threads: the fastest of the samples, since a slower one is not
// what the machine can do. One that this machine has no unit for has the rate 0 and a note that says so.
BenchLimit measure_limit(Limit limit, double seconds);

// Reads them on all threads, a MiB at a time at most, and does nothing else that takes time.
void read_memory(std::span<const float> x);

}  // namespace heed
