// The parts of the table of words, one for each kind of walk.
#pragma once

#include <span>

#include "heed/tasks/explain/words.h"

namespace heed::words {

std::span<const WordsEntry> labels();
std::span<const WordsEntry> attention();
std::span<const WordsEntry> projected_rows();
std::span<const WordsEntry> choices();
std::span<const WordsEntry> thinking_machines();
std::span<const WordsEntry> recurrent();
std::span<const WordsEntry> positions();
std::span<const WordsEntry> masks();
std::span<const WordsEntry> grouped_queries();
std::span<const WordsEntry> flash_attention();
std::span<const WordsEntry> windows();

}  // namespace heed::words
