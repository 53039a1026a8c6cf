#include "heed/ops/attention/problem/packed_sequences.h"

#include "heed/base/check.h"
#include "heed/tensor/numbers.h"

namespace heed {
namespace {

void check_offsets(const char* caller, const char* name, const ConstView& offsets, const ConstView& rows) {
  HEED_CHECK(offsets && offsets.rank == 1 && offsets.shape[0] >= 1 && is_integer(offsets.dtype),
             "{}: {} offsets must be i32 or i64 [N + 1], but are {}", caller, name, describe(offsets));
  Index last = 0;
  for (Index n = 0; n < offsets.shape[0]; ++n) {
    const Index offset = integer_at(offsets, {n});
    HEED_CHECK(n == 0 ? offset == 0 : offset >= last, "{}: {} offsets must begin at 0 and not fall, but {} follows {}",
               caller, name, offset, last);
    last = offset;
  }
  HEED_CHECK(rows.rank == 4 && rows.shape[0] == 1 && last == rows.shape[2],
             "{}: {} offsets end at {}, but the packed rows are {}", caller, name, last, describe(rows));
}

// [N] as the [1] of one sequence.
void pick(ConstView& view, Index n) {
  if (view) view = slice(view, 0, n, n + 1);
}

}  // namespace

PackedSequences::PackedSequences(const char* caller, const ConstView& q, const ConstView& k, const AttentionSpec& spec)
    : spec_(spec) {
  const Sequences& sequences = spec.sequences;
  HEED_CHECK(!sequences.pages, "{}: packed sequences cannot be paged", caller);
  check_offsets(caller, "query", sequences.query_offsets, q);
  check_offsets(caller, "key", sequences.key_offsets, k);
  HEED_CHECK(sequences.query_offsets.shape[0] == sequences.key_offsets.shape[0],
             "{}: query and key offsets must be of the same sequences, but are {} and {}", caller,
             describe(sequences.query_offsets), describe(sequences.key_offsets));
  const auto check_vector = [&](const char* name, const ConstView& view) {
    if (view) check_integers(caller, name, view, count());
  };
  const auto check_centre = [&](const char* name, const ConstView& centre) {
    HEED_CHECK(!centre || (centre.rank == 3 && centre.shape[0] == 1 && centre.shape[2] == q.shape[2]),
               "{}: {} of packed sequences must be [1, H | 1, {}], but is {}", caller, name, q.shape[2],
               describe(centre));
  };
  check_centre("the Gaussian's centre", spec.bias.gaussian.centre);
  const auto check_interval = [&](const std::optional<Window>& window, const ConstView& lengths) {
    check_vector("key lengths", lengths);
    if (!window) return;
    check_vector("the window's prefix", window->prefix);
    check_centre("the window's centre", window->centre);
  };
  check_interval(spec.mask.window, spec.mask.lengths);
  for (const KeyInterval& more : spec.mask.further) check_interval(more.window, more.lengths);
}

Index PackedSequences::count() const { return spec_.sequences.query_offsets.shape[0] - 1; }

PackedSequence PackedSequences::sequence(Index n) const {
  const auto range = [&](const ConstView& offsets) {
    return Range{integer_at(offsets, {n}), integer_at(offsets, {n + 1})};
  };
  PackedSequence one{range(spec_.sequences.query_offsets), range(spec_.sequences.key_offsets), spec_};
  one.spec.sequences = {};
  const auto rows_of = [&](ConstView& centre) {
    if (centre) centre = slice(centre, 2, one.queries.begin, one.queries.end);
  };
  rows_of(one.spec.bias.gaussian.centre);
  const auto narrow = [&](std::optional<Window>& window, ConstView& lengths) {
    pick(lengths, n);
    if (!window) return;
    pick(window->prefix, n);
    rows_of(window->centre);
  };
  narrow(one.spec.mask.window, one.spec.mask.lengths);
  for (KeyInterval& more : one.spec.mask.further) narrow(more.window, more.lengths);
  return one;
}

}  // namespace heed
