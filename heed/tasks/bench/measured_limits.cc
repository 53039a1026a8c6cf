#include "heed/tasks/bench/measured_limits.h"

#include <algorithm>
#include <cstdlib>

#include "heed/base/parallel.h"
#include "heed/kernels/target.h"
#include "heed/ops/attention/plans/plan.h"
#include "heed/tasks/bench/machine.h"
#include "heed/tasks/bench/timing.h"

namespace heed {
namespace {

std::string text_of(const char* value) { return value == nullptr ? "" : value; }

}  // namespace

void MeasuredLimits::write_head(const std::string& benchmark, const std::string& version) {
  check_forced_plan();
  report_.benchmark = benchmark, report_.version = version;
  report_.processor = processor_name(), report_.target = simd_target_name(active_simd_target());
  report_.threads = thread_count(), report_.seconds = seconds_;
  report_.forced_plan = text_of(std::getenv("HEED_PLAN"));
  report_.forced_target = text_of(std::getenv("HEED_TARGET"));
  listener_.begun(report_);
}

BenchLimit MeasuredLimits::of(Limit limit) {
  const std::string_view name = enum_name(limit);
  const auto known = std::ranges::find(report_.limits, name, &BenchLimit::name);
  if (known != report_.limits.end()) return *known;
  report_.limits.push_back(measure_limit(limit, seconds_));
  listener_.limit(report_.limits.back());
  return report_.limits.back();
}

double MeasuredLimits::seconds_at(Limit limit, double amount) {
  return amount == 0 ? 0 : amount / (of(limit).rate * kGiga);
}

}  // namespace heed
