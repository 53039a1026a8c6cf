#include "heed/pretrained/gguf_tokens.h"

#include <gtest/gtest.h>

namespace heed {
namespace {

using Ids = std::vector<std::int32_t>;

Json metadata(const std::vector<std::string>& pieces, std::vector<Json::Member> more = {}) {
  Json all = Json::object({{"tokenizer.ggml.tokens", Json::array_of(pieces)}});
  for (const auto& [name, value] : more) all.set("tokenizer.ggml." + name, value);
  return all;
}

TEST(GgufTokens, PiecesWithoutATextHaveNames) {
  EXPECT_EQ(gguf_pieces(metadata({"a", "", "b", ""})), (std::vector<std::string>{"a", "[EMPTY_1]", "b", "[EMPTY_3]"}));
}

TEST(GgufTokens, WhatAFileLeavesOutIsLlamaCpps) {
  const std::vector<std::string> pieces(12, "x");
  const Json llama = metadata(pieces, {{"model", "llama"}}), bpe = metadata(pieces, {{"model", "gpt2"}});
  EXPECT_EQ(gguf_token_id(llama, "unknown_token_id"), 0);
  EXPECT_EQ(gguf_token_id(llama, "bos_token_id"), 1);
  EXPECT_EQ(gguf_token_id(llama, "eos_token_id"), 2);
  EXPECT_EQ(gguf_token_id(llama, "padding_token_id"), -1);
  EXPECT_EQ(gguf_begin(llama), 1);
  EXPECT_EQ(gguf_ends(llama), Ids{2});
  EXPECT_EQ(gguf_token_id(bpe, "unknown_token_id"), -1);
  EXPECT_EQ(gguf_token_id(bpe, "bos_token_id"), 11);
  EXPECT_EQ(gguf_begin(bpe), -1) << "which is put before no text that does not ask for it";
  EXPECT_EQ(gguf_ends(bpe), Ids{11});
  EXPECT_EQ(gguf_begin(metadata(pieces, {{"model", "gpt2"}, {"bos_token_id", 3}})), 3);
  EXPECT_EQ(gguf_token_id(metadata(pieces, {{"model", "llama"}, {"bos_token_id", 12}}), "bos_token_id"), 1)
      << "no piece is the file's";
  EXPECT_EQ(gguf_token_id(metadata({"a"}, {{"model", "llama"}}), "eos_token_id"), -1) << "nor is the default";
}

TEST(GgufTokens, ATextEndsWithKeysAndWithPiecesThatAreKnownByTheirTexts) {
  EXPECT_EQ(gguf_ends(metadata({"a", "</s>", "<|im_end|>", "<|eom_id|>", "b"},
                               {{"eos_token_id", 1}, {"eot_token_id", 4}, {"eom_token_id", 0}})),
            (Ids{1, 4, 0, 2, 3}));
  EXPECT_EQ(gguf_ends(metadata({"a", "<|endoftext|>", "<|file_sep|>", "<|fim_pad|>"}, {{"eos_token_id", 1}})),
            (Ids{1, 3, 2}));
  EXPECT_EQ(gguf_ends(metadata({"<｜end▁of▁sentence｜>", "a"})), Ids{0});
  EXPECT_EQ(gguf_ends(metadata({"<｜end▁of▁sentence｜>", "a"}, {{"eot_token_id", 1}})), Ids{1});
  EXPECT_EQ(gguf_ends(metadata({"<|end|>", "<|return|>", "<|call|>"})), (Ids{1, 2}));
}

}  // namespace
}  // namespace heed
