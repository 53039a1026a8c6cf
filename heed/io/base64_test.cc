#include "heed/io/base64.h"

#include <gtest/gtest.h>

#include "heed/base/error.h"
#include "heed/testing/refusal.h"

namespace heed {
namespace {

std::string refused_base64(std::string_view text) {
  return testing::refusal([&] { base64_bytes(text, "t"); });
}

TEST(Base64, HasTheVectorsOfTheStandard) {
  const std::pair<std::string_view, std::string_view> vectors[] = {{"", ""},
                                                                   {"f", "Zg=="},
                                                                   {"fo", "Zm8="},
                                                                   {"foo", "Zm9v"},
                                                                   {"foob", "Zm9vYg=="},
                                                                   {"fooba", "Zm9vYmE="},
                                                                   {"foobar", "Zm9vYmFy"}};
  for (const auto& [bytes, text] : vectors) {
    EXPECT_EQ(base64(bytes), text);
    EXPECT_EQ(base64_bytes(text, "t"), bytes);
  }
}

TEST(Base64, EveryByteComesBack) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) {
    bytes += static_cast<char>(i);
    EXPECT_EQ(base64_bytes(base64(bytes), "t"), bytes);
  }
  EXPECT_EQ(base64("\xFB\xFF\xBF"), "+/+/");
}

TEST(Base64, OneTextForTheSameBytesAndNoOther) {
  EXPECT_EQ(refused_base64("Zg="), "t: base64 comes in fours, but there are 3 characters");
  EXPECT_EQ(refused_base64("Zm9v\nZg="), "t: character 5 is not base64");
  EXPECT_EQ(refused_base64("Zm=v"), "t: character 3 is not base64");
  EXPECT_EQ(refused_base64("===="), "t: character 1 is not base64");
  EXPECT_EQ(refused_base64("Zg==Zg=="), "t: character 3 is not base64");
  EXPECT_EQ(refused_base64("Zh=="), "t: the last character holds bits of no byte");
  EXPECT_EQ(refused_base64("Zm9="), "t: the last character holds bits of no byte");
  EXPECT_EQ(refused_base64("Zm-_"), "t: character 3 is not base64");
}

}  // namespace
}  // namespace heed
