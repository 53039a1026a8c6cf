// Json where memory runs out. The operators here stand in for those of the whole test program.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include "heed/io/json.h"

namespace {

thread_local long g_left = -1;  // allocations until one fails; negative: none does

}  // namespace

// Not inlined: where the one is and the other not, GCC takes them for a pair that does not match.
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  if (g_left >= 0 && g_left-- == 0) return nullptr;
  return std::malloc(bytes == 0 ? 1 : bytes);
}
void* operator new(std::size_t bytes) {
  void* const block = operator new(bytes, std::nothrow);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}
[[gnu::noinline]] void operator delete(void* block) noexcept { std::free(block); }
[[gnu::noinline]] void operator delete(void* block, std::size_t) noexcept { std::free(block); }

namespace heed {
namespace {

const std::string kLong(100, 'x');  // no string holds it within itself

Json sample() {
  return Json::object({{"text", kLong},
                       {"integers", Json::array_of(std::vector<Index>{1, 2, 3})},
                       {"numbers", Json::array_of(std::vector<double>{0.5, 1.5})},
                       {"array", Json::array({kLong, nullptr, true, Json::array({Json(), kLong})})},
                       {"object", Json::object({{kLong, 1}, {"deeper", Json::object({{"text", kLong}})}})}});
}

// Makes the first allocation of `change` on a copy fail, then the second, until it needs no more.
template <typename Change>
void expect_refused_or_done(const Change& change) {
  const Json original = sample();
  for (long number = 0;; ++number) {
    Json copy = original;
    g_left = number;
    bool done = false;
    try {
      change(copy);
      done = true;
    } catch (const std::bad_alloc&) {
    }
    g_left = -1;
    EXPECT_EQ(original, sample()) << number;
    if (done) {
      EXPECT_GT(number, 0);
      return;
    }
    ASSERT_LT(number, 10'000);
  }
}

TEST(JsonMemory, AValueThatCannotBeCopiedThrows) {
  expect_refused_or_done([](Json& copy) { copy.set("more", 1); });
  expect_refused_or_done([](Json& copy) { copy["array"].append(Json()); });
  expect_refused_or_done([](Json& copy) { Json::array({copy, copy}); });
  expect_refused_or_done([](Json& copy) { Json::object({{"a", copy}, {"b", copy["object"]}}); });
}

}  // namespace
}  // namespace heed
