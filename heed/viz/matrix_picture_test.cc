#include "heed/viz/matrix_picture.h"

#include <gtest/gtest.h>

#include <limits>

#include "heed/base/error.h"
#include "heed/tensor/tensor.h"

namespace heed {
namespace {

std::string svg(const Picture& picture) { return render(picture, PictureFormat::svg); }

TEST(MatrixPicture, PrintsEveryNumberBesideItsLabels) {
  const Tensor matrix = Tensor::from<double>({0.25, -1.5, 3, -std::numeric_limits<double>::infinity()}, {2, 2});
  const std::string drawn = svg(draw_matrix(matrix, {.title = "Scores",
                                                     .row_title = "query",
                                                     .column_title = "key",
                                                     .row_labels = {"das", "Haus"},
                                                     .column_labels = {"the", "house & <home>"},
                                                     .digits = 3}));
  for (const char* text : {">Scores<", ">query<", ">key<", ">das<", ">Haus<", ">the<", ">house &amp; &lt;home&gt;<",
                           ">0.250<", ">-1.500<", ">3.000<", ">-∞<"}) {
    EXPECT_NE(drawn.find(text), std::string::npos) << text;
  }
}

TEST(MatrixPicture, ReadsThroughStridesAndNumbersUnnamedLabels) {
  const Tensor matrix = Tensor::from<float>({1, 2, 3, 4, 5, 6}, {2, 3});
  const Tensor turned = Tensor::from<float>({1, 4, 2, 5, 3, 6}, {3, 2});
  EXPECT_EQ(svg(draw_matrix(transpose(matrix.view(), 0, 1))), svg(draw_matrix(turned)));
  EXPECT_NE(svg(draw_matrix(turned)).find("<title>2 → 1: 6.000</title>"), std::string::npos);
}

TEST(MatrixPicture, DrawsATableOfPositions) {
  Tensor table = Tensor::zeros(DType::f32, {50, 64});
  table.at<float>({3, 5}) = -0.5F;
  const std::string drawn = svg(draw_positions(table));
  for (const char* text : {">position<", ">dimension<", "<title>3 → 5: -0.500</title>"}) {
    EXPECT_NE(drawn.find(text), std::string::npos) << text;
  }
}

TEST(MatrixPicture, RefusesWhatIsNoMatrixOfReals) {
  EXPECT_THROW(draw_matrix(Tensor::zeros(DType::f32, {2, 2, 2})), Error);
  EXPECT_THROW(draw_matrix(Tensor::zeros(DType::i32, {2, 2})), Error);
  EXPECT_THROW(draw_matrix(ConstView{}), Error);
  EXPECT_THROW(draw_positions(Tensor::zeros(DType::f32, {4})), Error);
  EXPECT_THROW(draw_matrix(Tensor::zeros(DType::f32, {2, 2}), {.row_labels = {"one"}}), Error);
}

}  // namespace
}  // namespace heed
