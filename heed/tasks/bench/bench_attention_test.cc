#include "heed/tasks/bench/bench_attention.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "heed/base/parallel.h"
#include "heed/tasks/bench/attention_rows.h"
#include "heed/tasks/bench/machine.h"
#include "heed/testing/refusal.h"

namespace heed {
namespace {

using testing::refusal;

constexpr double kMoment = 0.001;  // seconds a row

TEST(BenchAttention, EveryNameIsThereOnce) {
  const std::vector<AttentionRow> rows = attention_rows(2);
  std::set<std::string> names;
  for (const AttentionRow& row : rows) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_EQ(row.base.has_value(), !row.over.empty()) << row.name;
  }
  for (const char* name : {"forward/L512/D64",
                           "forward/L16384/D64/H2",
                           "causal/L4096/D64",
                           "training/L1024/D128",
                           "training-causal/L1024/D64",
                           "short/causal",
                           "bf16-forward/L4096/D128",
                           "decode/bf16",
                           "decode/int8",
                           "prompt/int8",
                           "sparse/strided/L16384",
                           "sparse/bigbird/L4096",
                           "sparse/fixed-backward/L4096",
                           "sparse/window/L1024",
                           "sparse/segments/L1024",
                           "linear/backward",
                           "linear/doubled/L262144",
                           "additive/forward",
                           "over-plain/t5",
                           "over-plain/wide-scores",
                           "over-softmax/entmax15",
                           "one-thread/one-head"}) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
  EXPECT_LT(attention_rows(1).size(), rows.size());  // one thread cannot be held against one
}

TEST(BenchAttention, AReportHasWhatTheFilterWantsAndTheLimitsOfThat) {
  std::string told;
  const BenchListener listener{.begun = [&](const BenchReport& head) { told += head.benchmark; },
                               .limit = [&](const BenchLimit& limit) { told += " " + limit.name; },
                               .row = [&](const BenchRow& row) { told += " " + row.name; }};
  const BenchReport report =
      bench_attention({.filter = BenchFilter("^short/forward$"), .seconds = kMoment, .version = "9.9"}, listener);
  EXPECT_EQ(told, "attention limit/multiply-add-f32 limit/exp short/forward");
  ASSERT_EQ(report.limits.size(), 2u);
  ASSERT_EQ(report.rows.size(), 1u);
  EXPECT_EQ(report.version, "9.9");
  EXPECT_EQ(report.threads, thread_count());
  EXPECT_FALSE(report.processor.empty());
  EXPECT_FALSE(report.target.empty());
  const BenchRow& row = report.rows[0];
  EXPECT_EQ(row.name, "short/forward");
  EXPECT_FALSE(row.plan.empty());
  EXPECT_GE(row.samples, 5);
  EXPECT_EQ(row.operations, 4.0 * 64 * 4 * 24 * 24 * 32);
  EXPECT_EQ(row.exponentials, 64.0 * 4 * 24 * 24);
  EXPECT_DOUBLE_EQ(row.rate, row.operations / row.seconds / 1e9);
  EXPECT_DOUBLE_EQ(row.share_of_peak, row.rate / report.limits[0].rate);
  const double at_limits = row.operations / report.limits[0].rate + row.exponentials / report.limits[1].rate;
  EXPECT_DOUBLE_EQ(row.share_of_limit, at_limits / 1e9 / row.seconds);
  EXPECT_GT(row.fastest, 0);
  EXPECT_GE(row.best_share_of_peak(), row.share_of_peak);
  EXPECT_EQ(parse_bench_report(bench_report_text(report)), report);
}

TEST(BenchAttention, ARatioIsOverABase) {
  const BenchReport report = bench_attention({.filter = BenchFilter("^sparse/window"), .seconds = kMoment});
  ASSERT_EQ(report.rows.size(), 1u);
  const BenchRow& row = report.rows[0];
  EXPECT_EQ(row.over, "dense x allowed share");
  EXPECT_GT(row.base_seconds, 0);
  // 128 keys for each query, but for those that the first and the last ones lack.
  EXPECT_DOUBLE_EQ(row.ratio_scale, (1024.0 * 128 - 64 * 65 / 2 - 63 * 64 / 2) / (1024.0 * 1024));
  EXPECT_GT(row.ratio, 3 * row.seconds / row.base_seconds);  // over an eighth of the base's time
}

TEST(BenchAttention, AFilterThatWantsNothingIsRefused) {
  EXPECT_NE(refusal([] { bench_attention({.filter = BenchFilter("nothing like it")}); }).find("matches"),
            std::string::npos);
  for (const std::string& pattern : {std::string("("), std::string(100'000, 'x'), std::string(100'000, '(')}) {
    EXPECT_NE(refusal([&] { BenchFilter{pattern}; }).find("not a filter: "), std::string::npos);
  }
}

TEST(BenchAttention, ARowThatTheForcedPlanCannotComputeIsRefusedByItself) {
  setenv("HEED_PLAN", "linear", 1);
  const BenchReport report = bench_attention({.filter = BenchFilter("^short/"), .seconds = kMoment});
  unsetenv("HEED_PLAN");
  ASSERT_EQ(report.rows.size(), 3u);
  for (const BenchRow& row : report.rows) {
    EXPECT_NE(row.refused.find("HEED_PLAN=linear"), std::string::npos) << row.name;
    EXPECT_EQ(row.seconds, 0) << row.name;
  }
  EXPECT_TRUE(report.limits.empty());
  EXPECT_EQ(report.forced_plan, "linear");
  EXPECT_EQ(parse_bench_report(bench_report_text(report)), report);
}

// --- What a row counts -----------------------------------------------------------------------------------------------

constexpr AttentionShape kShape{.batch = 2, .heads = 3, .queries = 32, .keys = 32, .width = 8};
constexpr double kPairs = 2.0 * 3 * 32 * 32;

TEST(AttentionCase, CausalCountsHalfAndTrainingThreeAndAHalfTimesTheForwardPass) {
  const AttentionCase dense(kShape, {}, BenchPass::forward);
  EXPECT_EQ(dense.work().operations, 4 * kPairs * 8);
  EXPECT_EQ(dense.work().exponentials, kPairs);
  EXPECT_EQ(dense.work().bytes, 4.0 * 4 * 2 * 3 * 32 * 8);
  const AttentionCase causal(kShape, {.mask = Mask::causal()}, BenchPass::forward);
  EXPECT_EQ(causal.work().operations, dense.work().operations / 2);
  EXPECT_EQ(causal.work().exponentials, kPairs / 2);
  const AttentionCase training(kShape, {}, BenchPass::training), backward(kShape, {}, BenchPass::backward);
  EXPECT_EQ(training.work().operations, dense.work().operations * 3.5);
  EXPECT_EQ(backward.work().operations, dense.work().operations * 2.5);
}

TEST(AttentionCase, PairsOfAPatternAreCounted) {
  const AttentionCase window(kShape, {.mask = Mask::sliding_window(1, 1)}, BenchPass::forward);
  EXPECT_DOUBLE_EQ(window.allowed_share(), (32 * 3 - 2) / (32.0 * 32));
  EXPECT_DOUBLE_EQ(window.work().operations, 4 * kPairs * 8 * window.allowed_share());
  const AttentionCase own(kShape,
                          {.mask = Mask::predicate([](Index, Index h, Index i, Index j) { return h == 0 && i == j; })},
                          BenchPass::forward);
  EXPECT_DOUBLE_EQ(own.allowed_share(), 1 / (3.0 * 32));
}

TEST(AttentionCase, LinearAndAdditiveCountTheirOwnWork) {
  const AttentionCase linear(kShape, {.score = Score::features({}), .normaliser = Normaliser::sum()},
                             BenchPass::forward);
  EXPECT_EQ(linear.work().operations, 4.0 * 2 * 3 * 32 * 8 * 8);
  EXPECT_EQ(linear.work().exponentials, 2.0 * 2 * 3 * 32 * 8);
  EXPECT_EQ(linear.plan(), "linear");
  const AttentionCase additive(kShape, {.score = Score::additive(Tensor::zeros(DType::f32, {8}))}, BenchPass::forward);
  EXPECT_EQ(additive.work().tanhs, kPairs * 8);
}

TEST(AttentionCase, GroupedHeadsReadTheirKeysOnce) {
  const AttentionShape grouped{.heads = 4, .queries = 1, .keys = 64, .width = 8, .key_heads = 2};
  AttentionCase decode(grouped, {}, BenchPass::forward, 3);
  EXPECT_EQ(decode.work().bytes, 4.0 * (2 * 4 * 8 + 2 * 2 * 64 * 8));
  for (int call = 0; call < 4; ++call) decode.run();
  AttentionShape int8 = grouped;
  int8.int8_cache = true;
  AttentionCase narrow(int8, {}, BenchPass::forward, 3);
  EXPECT_EQ(narrow.work().bytes, 4.0 * (2 * 4 * 8 + 2 * 2 * 64) + 1.0 * (2 * 2 * 64 * 8));
  for (int call = 0; call < 4; ++call) narrow.run();
}

TEST(Machine, HasANameOnOneLineAndMemoryBeyondItsCaches) {
  EXPECT_FALSE(processor_name().empty());
  EXPECT_EQ(processor_name().find('\n'), std::string::npos);
  EXPECT_GE(beyond_cache_bytes(), Index{1} << 20);
}

}  // namespace
}  // namespace heed
