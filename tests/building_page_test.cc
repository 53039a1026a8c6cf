// Every piece of code in docs/building.md, as a test: it prints what the page says it prints.
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <vector>

#include "heed/heed.h"
#include "page_output.h"

namespace heed {
namespace {

class BuildingPage : public ::testing::Test {
 protected:
  BuildingPage() { std::filesystem::create_directories(folder); }
  ~BuildingPage() override { std::filesystem::remove_all(folder); }
  void begin_piece(std::string_view) {}

  std::filesystem::path folder =
      std::filesystem::path(::testing::TempDir()) /
      (std::string("heed_building_page_") + ::testing::UnitTest::GetInstance()->current_test_info()->name());
};

#pragma GCC diagnostic ignored "-Wshadow"  // a piece may give a name of the fixture to something of its own
#include "building_page_snippets.inc"      // written from the page

}  // namespace
}  // namespace heed
