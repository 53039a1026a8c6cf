// What a folder of CTranslate2 says of its pieces, and of the tokens around sources and before what is written.
//
//   const Ctranslate2Tokens tokens = read_ctranslate2_tokens(folder, open_checkpoint(folder / "model.bin"));
//   const auto pieces = ctranslate2_pieces(folder, "target", tokens.unknown);
//   ctranslate2_id(pieces, tokens.end, tokens.unknown);
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heed/io/checkpoint.h"

namespace heed {

struct Ctranslate2Tokens {
  std::string unknown = "<unk>", begin = "<s>", end = "</s>";
  std::optional<std::string> start = begin;  // of the decoder; none: each user says what a text begins with
  bool begins_source = false, ends_source = false;
};

// Of variables of the model, or, from version 6 on, of config.json. Throws heed::Error that names the place for what is
// none.
Ctranslate2Tokens read_ctranslate2_tokens(const std::filesystem::path& folder, const Checkpoint& file);

// The pieces of the folder's vocabulary of this side, "source" or "target" (or of shared_vocabulary, which both have),
// with the unknown one behind the others where the file leaves it out. Throws heed::Error where the folder has neither
// as .json nor as .txt.
std::vector<std::string> ctranslate2_pieces(const std::filesystem::path& folder, std::string_view side,
                                            const std::string& unknown);

// The piece's place among them, or that of the unknown piece.
std::int32_t ctranslate2_id(const std::vector<std::string>& pieces, const std::string& piece,
                            const std::string& unknown);

}  // namespace heed
