// A call over packed sequences of variable length as one call for each.
#pragma once

#include "heed/ops/attention/spec/spec.h"

namespace heed {

// The parts of a call that belong to one sequence.
struct PackedSequence {
  Range queries, keys;
  AttentionSpec spec;  // without the offsets
};

class PackedSequences {
 public:
  // Throws heed::Error, naming `caller`, where the offsets do not fit q [1, H, total, D] and k [1, Hk, total, D].
  PackedSequences(const char* caller, const ConstView& q, const ConstView& k, const AttentionSpec& spec);
  Index count() const;
  PackedSequence sequence(Index n) const;

 private:
  AttentionSpec spec_;
};

}  // namespace heed
