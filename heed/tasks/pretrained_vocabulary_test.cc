#include "heed/tasks/pretrained_vocabulary.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "heed/base/file_writer.h"
#include "heed/testing/file_bytes.h"
#include "heed/testing/refusal.h"

namespace heed {
namespace {

using Ids = std::vector<int>;

// The tokenizer of a file of weights that holds no more.
Vocabularies opened(const testing::GgufBytes& file) {
  const std::filesystem::path path = std::filesystem::path(::testing::TempDir()) / "heed_pretrained_vocabulary.gguf";
  write_file(path, file.bytes());
  return open_vocabularies(path);
}

testing::GgufBytes file_of(const std::string& model, const std::vector<std::string>& pieces) {
  testing::GgufBytes file;
  file.text("tokenizer.ggml.model", model).texts("tokenizer.ggml.tokens", pieces);
  return file;
}

TEST(PretrainedVocabulary, ATextOfBpeBeginsAsLlamaCppWouldHaveItBegin) {
  const auto ids = [](const std::string& cut) {
    testing::GgufBytes file = file_of("gpt2", {"<begin>", "a", "b", "ab"});
    file.texts("tokenizer.ggml.merges", {"a b"}).text("tokenizer.ggml.pre", cut);
    return opened(file.integer("tokenizer.ggml.bos_token_id", 0)).source->encode_special("a").ids;
  };
  for (const char* cut : {"llama-bpe", "tekken", "lfm2", "jina-v5-nano"}) EXPECT_EQ(ids(cut), (Ids{0, 1})) << cut;
  for (const char* cut : {"qwen2", "gpt-2", "dbrx"}) EXPECT_EQ(ids(cut), Ids{1}) << cut;
}

TEST(PretrainedVocabulary, PiecesWithoutScoresAreMergedFromTheLeft) {
  const auto vocabulary = opened(file_of("llama", {"<unk>", "<s>", "</s>", "a", "b", "ab", "ba", "\u2581"})).source;
  EXPECT_EQ(vocabulary->encode_special("bab").ids, (Ids{1, 7, 6, 4}));
}

TEST(PretrainedVocabulary, PiecesWithoutATextHaveNamesAndTheOthersAreApart) {
  testing::GgufBytes file = file_of("gpt2", {"a", "", "b", ""});
  EXPECT_EQ(opened(file.texts("tokenizer.ggml.merges", {})).source->piece(3), "[EMPTY_3]");
  testing::GgufBytes twice = file_of("gpt2", {"a", "b", "a"});
  const std::string refusal = testing::refusal([&] { opened(twice.texts("tokenizer.ggml.merges", {})); });
  EXPECT_TRUE(refusal.ends_with("heed_pretrained_vocabulary.gguf: the pieces 0 and 2 are both 'a'")) << refusal;
}

}  // namespace
}  // namespace heed
