#include "heed/tasks/bench/timing.h"

#include <algorithm>
#include <chrono>
#include <vector>

namespace heed {
namespace {

constexpr double kWarmUpShare = 0.1;

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

double time_once(const std::function<void()>& work) {
  const double begin = now();
  work();
  return now() - begin;
}

void warm_up(const std::function<void()>& work, double seconds) {
  const double end = now() + seconds * kWarmUpShare;
  do {
    work();
  } while (now() < end);
}

// The upper one of two middle values.
double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

Timing timing_of(const std::vector<double>& samples) {
  return {median(samples), *std::ranges::min_element(samples), static_cast<Index>(samples.size())};
}

}  // namespace

Timing time_work(const std::function<void()>& work, double seconds) {
  warm_up(work, seconds);
  std::vector<double> samples;
  const double end = now() + seconds;
  while (static_cast<Index>(samples.size()) < kLeastSamples || now() < end) samples.push_back(time_once(work));
  return timing_of(samples);
}

PairedTiming time_beside(const std::function<void()>& work, const std::function<void()>& base, double seconds) {
  warm_up(work, seconds);
  warm_up(base, seconds);
  std::vector<double> of_work, of_base, ratios;
  const double end = now() + 2 * seconds;
  while (static_cast<Index>(ratios.size()) < kLeastSamples || now() < end) {
    of_base.push_back(time_once(base));
    of_work.push_back(time_once(work));
    ratios.push_back(of_work.back() / of_base.back());
  }
  return {timing_of(of_work), timing_of(of_base), median(ratios)};
}

void write_times(const Timing& timing, BenchRow& row) {
  row.seconds = timing.seconds, row.fastest = timing.fastest, row.samples = timing.samples;
}

void write_times(const PairedTiming& timing, std::string_view over, double share, BenchRow& row) {
  write_times(timing.work, row);
  row.over = over, row.base_seconds = timing.base.seconds;
  row.ratio_scale = share, row.ratio = timing.ratio / share;
}

}  // namespace heed
