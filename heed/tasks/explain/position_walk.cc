#include <cmath>
#include <numbers>
#include <utility>

#include "heed/base/check.h"
#include "heed/layers/positions.h"
#include "heed/tasks/explain/attention_stages.h"
#include "heed/tasks/explain/small_matrix.h"
#include "heed/tasks/explain/walk_writer.h"
#include "heed/tasks/explain/worked_examples.h"

namespace heed {
namespace {

constexpr Index kLargest = 1024;

// The angle per position of every pair of dimensions (or of the sine alone that an odd width leaves), and the positions
// that one turn takes. In double: the table's own floats would show in the wavelengths' sixth digit.
LabelledMatrix frequencies(Index width) {
  std::vector<std::string> labels;
  std::vector<double> values;
  for (Index d = 0; d < width; d += 2) {
    const double rate = std::pow(10000.0, -static_cast<double>(d) / static_cast<double>(width));
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

Explanation explain_positions(Index length, Index width, Language language) {
  HEED_CHECK(length >= 1 && length <= kLargest && width >= 1 && width <= kLargest,
             "explain_positions: length and width must be from 1 to {}, but are {} and {}", kLargest, length, width);
  const Tensor table = sinusoidal_positions(length, width);
  const Tensor wide = as_one_head(table.to(DType::f64));
  const AttentionStages products =
      compute_attention_stages(wide.view(), wide.view(), wide.view(), {.score = Score::dot()});
  const std::vector<std::string> positions = numbered_labels("p", length, 0), columns = numbered_labels("d", width, 0);

  WalkWriter walk("positions", language);
  walk.add("frequencies", fmt::format("angle_i = 1 / 10000^(2 i / {}),   wavelength_i = 2 pi / angle_i", width),
           {frequencies(width)});
  const LabelledMatrix encoding = label_matrix("PE", table.view(), positions, columns);
  walk.add("table", "PE[p, 2 i] = sin(p * angle_i),   PE[p, 2 i + 1] = cos(p * angle_i)", {encoding});
  walk.add("products", "products = PE PE^T",
           {label_matrix("products", head_of(products.scores.view(), 0), positions, positions)},
           width % 2 == 0 ? "even" : "odd");
  walk.add("picture", "[PE[p, 0], PE[p, 2], ..., PE[p, 1], PE[p, 3], ...]", {shaded_waves(table.view())});
  Explanation explanation = std::move(walk).finish({encoding});
  explanation.drawing = Explanation::Drawing::positions;
  return explanation;
}

}  // namespace heed
