// One alignment from two: that of a model from source to target, and that of one from target to source.
//
//   symmetrise(forward, transpose(backward), Symmetrisation::grow_diag_final_and);
#pragma once

#include <span>
#include <string_view>
#include <utility>

#include "heed/metrics/alignment.h"

namespace heed {

enum class Symmetrisation { intersection, unite, grow_diag, grow_diag_final, grow_diag_final_and };
inline constexpr std::pair<std::string_view, Symmetrisation> kSymmetrisationNames[] = {
    {"intersection", Symmetrisation::intersection},
    {"union", Symmetrisation::unite},
    {"grow-diag", Symmetrisation::grow_diag},
    {"grow-diag-final", Symmetrisation::grow_diag_final},
    {"grow-diag-final-and", Symmetrisation::grow_diag_final_and}};
inline std::span<const std::pair<std::string_view, Symmetrisation>> enum_names(Symmetrisation) {
  return kSymmetrisationNames;
}

// Each link the other way round, in order.
AlignmentLinks transpose(const AlignmentLinks& links);

// The links of both, or of either. What grows begins with the intersection (Koehn, Och, Marcu 2003, "Statistical
// phrase-based translation", section 3.2): again and again, for each link in the order of (source, target), each of its
// eight neighbours that is in the union and has a word without a link is added, until none is. `final` then adds each
// link of `forward`, then of `backward`, that has a word without a link; `final-and` only those of which both words
// have none. Both alignments count source words first; neither needs to be sorted, the result is.
AlignmentLinks symmetrise(const AlignmentLinks& forward, const AlignmentLinks& backward, Symmetrisation how);

}  // namespace heed
