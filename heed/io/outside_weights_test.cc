// The readers of weights against files that others wrote: one Llama in three formats, and a translator in two.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <string>

#include "heed/io/llama2c.h"
#include "heed/io/npy.h"
#include "heed/io/open_checkpoint.h"
#include "heed/testing/data_folder.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

struct Stories260k {
  static constexpr Index layers = 5, heads = 8, key_heads = 4, head_width = 8;
};

bool same_bits(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && same_shape(a.view(), b.view()) &&
         std::memcmp(a.data<char>(), b.data<char>(), static_cast<std::size_t>(a.size() * size_of(a.dtype()))) == 0;
}

// The rows of each head in the order of neighbouring pairs, of rows in the order of halves, as Hugging Face keeps those
// that rotary positions turn: row 2 i of a head is its row i there, row 2 i + 1 its row i + half.
Tensor neighbouring_pairs(const Tensor& halves, Index heads) {
  std::vector<Index> rows;
  for (Index head = 0; head < heads; ++head) {
    for (Index i = 0; i < Stories260k::head_width; ++i)
      rows.push_back(head * Stories260k::head_width + i % 2 * (Stories260k::head_width / 2) + i / 2);
  }
  return halves.gather_rows(rows);
}

struct Names {
  std::string hugging_face, gguf, llama2c;
  Index rotary_heads = 0;  // 0: rotary positions do not turn it
};

std::vector<Names> names() {
  std::vector<Names> all{{"model.embed_tokens.weight", "token_embd.weight", "tok_embeddings.weight"},
                         {"model.norm.weight", "output_norm.weight", "norm.weight"}};
  for (Index i = 0; i < Stories260k::layers; ++i) {
    const std::string n = std::to_string(i), theirs = "model.layers." + n + ".", gguf = "blk." + n + ".",
                      llama2c = "layers." + n + ".";
    const auto add = [&](const char* a, const char* b, const char* c, Index heads = 0) {
      all.push_back({theirs + a + ".weight", gguf + b + ".weight", llama2c + c + ".weight", heads});
    };
    add("input_layernorm", "attn_norm", "attention_norm");
    add("post_attention_layernorm", "ffn_norm", "ffn_norm");
    add("self_attn.q_proj", "attn_q", "attention.wq", Stories260k::heads);
    add("self_attn.k_proj", "attn_k", "attention.wk", Stories260k::key_heads);
    add("self_attn.v_proj", "attn_v", "attention.wv");
    add("self_attn.o_proj", "attn_output", "attention.wo");
    add("mlp.gate_proj", "ffn_gate", "feed_forward.w1");
    add("mlp.down_proj", "ffn_down", "feed_forward.w2");
    add("mlp.up_proj", "ffn_up", "feed_forward.w3");
  }
  return all;
}

TEST(OutsideWeights, ALlamaIsTheSameInThreeFormats) {
  HEED_DATA_OR_SKIP(models, "models");
  const Checkpoint safetensors = open_checkpoint(models / "llama-stories260k-hf" / "model.safetensors"),
                   gguf = open_checkpoint(models / "llama-stories260k-hf" / "stories260K.gguf"),
                   llama2c = open_checkpoint(models / "stories260K");
  ASSERT_EQ(safetensors.format(), CheckpointFormat::safetensors);
  ASSERT_EQ(gguf.format(), CheckpointFormat::gguf);
  ASSERT_EQ(llama2c.format(), CheckpointFormat::llama2c);
  ASSERT_EQ(names().size(), llama2c.tensors().size());
  EXPECT_EQ(safetensors.tensors().size(), llama2c.tensors().size());
  for (const Names& name : names()) {
    const Tensor halves = safetensors.tensor(name.hugging_face);
    const Tensor expected = name.rotary_heads > 0 ? neighbouring_pairs(halves, name.rotary_heads) : halves;
    EXPECT_TRUE(same_bits(gguf.tensor(name.gguf), expected)) << name.gguf;
    EXPECT_TRUE(same_bits(llama2c.tensor(name.llama2c), expected)) << name.llama2c;
  }
}

TEST(OutsideWeights, AGgufsMetadataIsThatOfTheModel) {
  HEED_DATA_OR_SKIP(models, "models");
  const Json values = open_checkpoint(models / "llama-stories260k-hf" / "stories260K.gguf").metadata();
  EXPECT_EQ(values["general.architecture"].string(), "llama");
  EXPECT_EQ(values["llama.block_count"].integer(), Stories260k::layers);
  EXPECT_EQ(values["llama.attention.head_count"].integer(), Stories260k::heads);
  EXPECT_EQ(values["llama.attention.head_count_kv"].integer(), Stories260k::key_heads);
  EXPECT_EQ(static_cast<float>(values["llama.attention.layer_norm_rms_epsilon"].number()), 1e-5f);
}

TEST(OutsideWeights, AVocabularyIsTheSameInTwoFormats) {
  HEED_DATA_OR_SKIP(models, "models");
  const Json gguf = open_checkpoint(models / "llama-stories260k-hf" / "stories260K.gguf").metadata();
  const Llama2cVocabulary llama2c = read_llama2c_vocabulary(models / "stories260K" / "tok512.bin");
  std::vector<std::string> pieces = gguf["tokenizer.ggml.tokens"].string_list();
  ASSERT_EQ(pieces.size(), 512u);
  ASSERT_EQ(llama2c.pieces.size(), 512u);
  EXPECT_EQ(gguf["tokenizer.ggml.scores"].float_list(), llama2c.scores);
  // llama2.c writes a space for SentencePiece's mark of one, and lines of their own for the two tokens of a text's
  // ends.
  for (std::string& piece : pieces) {
    for (auto at = piece.find("\xE2\x96\x81"); at != std::string::npos; at = piece.find("\xE2\x96\x81")) {
      piece.replace(at, 3, " ");
    }
  }
  pieces[1] = "\n<s>\n";
  pieces[2] = "\n</s>\n";
  EXPECT_EQ(pieces, llama2c.pieces);
}

TEST(OutsideWeights, ACtranslate2ModelIsItsArrays) {
  HEED_DATA_OR_SKIP(models, "models");
  const fs::path folder = models / "aren-transliteration";
  const Checkpoint file = open_checkpoint(folder);
  ASSERT_EQ(file.format(), CheckpointFormat::ctranslate2);
  EXPECT_EQ(file.metadata()["binary_version"].integer(), 2);
  EXPECT_EQ(file.metadata()["spec"].string(), "TransformerBase");
  int compared = 0;
  for (const auto& entry : fs::directory_iterator(folder / "tensors")) {
    std::string name = entry.path().stem().string();
    for (auto at = name.find("__"); at != std::string::npos; at = name.find("__")) name.replace(at, 2, "/");
    EXPECT_TRUE(same_bits(file.tensor(name), read_npy(entry.path()))) << name;
    ++compared;
  }
  EXPECT_GE(compared, 150);
}

TEST(OutsideWeights, EveryModelOpens) {
  HEED_DATA_OR_SKIP(models, "models");
  int opened = 0;
  for (const auto& entry : fs::directory_iterator(models)) {
    if (!entry.is_directory()) continue;
    const Checkpoint file = open_checkpoint(entry.path());
    for (const auto& item : file.tensors()) {
      EXPECT_FALSE(file.tensor(item.first).is_empty()) << file.name() << ": " << item.first;
    }
    ++opened;
  }
  EXPECT_GE(opened, 8);
}

}  // namespace
}  // namespace heed
