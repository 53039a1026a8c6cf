#include "heed/viz/reading_picture.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "heed/viz/heads_sample.h"
#include "heed/viz/recorded_picture.h"

namespace heed {
namespace {

TEST(ReadingPicture, ShowsWhatOneWordReadsHeadByHead) {
  const Index row = 0;
  const Recording drawn(draw_reading(heads_sample(), {&row, 1}));
  EXPECT_EQ(drawn.lines.size(), 4u);
  for (const auto& line : drawn.lines) EXPECT_EQ(line.from.y, drawn.lines[0].from.y);
  ASSERT_EQ(drawn.cells.size(), 6u);
  EXPECT_EQ(drawn.cells[2].note, "head 4 → it: 1.000");
  EXPECT_EQ(drawn.cells[2].colour, hex(categorical_colour(0)));
  EXPECT_EQ(drawn.cells[3].note, "head 7 → the: 0.500");
  for (const char* text : {"4", "7"}) EXPECT_TRUE(drawn.shows(text)) << text;
}

TEST(ReadingPicture, OfSeveralPiecesIsTheirMean) {
  const std::vector<Index> rows{0, 1};
  const Picture picture = draw_reading(heads_sample(), rows);
  const Recording drawn(picture);
  EXPECT_EQ(drawn.cells[1].note, "head 4 → animal: 0.500");
  EXPECT_EQ(drawn.cells[2].note, "head 4 → it: 0.500");
  EXPECT_TRUE(picture.description.starts_with("What it was looks at most: head 4: animal (0.50)"))
      << picture.description;
}

TEST(ReadingPicture, IsTheRowThatItsNumbersAre) {
  const Index row = 2;
  const Heatmap reading = reading_of(heads_sample(), {&row, 1});
  EXPECT_EQ(reading.row_labels, std::vector<std::string>{"tired"});
  EXPECT_EQ(reading.panels[0].values, (std::vector<float>{1, 0, 0}));
}

}  // namespace
}  // namespace heed
