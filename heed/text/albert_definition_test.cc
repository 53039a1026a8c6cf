#include "heed/text/albert_definition.h"

#include <gtest/gtest.h>

#include "heed/base/file_writer.h"
#include "heed/testing/refusal.h"
#include "heed/testing/scratch_test.h"
#include "heed/text/open_tokenizer.h"
#include "heed/text/sentencepiece_tokenizer.h"
#include "heed/text/trained_pieces_test.h"

namespace heed {
namespace {

using testing::model_of, testing::trained;

class AlbertDefinitionTest : public testing::ScratchTest {
 protected:
  PlainVocabulary model_ = trained(SentencePieceModel::unigram, "nmt_nfkc",
                                   {{"<pad>", PlainVocabulary::Type::control},
                                    {"<unk>", PlainVocabulary::Type::unknown},
                                    {"[CLS]", PlainVocabulary::Type::control},
                                    {"[SEP]", PlainVocabulary::Type::control},
                                    {"[MASK]", PlainVocabulary::Type::control}});

  std::unique_ptr<Vocabulary> open(const std::string& settings) {
    write_file(folder_ / "spiece.model", model_of(model_));
    write_file(folder_ / "tokenizer_config.json", settings);
    return open_tokenizer(folder_);
  }
};

TEST_F(AlbertDefinitionTest, LettersAreSmallAndAccentsGo) {
  const auto library = SentencePieceTokenizer::from_bytes(model_of(model_), "library");
  const auto opened = open(R"({"tokenizer_class": "AlbertTokenizer"})");
  const std::vector<std::pair<const char*, const char*>> texts = {
      {"The CÁT  sat", "the cat sat"}, {"``a'' cat\u00e9", "\"a\" cate"}, {" DER HÜND ", "der hund"}, {"", ""}};
  for (const auto& [text, plain] : texts) EXPECT_EQ(opened->encode(text), library.encode(plain)) << text;
  const auto as_it_is = open(R"({"tokenizer_class": "AlbertTokenizer", "do_lower_case": false, "keep_accents": true})");
  for (const char* text : {"The CÁT  sat", " Der Hünd "}) EXPECT_EQ(as_it_is->encode(text), library.encode(text));
}

TEST_F(AlbertDefinitionTest, TheSecondOfTwoTextsHasAnotherType) {
  const auto opened = open(R"({"tokenizer_class": "AlbertTokenizerFast"})");
  const std::vector<int> cat = opened->encode("the cat"), dog = opened->encode("the dog");
  std::vector<int> ids{2}, types(cat.size() + 2, 0);
  ids.insert(ids.end(), cat.begin(), cat.end());
  ids.push_back(3);
  EXPECT_EQ(opened->encode_special("the cat").ids, ids);
  ids.insert(ids.end(), dog.begin(), dog.end());
  ids.push_back(3);
  types.insert(types.end(), dog.size() + 1, 1);
  const EncodedText both = opened->encode_special("the cat", "the dog");
  EXPECT_EQ(both.ids, ids);
  EXPECT_EQ(both.types, types);
  std::vector<int> hidden = opened->encode("the");
  hidden.push_back(4);  // with no piece for the space before it
  EXPECT_EQ(opened->encode("the [MASK]"), hidden);
}

TEST_F(AlbertDefinitionTest, ANumberAndItsCommaAreTwoPieces) {
  const int comma = SentencePieceTokenizer::from_bytes(model_of(model_), "library").id_of(",");
  ASSERT_GT(comma, 0);
  for (const char* piece : {"7", "7,"}) {
    model_.pieces.emplace_back(piece);
    model_.scores.push_back(-1);
    model_.types.push_back(PlainVocabulary::Type::normal);
  }
  const int last = static_cast<int>(model_.pieces.size()) - 1;
  EXPECT_EQ(SentencePieceTokenizer::from_bytes(model_of(model_), "library").encode("7,").back(), last);
  const std::vector<int> ids = open(R"({"tokenizer_class": "AlbertTokenizer"})")->encode("7,");
  ASSERT_GE(ids.size(), 2U);
  EXPECT_EQ(ids[ids.size() - 2], last - 1);
  EXPECT_EQ(ids.back(), comma);
}

TEST_F(AlbertDefinitionTest, AModelWithoutItsSymbolsIsRefused) {
  model_.pieces[2] = "[X]";
  EXPECT_NE(testing::refusal([&] {
              open(R"({"tokenizer_class": "AlbertTokenizer"})");
            }).find("of an AlbertTokenizer, there must be a piece '[CLS]'"),
            std::string::npos);
}

}  // namespace
}  // namespace heed
