#include "heed/base/fingerprint.h"

#include <gtest/gtest.h>

namespace heed {
namespace {

std::uint64_t of(std::string_view bytes) {
  Fingerprint print;
  print.add(bytes);
  return print.value();
}

// The vectors that FNV's authors publish, so that checkpoints stay good.
TEST(Fingerprint, IsFnv1a) {
  EXPECT_EQ(of(""), 0xcbf29ce484222325u);
  EXPECT_EQ(of("a"), 0xaf63dc4c8601ec8cu);
  EXPECT_EQ(of("foobar"), 0x85944171f73967e8u);
}

TEST(Fingerprint, DependsOnTheBytesAndNotOnHowTheyAreCut) {
  Fingerprint print;
  print.add("foo"), print.add(""), print.add("bar");
  EXPECT_EQ(print.value(), of("foobar"));
}

}  // namespace
}  // namespace heed
