// Attention in several threads of a program, while another one sets how many threads a call may use.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "heed/base/parallel.h"
#include "heed/ops/gated_delta/gated_delta_rule.h"
#include "heed/testing/attention_kinds.h"

namespace heed {
namespace {

// Sets counts from 1 to 12, over and over, until it goes out of scope.
class RestlessThreadCount {
 public:
  RestlessThreadCount()
      : setter_([this] {
          for (int count = 1; !done_; count = count % 12 + 1) set_thread_count(count);
        }) {}
  ~RestlessThreadCount() {
    done_ = true;
    setter_.join();
    set_thread_count(before_);
  }

 private:
  const int before_ = thread_count();
  std::atomic<bool> done_{false};
  std::thread setter_;
};

constexpr testing::AttentionShape kThreadedShape{
    .batch = 4, .heads = 8, .key_heads = 4, .queries = 48, .keys = 48, .width = 32, .value_width = 32};

// All results of a problem's calls, one after another.
std::vector<float> results_of(const testing::AttentionSample& p, Workspace& workspace) {
  const Tensor out = Tensor::empty_like(p.dout.view()), row_stat = Tensor::empty(DType::f32, {4, 8, 48});
  const Tensor dq = Tensor::empty_like(p.q.view()), dk = Tensor::empty_like(p.k.view());
  const Tensor dv = Tensor::empty_like(p.v.view()), state = Tensor::empty(DType::f32, {4, 4, 32, 32});
  std::vector<float> all;
  const auto keep = [&](std::initializer_list<Tensor> results) {
    for (const Tensor& result : results)
      all.insert(all.end(), result.data<float>(), result.data<float>() + result.size());
  };
  attention(p.q, p.k, p.v, p.spec, {.out = out, .row_stat = row_stat}, workspace);
  attention_backward(p.q, p.k, p.v, p.spec, {.out = out, .row_stat = row_stat, .dout = p.dout},
                     {.dq = dq, .dk = dk, .dv = dv}, workspace);
  keep({out, row_stat, dq, dk, dv});
  gated_delta_rule({.q = p.q, .k = p.k, .v = p.v}, {.out = out, .state = state}, workspace);
  keep({out, state});
  return all;
}

TEST(AttentionThreads, TheThreadCountMayBeSetAtAnyMoment) {
  std::vector<testing::AttentionSample> problems;
  for (Score score : {Score::scaled_dot(), Score::additive({}), Score::features({})}) {
    problems.push_back(testing::plain_problem(kThreadedShape));
    testing::AttentionSample& p = problems.back();
    p.spec.score = score;
    if (score.kind == Score::Kind::additive) p.vector = Tensor::zeros(DType::f32, {kThreadedShape.width});
    if (score.kind == Score::Kind::feature_map) p.spec.normaliser = Normaliser::sum();
    p.bind();
  }
  std::vector<std::vector<float>> expected;
  Workspace workspace;
  for (const testing::AttentionSample& p : problems) expected.push_back(results_of(p, workspace));

  const RestlessThreadCount restless;
  std::atomic<int> different{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 3; ++caller) {
    callers.emplace_back([&] {
      Workspace own;
      for (int round = 0; round < 40; ++round)
        for (std::size_t n = 0; n < problems.size(); ++n) {
          const std::vector<float> results = results_of(problems[n], own);
          const std::size_t bytes = results.size() * sizeof(float);
          different +=
              results.size() != expected[n].size() || std::memcmp(results.data(), expected[n].data(), bytes) != 0;
        }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(different, 0);
}

}  // namespace
}  // namespace heed
