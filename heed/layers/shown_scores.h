// What an attention layer shows of its scores to an observer that wants them.
//
//   show_scores(context.observer, {path_, kind_}, q, k, spec);
#pragma once

#include "heed/observe/observer.h"
#include "heed/ops/attention/spec/spec.h"

namespace heed {

// Calls observer->on_scores of q f32 [B, H, Lq, D] and k f32 [B, KV heads, Lk, D] under the spec, with all that is
// added to its scores. Does nothing without an observer, for one that does not want the site, and where the scores are
// no products, as those of additive attention and those behind a cap, or are not f32.
void show_scores(AttentionObserver* observer, const AttentionSite& site, const ConstView& q, const ConstView& k,
                 const AttentionSpec& spec);

}  // namespace heed
