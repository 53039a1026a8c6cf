#include "heed/ops/attention/memory_check.h"

#include "heed/base/check.h"
#include "heed/tensor/overlap.h"

namespace heed {

std::vector<NamedView> views_read(const ConstView& q, const ConstView& k, const ConstView& v,
                                  const AttentionSpec& spec) {
  std::vector<NamedView> read{{"q", q},
                              {"k", k},
                              {"v", v},
                              {"the additive score's vector", spec.score.additive_vector},
                              {"the random features' projection", spec.score.feature_map.projection},
                              {"the dense bias", spec.bias.dense},
                              {"the ALiBi slopes", spec.bias.alibi},
                              {"the relative bias", spec.bias.relative.table},
                              {"the Gaussian's centre", spec.bias.gaussian.centre},
                              {"the sinks", spec.normaliser.sinks},
                              {"the key lengths", spec.mask.lengths},
                              {"the query offsets", spec.sequences.query_offsets},
                              {"the key offsets", spec.sequences.key_offsets},
                              {"the pages", spec.sequences.pages}};
  const auto add_window = [&](const std::optional<Window>& window) {
    if (!window) return;
    read.emplace_back("the window's centre", window->centre);
    read.emplace_back("the window's prefix", window->prefix);
  };
  add_window(spec.mask.window);
  for (const KeyInterval& more : spec.mask.further) {
    add_window(more.window);
    read.emplace_back("the key lengths", more.lengths);
  }
  for (const auto& pattern : spec.mask.patterns) {
    for (const ConstView& view : pattern->views()) read.emplace_back("a mask", view);
  }
  return read;
}

void check_written(const char* caller, const std::vector<NamedView>& written, const std::vector<NamedView>& read) {
  const auto check = [&](const NamedView& a, const NamedView& b) {
    HEED_CHECK(!overlap(a.second, b.second), "{}: {} overlaps {}: {} and {}", caller, a.first, b.first,
               describe(a.second), describe(b.second));
  };
  for (std::size_t at = 0; at < written.size(); ++at) {
    const auto& [name, view] = written[at];
    if (!view || view.size() == 0) continue;
    for (int axis = 0; axis < view.rank; ++axis) {
      HEED_CHECK(view.shape[axis] <= 1 || view.stride[axis] != 0, "{}: {} must not have a stride of 0, but is {}",
                 caller, name, describe(view));
    }
    for (std::size_t before = 0; before < at; ++before) check(written[at], written[before]);
    for (const NamedView& other : read) check(written[at], other);
  }
}

}  // namespace heed
