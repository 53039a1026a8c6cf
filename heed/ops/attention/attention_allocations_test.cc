// What a call of attention takes from the system beside its arithmetic: nothing, once its workspace has grown.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "heed/base/parallel.h"
#include "heed/ops/attention/attention.h"
#include "heed/testing/gradient_check.h"

#ifdef __has_feature  // clang's
#if __has_feature(thread_sanitizer)
#define HEED_NEW_IS_TAKEN  // its operators cannot be replaced
#endif
#endif

namespace {

std::atomic<long> allocations{0};

#ifndef HEED_NEW_IS_TAKEN
void* counted(std::size_t bytes, std::size_t alignment) {
  ++allocations;
  // aligned_alloc wants a multiple of the alignment.
  void* memory = std::aligned_alloc(alignment, (bytes / alignment + 1) * alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
#endif

}  // namespace

#ifndef HEED_NEW_IS_TAKEN
// Of the whole test program. The forms that are not here call these, but a sanitizer's form that throws nothing, which
// would not go with the delete below. Not inlined: where the one is and the other not, GCC takes them for a pair that
// does not match.
void* operator new(std::size_t bytes) { return counted(bytes, __STDCPP_DEFAULT_NEW_ALIGNMENT__); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(bytes);
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return counted(bytes, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
#endif

namespace heed {
namespace {

using testing::random_tensor;

// A step of decoding: one query of 8 heads over 16 keys.
class AttentionAllocations : public ::testing::Test {
 protected:
  void SetUp() override {
#ifdef HEED_NEW_IS_TAKEN
    GTEST_SKIP() << "ThreadSanitizer has operators of its own, which count nothing";
#endif
  }
  long of_a_call(const AttentionSpec& spec) {
    const int threads = thread_count();
    set_thread_count(1);
    Workspace workspace;
    const auto call = [&] { attention(q_, k_, v_, spec, {.out = out_, .row_stat = stat_}, workspace); };
    call();
    const long before = allocations;
    call();
    const long taken = allocations - before;
    set_thread_count(threads);
    return taken;
  }

  Tensor q_ = random_tensor(DType::f32, {1, 8, 1, 64}, 1), k_ = random_tensor(DType::f32, {1, 8, 16, 64}, 2);
  Tensor v_ = random_tensor(DType::f32, {1, 8, 16, 64}, 3), out_ = Tensor::zeros(DType::f32, {1, 8, 1, 64});
  Tensor stat_ = Tensor::zeros(DType::f32, {1, 8, 1});
};

TEST_F(AttentionAllocations, AreCounted) {
  const long before = allocations;
  const Tensor tensor = Tensor::zeros(DType::f32, {3});
  EXPECT_GT(allocations, before);
}

TEST_F(AttentionAllocations, ThereAreNoneInACallThatSucceeds) {
  const Tensor lengths = Tensor::from(std::vector<std::int64_t>{12}, {1});
  EXPECT_EQ(of_a_call({}), 0);
  EXPECT_EQ(of_a_call({.mask = Mask::causal()}), 0);
  EXPECT_EQ(of_a_call({.mask = Mask::causal() & Mask::key_lengths(lengths)}), 0);
  EXPECT_EQ(of_a_call({.bias = {.alibi = random_tensor(DType::f32, {8}, 4)},
                       .normaliser = Normaliser::softmax(random_tensor(DType::f32, {8}, 5))}),
            0);
  EXPECT_EQ(of_a_call({.score = Score::additive(random_tensor(DType::f32, {64}, 6))}), 0);
}

}  // namespace
}  // namespace heed
