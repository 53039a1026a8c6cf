// A test with a folder of its own, which is empty when it begins and gone when it has ended.
//
//   class SafetensorsTest : public testing::ScratchTest {};
//   TEST_F(SafetensorsTest, RoundTrips) { write_safetensors(folder_ / "x.safetensors", tensors); ... }
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>

namespace heed::testing {

class ScratchTest : public ::testing::Test {
 protected:
  ScratchTest() {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~ScratchTest() override { std::filesystem::remove_all(folder_); }

  const std::filesystem::path folder_ = std::filesystem::path(::testing::TempDir()) / name();

 private:
  static std::string name() {
    const ::testing::TestInfo& test = *::testing::UnitTest::GetInstance()->current_test_info();
    std::string name = std::string("heed_") + test.test_suite_name() + "_" + test.name();
    std::ranges::replace(name, '/', '_');  // of a test with parameters
    return name;
  }
};

}  // namespace heed::testing
