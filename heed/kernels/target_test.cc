#include "heed/kernels/target.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <utility>

#include "heed/base/error.h"
#include "heed/kernels/activation.h"
#include "heed/kernels/adam.h"
#include "heed/kernels/attention_additive.h"
#include "heed/kernels/attention_rows.h"
#include "heed/kernels/dropout.h"
#include "heed/kernels/elementwise.h"
#include "heed/kernels/feature_map.h"
#include "heed/kernels/gemm_tile.h"
#include "heed/kernels/machine_limits.h"
#include "heed/kernels/narrow.h"
#include "heed/kernels/normalise.h"
#include "heed/kernels/recurrent.h"
#include "heed/kernels/softmax.h"
#include "heed/kernels/state_rows.h"
#include "heed/kernels/unpack_blocks.h"
#include "heed/kernels/widen.h"

namespace heed::kernels {
namespace {

// HEED_TARGET is read once in a process, so each test has one of its own (gtest's "threadsafe" death tests).
class EnvironmentTarget : public ::testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

// Ends the process, with 0 where `body` says so.
[[noreturn]] void end_with(bool good) {
  std::fflush(stderr);
  std::_Exit(good ? 0 : 1);
}

// One kernel of each file, on nothing.
const std::pair<const char*, std::function<void()>> kFirstCalls[] = {
    {"activation", [] { activate(Activation::relu, nullptr, nullptr, 0); }},
    {"adam", [] { adam_f32({}, nullptr, nullptr, nullptr, nullptr, 0); }},
    {"attention_additive", [] { attention_additive_scores({}, nullptr); }},
    {"attention_rows", [] { attention_any_nan(0, 0, static_cast<const float*>(nullptr), 0); }},
    {"dropout", [] { dropout_bits(0, 0, 0, nullptr, 0); }},
    {"elementwise", [] { add(nullptr, nullptr, nullptr, 0); }},
    {"feature_map", [] { relu_rows(0, 0, nullptr, 0, nullptr); }},
    {"gemm_tile", [] { gemm_tile_is_fused(); }},
    {"machine_limits", [] { multiply_adds(0); }},
    {"narrow", [] { narrow(nullptr, 0, static_cast<BFloat16*>(nullptr)); }},
    {"normalise", [] { normalise_rows({}); }},
    {"recurrent", [] { rnn_row(0, nullptr, nullptr, nullptr); }},
    {"softmax", [] { add_column_sums(nullptr, 0, 0, 0, nullptr); }},
    {"state_rows", [] { all_finite(0, nullptr); }},
    {"unpack_blocks",
     [] {
       unpack_blocks(nullptr, {BlockType::q8_0, nullptr, nullptr, nullptr, 0, 0});
     }},
    {"widen", [] { widen(static_cast<const BFloat16*>(nullptr), 0, nullptr); }},
};

TEST_F(EnvironmentTarget, AWrongNameIsRefusedByEveryKernelEachTime) {
  const std::string expected = "HEED_TARGET: \"Z80\" is not one of this machine's targets: .*SCALAR";
  for (const auto& [file, call] : kFirstCalls) {
    const auto use = [&call = call] {
      setenv("HEED_TARGET", "Z80", 1);
      int refused = 0;
      for (int time = 0; time < 2; ++time) {
        try {
          call();
        } catch (const Error& error) {
          std::fprintf(stderr, "%s\n", error.what());
          ++refused;
        }
      }
      end_with(refused == 2);
    };
    EXPECT_EXIT(use(), ::testing::ExitedWithCode(0), expected) << file;
  }
}

TEST_F(EnvironmentTarget, TheFirstKernelRunsOnIt) {
  const auto use = [] {
    setenv("HEED_TARGET", "SCALAR", 1);
    const bool fused = gemm_tile_is_fused();
    std::fprintf(stderr, "%s", std::string(simd_target_name(active_simd_target())).c_str());
    force_simd_target(simd_targets().front());
    const bool best_fused = gemm_tile_is_fused();
    force_simd_target(0);
    end_with(gemm_tile_is_fused() == fused && (simd_targets().size() == 1 || best_fused != fused));
  };
  EXPECT_EXIT(use(), ::testing::ExitedWithCode(0), "SCALAR");
}

TEST_F(EnvironmentTarget, UnsetItIsTheBest) {
  const auto use = [] {
    unsetenv("HEED_TARGET");
    gemm_tile_is_fused();
    end_with(active_simd_target() == simd_targets().front());
  };
  EXPECT_EXIT(use(), ::testing::ExitedWithCode(0), "");
}

TEST(Target, ForcingOneThatIsNotHereIsRefused) { EXPECT_THROW(force_simd_target(3), Error); }

}  // namespace
}  // namespace heed::kernels
