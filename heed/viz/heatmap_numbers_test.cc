#include "heed/viz/heatmap_numbers.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "heed/base/error.h"
#include "heed/io/npz.h"

namespace heed {
namespace {

Heatmap two_heads() {
  return {.title = "Heads",
          .row_title = "queries",
          .column_title = "keys",
          .row_labels = {"它", "a \"b\", c"},
          .column_labels = {"the", "، نص"},
          .panels = {{"head 0", {0.1F, 0.25F, 1, 0}}, {"head 3", {0, 1, 0, 1e-9F}}}};
}

TEST(HeatmapNumbers, ASpreadsheetHasALineForEachCell) {
  EXPECT_EQ(heatmap_csv(two_heads()),
            "panel,row,row_label,column,column_label,value\r\n"
            "head 0,0,它,0,the,0.1\r\n"
            "head 0,0,它,1,، نص,0.25\r\n"
            "head 0,1,\"a \"\"b\"\", c\",0,the,1\r\n"
            "head 0,1,\"a \"\"b\"\", c\",1,، نص,0\r\n"
            "head 3,0,它,0,the,0\r\n"
            "head 3,0,它,1,، نص,1\r\n"
            "head 3,1,\"a \"\"b\"\", c\",0,the,0\r\n"
            "head 3,1,\"a \"\"b\"\", c\",1,، نص,1e-09\r\n");
}

TEST(HeatmapNumbers, JsonHasThePanelsAsRows) {
  const Json json = heatmap_json(two_heads());
  EXPECT_EQ(json["rows"][0].string(), "它");
  EXPECT_EQ(json["columns"].size(), 2);
  EXPECT_EQ(json["panels"][1]["title"].string(), "head 3");
  EXPECT_EQ(static_cast<float>(json["panels"][0]["values"][0][0].number()), 0.1F);
  EXPECT_EQ(json["panels"][1]["values"][0][1].number(), 1);
}

TEST(HeatmapNumbers, AnArchiveHasAllPanelsInOneArray) {
  const std::string path = ::testing::TempDir() + "/heed_heatmap_numbers_test.npz";
  write_heatmap_npz(path, two_heads());
  const NpzReader reader(path);
  const NpyArray values = reader.array("values");
  EXPECT_EQ(values.shape, (std::vector<Index>{2, 2, 2}));
  EXPECT_EQ(values.elements.at<float>({1}), 0.25F);
  EXPECT_EQ(values.elements.at<float>({5}), 1);
  const Json labels = Json::parse(reader.text("labels.json"));
  EXPECT_EQ(labels["panels"].string_list(), (std::vector<std::string>{"head 0", "head 3"}));
  EXPECT_EQ(labels["rows"][0].string(), "它");
}

TEST(HeatmapNumbers, WhatIsNoNumberIsNullInJson) {
  Heatmap map = two_heads();
  map.panels[0].values[1] = std::numeric_limits<float>::infinity();
  EXPECT_TRUE(heatmap_json(map)["panels"][0]["values"][0][1].is_null());
  EXPECT_NE(heatmap_csv(map).find(",inf\r\n"), std::string::npos);
}

TEST(HeatmapNumbers, RefusesAMapThatIsNone) {
  Heatmap map = two_heads();
  map.panels[0].values.pop_back();
  EXPECT_THROW(heatmap_csv(map), Error);
  EXPECT_THROW(heatmap_json(map), Error);
}

}  // namespace
}  // namespace heed
