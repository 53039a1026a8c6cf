#include "heed/ops/attention/memory_check.h"

namespace heed {
namespace {

// Calls f(name, view) for every view of a spec; an empty one is not given.
template <typename F>
void for_views(const AttentionSpec& spec, const F& f) {
  f("the additive score's vector", spec.score.additive_vector);
  f("the random features' projection", spec.score.feature_map.projection);
  f("the dense bias", spec.bias.dense);
  f("the ALiBi slopes", spec.bias.alibi);
  f("the relative bias", spec.bias.relative.table);
  f("the Gaussian's centre", spec.bias.gaussian.centre);
  f("the sinks", spec.normaliser.sinks);
  f("the query offsets", spec.sequences.query_offsets);
  f("the key offsets", spec.sequences.key_offsets);
  f("the pages", spec.sequences.pages);
  const auto interval = [&](const std::optional<Window>& window, const ConstView& lengths) {
    f("the key lengths", lengths);
    if (!window) return;
    f("the window's centre", window->centre);
    f("the window's prefix", window->prefix);
  };
  interval(spec.mask.window, spec.mask.lengths);
  for (const KeyInterval& more : spec.mask.further) interval(more.window, more.lengths);
  for (const auto& pattern : spec.mask.patterns) {
    for (const ConstView& view : pattern->views()) f("a mask", view);
  }
}

}  // namespace

void check_call(const char* caller, const AttentionSpec& spec, std::initializer_list<Operand> read,
                std::initializer_list<Operand> written) {
  check_operands(caller, read, written);
  for_views(spec, [&](std::string_view name, const ConstView& view) {
    const Operand operand{name, view, kOptional};
    check_operand(caller, operand);
    for (const Operand& one : written) check_apart(caller, one, operand);
  });
}

}  // namespace heed
