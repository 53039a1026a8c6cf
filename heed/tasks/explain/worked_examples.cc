#include "heed/tasks/explain/worked_examples.h"

#include <algorithm>
#include <string>

#include "heed/base/check.h"
#include "heed/base/printable.h"

namespace heed {
namespace {

template <Explanation (*explain)(Language)>
Explanation without_sizes(const ExampleSizes&, Language language) {
  return explain(language);
}

constexpr WorkedExample kExamples[] = {
    {"thinking-machines", without_sizes<explain_thinking_machines>},
    {"bahdanau", without_sizes<explain_bahdanau>},
    {"luong", without_sizes<explain_luong>},
    {"positions", [](const ExampleSizes& sizes,
                     Language language) { return explain_positions(sizes.length, sizes.width, language); }},
    {"masks", without_sizes<explain_masks>},
    {"gqa", without_sizes<explain_grouped_queries>},
    {"flash-attention", without_sizes<explain_flash_attention>},
    {"windows", without_sizes<explain_windows>},
};

}  // namespace

std::span<const WorkedExample> worked_examples() { return kExamples; }

Explanation explain_example(std::string_view name, const ExampleSizes& sizes, Language language) {
  const auto found = std::ranges::find(kExamples, name, &WorkedExample::name);
  if (found != std::end(kExamples)) return found->explain(sizes, language);
  std::string names;
  for (const WorkedExample& example : kExamples) names += (names.empty() ? "" : ", ") + std::string(example.name);
  fail("explain: there is no example '{}'; there are: {}", printable(name), names);
}

}  // namespace heed
