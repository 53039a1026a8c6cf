#include "heed/tasks/explain/explanation_picture.h"

#include <algorithm>
#include <utility>

#include "heed/base/check.h"
#include "heed/tasks/explain/matrix_text.h"
#include "heed/viz/heatmap.h"
#include "heed/viz/matrix_picture.h"

namespace heed {

Picture draw_explanation(const Explanation& explanation) {
  HEED_CHECK(!explanation.pictured.empty(), "draw_explanation: '{}' has nothing to draw", explanation.title);
  const LabelledMatrix& first = explanation.pictured.front();
  if (explanation.drawing == Explanation::Drawing::positions) {
    return draw_positions(make_view(first.values.data(), {first.rows(), first.columns()}), explanation.title);
  }
  const Words words(explanation.language);
  constexpr Index kMostNumbers = 16;  // columns in which numbers can be read
  Heatmap map{.title = explanation.title,
              .row_title = words.text("picture.queries"),
              .column_title = words.text("picture.keys")};
  map.row_labels = first.row_labels;
  map.column_labels = first.column_labels;
  map.digits = first.columns() <= kMostNumbers && explanation.pictured.size() <= 4 ? 3 : -1;
  map.square = false;
  double most = 0;
  for (const LabelledMatrix& matrix : explanation.pictured) {
    map.panels.push_back({matrix_caption(matrix, explanation.language), {matrix.values.begin(), matrix.values.end()}});
    for (double value : matrix.values) most = value > most ? value : most;
  }
  map.most = round_scale(most);
  map.description = explanation.introduction;
  return draw_heatmap(std::move(map));
}

}  // namespace heed
