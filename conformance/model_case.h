// What a case of a model (docs/conformance.md) reads, and how it states what comes of it.
//
//   const Tokens tokens = without_padding(item);
//   const Array rows = rows_at(hidden, item, "positions", stated, tokens.before);
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "array.h"
#include "heed/io/json.h"
#include "heed/models/next_token.h"
#include "heed/models/signal_options.h"

namespace heed::conformance {

// A case's tokens without the padding before and behind them.
struct Tokens {
  std::vector<std::int32_t> ids;
  Index before = 0;
};

// Throws heed::Error for padding between tokens.
Tokens without_padding(const Json& item);

TokenBatch batch_of(const std::vector<std::int32_t>& ids);

// What an encoder reads: a sequence with its padding, or a picture or sound, as an array or as a file of the folder.
// Throws Skip for padding before a sequence.
TokenBatch source_of(const Json& item, const std::filesystem::path& folder, const SignalOptions& signal);

// A sequence's rows [1, L, W] at the positions that the case has under `key`, else all, [positions, W]. Row 0 is
// position `first`.
Tensor chosen_rows(const Tensor& rows, const Json& item, std::string_view key, Index first = 0);
// The same as an array, [1, positions, W] where the case has it so.
Array rows_at(const Tensor& rows, const Json& item, std::string_view key, const Array& like, Index first = 0);

// A sequence's numbers [1, W], as [W] where the case has it.
Array of_sequence(const Tensor& numbers, const Array& like);

// Column 0 or 1 of [1, L, 2] at the positions, as [1, positions].
Tensor one_of_two(const Tensor& logits, bool second, const Json& item, std::string_view key);

// The name that is used here of an output that Hugging Face and others call otherwise.
std::string output_named(const std::string& name);

}  // namespace heed::conformance
