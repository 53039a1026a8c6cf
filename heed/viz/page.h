// One HTML file with the attention maps of sentences, to look around in.
//
//   write_file("attention.html", attention_page(read_traces("trace.json")));
#pragma once

#include <span>
#include <string>

#include "heed/observe/trace.h"

namespace heed {

// Returns a page that needs nothing else: no network (its content policy forbids it), no other file. It shows, for a
// sentence, a kind of attention, a layer and a head, or the mean of the heads, the heat map or lines between the
// tokens, with a small map of every layer and head beside it and the same in words and as a table below. It works by
// mouse, touch and keyboard, in a light and a dark scheme. Weights are kept to three decimals. The same traces give the
// same bytes. Text of any content is shown, never obeyed. Throws heed::Error for no trace, a trace without a map, what
// validate() refuses, and more than 20 million weights.
std::string attention_page(std::span<const AttentionTrace> traces);

}  // namespace heed
