// One HTML file with the attention of sentences, to look around in.
//
//   write_attention_page("attention.html", read_traces("trace.json"), {.language = "zh"});
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "heed/observe/trace.h"

namespace heed {

struct PageOptions {
  std::string language = "en";  // that it opens in, "en" or "zh"; a reader may switch
  std::string opens{};          // what it shows at first, as its address has it: "view=walk&walk.example=luong"
  bool fragment = false;        // a piece to put into a page of one's own, with others, instead of a page
};

// Replaces the file, whole or not at all, by a page that needs nothing else: no network (its content policy forbids
// it, and lets its own script run alone), no other file. It has a view for each way to look (page/views): heads over a
// word, the matrix, all layers and heads, and more where the traces have what they need. It works by mouse, touch and
// keyboard, in a light and a dark scheme. Weights are kept to 1/65535 of a map's range. The same traces give the same
// bytes. Text of any content is shown, never obeyed. The page is written piece by piece and never held.
//
// A fragment keeps its styles and its state to itself, so that several may stand in one document.
//
// Throws heed::Error for no trace, a trace without a map, what validate() refuses, an unknown language, more than 50
// million weights and other numbers, and what cannot be written.
void write_attention_page(const std::filesystem::path& path, std::span<const AttentionTrace> traces,
                          const PageOptions& options = {});

// The same page as text.
std::string attention_page(std::span<const AttentionTrace> traces, const PageOptions& options = {});

// The same page without any trace, for those who learn: what it has are the views that need none, the worked examples
// of attention, step by step, and the sinusoids. Throws heed::Error for an unknown language and what cannot be written.
void write_teaching_page(const std::filesystem::path& path, const PageOptions& options = {});

}  // namespace heed
