// A Llama whose weights are in blocks answers as the same Llama in f32, and keeps them in the file's memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "heed/base/file.h"
#include "heed/base/file_writer.h"
#include "heed/pretrained/pretrained_model.h"
#include "heed/testing/file_bytes.h"
#include "heed/testing/random_blocks.h"

namespace heed {
namespace {

using testing::bytes_of;
using testing::GgufBytes;
using testing::random_blocks;

constexpr Index kWidth = 256, kVocabulary = 9;
constexpr std::uint32_t kF32 = 0, kFloat = 6;  // GGUF's numbers of a type and of a kind of values

// ggml's number of a type of blocks.
std::uint32_t number_of(BlockType type) {
  constexpr std::uint32_t kNumbers[] = {0, 2, 3, 6, 7, 8, 12, 13, 14, 10, 11, 20, 23};
  return kNumbers[static_cast<int>(type)];
}

// One file with the weights in blocks, and one with the same in f32.
struct Files {
  GgufBytes blocks, wide;

  Files() {
    for (GgufBytes* const file : {&blocks, &wide}) {
      file->text("general.architecture", "llama")
          .integer("llama.block_count", 2)
          .integer("llama.embedding_length", kWidth)
          .integer("llama.feed_forward_length", kWidth)
          .integer("llama.attention.head_count", 4)
          .integer("llama.attention.head_count_kv", 2)
          .integer("llama.context_length", 32)
          .value("llama.attention.layer_norm_rms_epsilon", kFloat, bytes_of(1e-5f))
          .texts("tokenizer.ggml.tokens", std::vector<std::string>(kVocabulary, "x"));
      for (const char* norm :
           {"output_norm", "blk.0.attn_norm", "blk.0.ffn_norm", "blk.1.attn_norm", "blk.1.ffn_norm"}) {
        file->tensor(std::string(norm) + ".weight", kF32, {kWidth}, bytes_of(std::vector<float>(kWidth, 1)));
      }
    }
    add("token_embd", BlockType::q6_k, kVocabulary);
    add("output", BlockType::q8_0, kVocabulary);
    add("blk.0.attn_q", BlockType::q4_k, kWidth);
    add("blk.0.attn_k", BlockType::q4_0, kWidth / 2);
    add("blk.0.attn_v", BlockType::q6_k, kWidth / 2);
    add("blk.0.attn_output", BlockType::q5_k, kWidth);
    add("blk.0.ffn_gate", BlockType::q4_1, kWidth);
    add("blk.0.ffn_up", BlockType::q5_0, kWidth);
    add("blk.0.ffn_down", BlockType::q5_1, kWidth);
    add("blk.1.attn_q", BlockType::q2_k, kWidth);
    add("blk.1.attn_k", BlockType::q2_k, kWidth / 2);
    add("blk.1.attn_v", BlockType::q3_k, kWidth / 2);
    add("blk.1.attn_output", BlockType::q3_k, kWidth);
    add("blk.1.ffn_gate", BlockType::iq4_nl, kWidth);
    add("blk.1.ffn_up", BlockType::iq4_xs, kWidth);
    add("blk.1.ffn_down", BlockType::iq4_xs, kWidth);
  }

  void add(const std::string& name, BlockType type, Index rows) {
    const Tensor bytes = random_blocks(type, rows, kWidth, static_cast<std::uint64_t>(name.size()));
    std::vector<float> numbers(static_cast<std::size_t>(rows * kWidth));
    widen_blocks(type, bytes.data<unsigned char>(), rows * kWidth / layout_of(type).numbers, numbers.data());
    blocks.tensor(name + ".weight", number_of(type), {rows, kWidth},
                  std::string(bytes.data<char>(), static_cast<std::size_t>(bytes.size())));
    wide.tensor(name + ".weight", kF32, {rows, kWidth}, bytes_of(numbers));
  }
};

// The logits of a prompt at once, and of its last token after a session that has read the others.
std::vector<Tensor> logits_of(const Transformer& model) {
  Workspace workspace;
  const Context context = Context::inference(workspace);
  const std::vector<std::int32_t> ids{1, 5, 3, 8, 0, 2, 7, 7, 4, 6};
  const Index count = std::ssize(ids);
  const Tensor whole = model.logits(context, {.input = Tensor::from(ids, {1, count})}).value();
  const std::unique_ptr<DecoderState> state = model.start(Precision::f32);
  const Tensor prompt = Tensor::from(std::vector<std::int32_t>(ids.begin(), ids.end() - 1), {1, count - 1});
  model.admit(context, *state,
              {prompt, Tensor::from(std::vector<std::int32_t>{static_cast<std::int32_t>(count) - 1}, {1})});
  return {whole, model.step(context, *state, std::vector<std::int32_t>{ids.back()})};
}

TEST(GgufBlocks, AModelAnswersAsItsNumbersInF32) {
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "heed_gguf_blocks_test";
  make_folder(folder);
  const Files files;
  write_file(folder / "blocks.gguf", files.blocks.bytes());
  write_file(folder / "wide.gguf", files.wide.bytes());
  const PretrainedModel blocks = open_pretrained(folder / "blocks.gguf"), wide = open_pretrained(folder / "wide.gguf");
  int weights = 0;
  for (const auto& [name, var] : blocks.parameters) weights += var.blocks() != BlockType::none ? 1 : 0;
  EXPECT_EQ(weights, 16);
  const std::vector<Tensor> got = logits_of(*blocks.model), expected = logits_of(*wide.model);
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_TRUE(std::isfinite(expected[i].data<float>()[0]));
    // Both round as f32 does: by a part of what is added up, not of what comes of it.
    const auto largest =
        std::ranges::max(std::span(expected[i].data<float>(), static_cast<std::size_t>(expected[i].size())), {},
                         [](float x) { return std::abs(x); });
    for (Index n = 0; n < expected[i].size(); ++n) {
      ASSERT_NEAR(got[i].data<float>()[n], expected[i].data<float>()[n], 1e-5 * std::abs(largest)) << i << " " << n;
    }
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace heed
