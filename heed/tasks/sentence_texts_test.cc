#include "heed/tasks/sentence_texts.h"

#include <gtest/gtest.h>

#include <string>

#include "heed/base/file.h"
#include "heed/base/file_writer.h"
#include "heed/testing/refusal.h"
#include "heed/testing/scratch_test.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

class SentenceTextsTest : public testing::ScratchTest {
 protected:
  std::string refusal() {
    return testing::refusal([&] { read_sentence_texts(folder_); });
  }
};

TEST_F(SentenceTextsTest, AreReadAsTheyAreWhereAFolderSaysNothing) {
  for (const fs::path& model : {folder_, fs::path(), folder_ / "model.gguf"}) {
    const SentenceTexts texts = read_sentence_texts(model);
    EXPECT_FALSE(texts.most_tokens);
    EXPECT_EQ(texts.as_read("A Dog", "", "line 1"), "A Dog");
    EXPECT_EQ(testing::refusal([&] { texts.as_read("A Dog", "query", "line 1"); }),
              "the model's folder has no prompt \"query\", but none");
  }
}

TEST_F(SentenceTextsTest, HaveALengthACaseAndPrompts) {
  write_file(folder_ / "sentence_roberta_config.json", R"({"max_seq_length": 128, "do_lower_case": true})");
  write_file(folder_ / "config_sentence_transformers.json",
             R"({"prompts": {"query": "Query: ", "document": ""}, "default_prompt_name": "query"})");
  make_folder(folder_ / "kept");
  copy_sentence_texts(folder_, folder_ / "kept");
  for (const fs::path& model : {folder_, folder_ / "kept"}) {
    const SentenceTexts texts = read_sentence_texts(model);
    EXPECT_EQ(texts.most_tokens, 128);
    EXPECT_EQ(texts.as_read("GROẞE Hunde", "", "line 1"), "query: große hunde");
    EXPECT_EQ(texts.as_read("GROẞE Hunde", "document", "line 1"), "große hunde");
    EXPECT_EQ(testing::refusal([&] { texts.as_read("x", "passage", "line 1"); }),
              "the model's folder has no prompt \"passage\", but document, query");
    EXPECT_NE(testing::refusal([&] { texts.as_read("\xff", "", "line 7"); }).find("line 7"), std::string::npos);
  }
  write_file(folder_ / "sentence_roberta_config.json", R"({"max_seq_length": null})");
  EXPECT_FALSE(read_sentence_texts(folder_).most_tokens);
}

TEST_F(SentenceTextsTest, AreAsLongAsTheTokenizersWhereNothingElseIsSaid) {
  const auto most = [&](const std::string& tokenizer) {
    write_file(folder_ / "tokenizer_config.json", R"({"model_max_length": )" + tokenizer + "}");
    return read_sentence_texts(folder_).most_tokens;
  };
  EXPECT_FALSE(most("128"));  // of a model that is not sentence-transformers'
  write_file(folder_ / "modules.json", R"([{"type": "x.Transformer", "path": ""}])");
  EXPECT_EQ(most("128"), 128);
  make_folder(folder_ / "kept");
  copy_sentence_texts(folder_, folder_ / "kept");
  EXPECT_EQ(read_sentence_texts(folder_ / "kept").most_tokens, 128);
  EXPECT_FALSE(most("1000000000000000019884624838656"));
  EXPECT_FALSE(most("null"));
  write_file(folder_ / "sentence_bert_config.json", R"({"max_seq_length": null})");
  EXPECT_EQ(most("512"), 512);
  write_file(folder_ / "sentence_bert_config.json", R"({"max_seq_length": 1024})");
  EXPECT_EQ(most("512"), 1024);
}

TEST_F(SentenceTextsTest, LieBesideTheWeights) {
  write_file(folder_ / "modules.json", R"([{"type": "x.BERT", "path": "0_BERT"}])");
  make_folder(folder_ / "0_BERT");
  write_file(folder_ / "0_BERT" / "sentence_bert_config.json", R"({"max_seq_length": 64})");
  EXPECT_EQ(read_sentence_texts(folder_).most_tokens, 64);
}

TEST_F(SentenceTextsTest, WhatMakesNoSenseIsRefused) {
  write_file(folder_ / "sentence_bert_config.json", R"({"max_seq_length": 0})");
  EXPECT_NE(refusal().find("sentence_bert_config.json: max_seq_length"), std::string::npos) << refusal();
  write_file(folder_ / "sentence_bert_config.json", "{}");
  write_file(folder_ / "config_sentence_transformers.json", R"({"prompts": {"a": ""}, "default_prompt_name": "b"})");
  EXPECT_NE(refusal().find("default_prompt_name: must be one of prompts"), std::string::npos) << refusal();
  write_file(folder_ / "config_sentence_transformers.json", R"({"prompts": ["a"]})");
  EXPECT_NE(refusal().find("config_sentence_transformers.json: prompts"), std::string::npos) << refusal();
}

}  // namespace
}  // namespace heed
