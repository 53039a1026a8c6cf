#include "heed/ops/attention/problem/packed_sequences.h"

#include "heed/base/check.h"
#include "heed/ops/attention/spec/visit_spec.h"
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

}  // namespace

PackedSequences::PackedSequences(const char* caller, const ConstView& q, const ConstView& k, const AttentionSpec& spec)
    : spec_(spec) {
  const Sequences& sequences = spec.sequences;
  HEED_CHECK(!sequences.pages, "{}: packed sequences cannot be paged", caller);
  check_offsets(caller, "query", sequences.query_offsets.view(), q);
  check_offsets(caller, "key", sequences.key_offsets.view(), k);
  HEED_CHECK(sequences.query_offsets.dim(0) == sequences.key_offsets.dim(0),
             "{}: query and key offsets must be of the same sequences, but are {} and {}", caller,
             describe(sequences.query_offsets.view()), describe(sequences.key_offsets.view()));
  visit_views(spec, [&](const char* name, const Tensor& tensor, PackedAxis packed) {
    const ConstView& view = tensor.view();
    if (packed == PackedAxis::sequence && view) check_integers(caller, name, view, count());
    if (packed != PackedAxis::query && packed != PackedAxis::key) return;
    const Index total = packed == PackedAxis::query ? q.shape[2] : k.shape[2];
    HEED_CHECK(!view || (view.rank == 3 && view.shape[0] == 1 && view.shape[2] == total),
               "{}: {} of packed sequences must be [1, H | 1, {}], but is {}", caller, name, total, describe(view));
  });
}

Index PackedSequences::count() const { return spec_.sequences.query_offsets.dim(0) - 1; }

PackedSequence PackedSequences::sequence(Index n) const {
  const auto range = [&](const Tensor& tensor) {
    const ConstView& offsets = tensor.view();
    return Range{integer_at(offsets, {n}), integer_at(offsets, {n + 1})};
  };
  PackedSequence one{range(spec_.sequences.query_offsets), range(spec_.sequences.key_offsets), spec_};
  one.spec.sequences = {};
  visit_views(one.spec, [&](const char*, Tensor& tensor, PackedAxis packed) {
    if (!tensor) return;
    if (packed == PackedAxis::sequence) tensor = tensor.rows(n, n + 1);
    if (packed == PackedAxis::query || packed == PackedAxis::key) {
      const Range rows = packed == PackedAxis::query ? one.queries : one.keys;
      tensor = tensor.through(slice(tensor.view(), 2, rows.begin, rows.end));
    }
  });
  return one;
}

}  // namespace heed
