// What a call may write: nothing that it reads, and nothing twice.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "heed/ops/attention/spec.h"
#include "heed/tensor/view.h"

namespace heed {

using NamedView = std::pair<std::string, ConstView>;  // an empty view is not there

// Every view that a call reads: q, k, v and those in its spec.
std::vector<NamedView> views_read(const ConstView& q, const ConstView& k, const ConstView& v,
                                  const AttentionSpec& spec);

// Throws heed::Error, naming `caller` and both views, where a written view overlaps a read one or another written one,
// or has a stride of 0.
void check_written(const char* caller, const std::vector<NamedView>& written, const std::vector<NamedView>& read);

}  // namespace heed
