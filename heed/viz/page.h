// One HTML file with the attention maps of sentences, to look around in.
//
//   write_attention_page("attention.html", read_traces("trace.json"));
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "heed/observe/trace.h"

namespace heed {

// Replaces the file, whole or not at all, by a page that needs nothing else: no network (its content policy forbids
// it), no other file. It shows, for a sentence, a kind of attention, a layer and a head, or the mean of the heads, the
// heat map or lines between the tokens, with a small map of every layer and head beside it and the same in words and as
// a table below. It works by mouse, touch and keyboard, in a light and a dark scheme. Weights are kept to three
// decimals. The same traces give the same bytes. Text of any content is shown, never obeyed. The page is written piece
// by piece and never held. Throws heed::Error for no trace, a trace without a map, what validate() refuses, more than
// 20 million weights, and what cannot be written.
void write_attention_page(const std::filesystem::path& path, std::span<const AttentionTrace> traces);

// The same page as text.
std::string attention_page(std::span<const AttentionTrace> traces);

}  // namespace heed
