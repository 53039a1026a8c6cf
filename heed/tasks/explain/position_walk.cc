#include <cmath>
#include <numbers>

#include "heed/base/check.h"
#include "heed/layers/positions.h"
#include "heed/tasks/explain/attention_stages.h"
#include "heed/tasks/explain/small_matrix.h"
#include "heed/tasks/explain/worked_examples.h"

namespace heed {
namespace {

constexpr Index kLargest = 1024;

// The angle per position of every pair of dimensions and the positions that one turn takes, read off position 1 of the
// table: its sine and cosine, or the sine alone where an odd width cuts the pair.
LabelledMatrix frequencies(Index width) {
  const Tensor table = sinusoidal_positions(2, width);
  std::vector<std::string> labels;
  std::vector<double> values;
  for (Index d = 0; d < width; d += 2) {
    const double sine = table.at<float>({1, d});
    const double rate = d + 1 < width ? std::atan2(sine, double{table.at<float>({1, d + 1})}) : std::asin(sine);
    labels.push_back(d + 1 < width ? fmt::format("d{}, d{}", d, d + 1) : fmt::format("d{}", d));
    values.push_back(rate);
    values.push_back(2 * std::numbers::pi / rate);
  }
  return {"frequencies", std::move(labels), {"angle", "wavelength"}, std::move(values)};
}

// The sines of the table, then its cosines: side by side as they are, they would hide each other's waves.
LabelledMatrix shaded_waves(const ConstView& table) {
  const Index length = table.shape[0], width = table.shape[1];
  LabelledMatrix waves{.name = "sines, then cosines", .row_labels = numbered_labels("p", length, 0)};
  waves.shown = LabelledMatrix::Shown::shades;
  std::vector<Index> order;
  for (Index first : {0, 1}) {
    for (Index d = first; d < width; d += 2) order.push_back(d);
  }
  for (Index d : order) waves.column_labels.push_back(fmt::format("d{}", d));
  for (Index p = 0; p < length; ++p) {
    for (Index d : order) waves.values.push_back(double{table.at<float>({p, d})});
  }
  return waves;
}

}  // namespace

Explanation explain_positions(Index length, Index width) {
  HEED_CHECK(length >= 1 && length <= kLargest && width >= 1 && width <= kLargest,
             "explain_positions: length and width must be from 1 to {}, but are {} and {}", kLargest, length, width);
  const Tensor table = sinusoidal_positions(length, width);
  const Tensor wide = as_one_head(table.to(DType::f64));
  const AttentionStages products =
      compute_attention_stages(wide.view(), wide.view(), wide.view(), {.score = Score::dot()});
  const std::vector<std::string> positions = numbered_labels("p", length, 0), columns = numbered_labels("d", width, 0);

  Explanation walk{.title = "Sinusoidal positions",
                   .introduction =
                       "Attention does not see the order of its keys, so each position has a vector that is "
                       "added to the embedding of the word that stands there (Vaswani et al. 2017, section "
                       "3.5).",
                   .drawing = Explanation::Drawing::positions};
  walk.steps = {
      {.name = "frequencies",
       .title = "each pair of dimensions turns at its own speed",
       .formula =
           fmt::format("angle_i = 1 / 10000^(2 i / {}) for each position,   wavelength_i = 2 pi / angle_i", width),
       .meaning = "The first pair tells neighbours apart, the last ones hardly move: the hands of a clock.",
       .matrices = {frequencies(width)}},
      {.name = "table",
       .title = "a row for each position",
       .formula = "PE[p, 2 i] = sin(p * angle_i),   PE[p, 2 i + 1] = cos(p * angle_i)",
       .meaning = "Every number lies between -1 and 1, at every position, however long the text.",
       .matrices = {label_matrix("PE", table.view(), positions, columns)}},
      {.name = "products",
       .title = "every position against every other",
       .formula = "products = PE PE^T",
       .meaning = width % 2 == 0 ? "Along a diagonal the numbers are the same: the product of two positions depends on "
                                   "their distance alone, which is what attention can use."
                                 : "With an even width the numbers along a diagonal would be the same: the last sine "
                                   "lacks its cosine here.",
       .matrices = {label_matrix("products", head_of(products.scores.view(), 0), positions, positions)}},
      {.name = "picture",
       .title = "the table, shaded",
       .formula =
           "light is -1, dark is 1; positions run down; the even dimensions, then the odd ones, run to the right",
       .meaning = "In each half the waves get longer from left to right.",
       .matrices = {shaded_waves(table.view())}}};
  walk.pictured = walk.step("table").matrices;
  return walk;
}

}  // namespace heed
