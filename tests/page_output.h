// What a piece of code on a page prints.
#pragma once

#include <gtest/gtest.h>

#include <string>

namespace heed {

// Holds what a piece of code prints, until the end of its life, against the page.
class ExpectOutput {
 public:
  explicit ExpectOutput(std::string expected) : expected_(std::move(expected)) { ::testing::internal::CaptureStdout(); }
  ~ExpectOutput() { EXPECT_EQ(::testing::internal::GetCapturedStdout(), expected_); }
  ExpectOutput(const ExpectOutput&) = delete;
  ExpectOutput& operator=(const ExpectOutput&) = delete;

 private:
  std::string expected_;
};

}  // namespace heed
