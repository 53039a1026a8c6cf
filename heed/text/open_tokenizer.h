// The tokenizer of a folder that somebody else's toolkit wrote, whatever files it is in.
//
//   std::unique_ptr<Vocabulary> vocabulary = open_tokenizer("Llama-3-8B");
//   std::vector<int> ids = vocabulary->encode_special("Hello.").ids;
#pragma once

#include <filesystem>
#include <memory>

#include "heed/text/vocabulary.h"

namespace heed {

// Of a translation model's folder that has a tokenizer for each language: which of them.
enum class TokenizerSide { source, target };

// Reads the first of these that the folder has:
//   tokenizer.json                                      Tokenizer
//   tokenizer_config.json of a ByT5Tokenizer            Tokenizer: bytes, which are in no file
//   source.spm and target.spm with vocab.json           SentencePieceWords: Marian's; target_vocab.json, where it is
//                                                       there, has the ids of the language that is written
//   tokenizer.model, spiece.model, spm.model,
//   sentencepiece.model, sentencepiece.bpe.model        SentencePieceTokenizer; Tokenizer where more tokens were added,
//                                                       as T5's class does (heed/text/extra_tokens.h), and of the
//                                                       classes that give the pieces other ids
//                                                       (heed/text/renumbered_pieces.h)
//   vocab.json with merges.txt                          Tokenizer: GPT-2's, or RoBERTa's or CLIP's where the folder
//                                                       says so
//   vocab.txt                                           Tokenizer: BERT's
//   any other .model, where it is the only one          SentencePieceTokenizer
// tokenizer_config.json and special_tokens_map.json beside them say which symbols there are and what goes around a
// text, where they are there; they and added_tokens.json, which tokens were added to lists of pieces. Throws
// heed::Error that names the file and the place: where the folder has none of them, or one that is not sound.
std::unique_ptr<Vocabulary> open_tokenizer(const std::filesystem::path& folder,
                                           TokenizerSide side = TokenizerSide::source);

// Whether the folder has such files.
bool has_tokenizer(const std::filesystem::path& folder);

}  // namespace heed
