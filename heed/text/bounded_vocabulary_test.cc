#include "heed/text/bounded_vocabulary.h"

#include <gtest/gtest.h>

#include "heed/testing/refusal.h"
#include "heed/text/language_tokens.h"
#include "heed/text/tokenizer/tokenizer.h"

namespace heed {
namespace {

using testing::refusal;

// Six pieces and three added tokens, with a template that begins with a language.
std::shared_ptr<const Vocabulary> nine_pieces() {
  return std::make_shared<Tokenizer>(Tokenizer::from_json(R"({
    "added_tokens": [{"id": 6, "content": "fr_XX", "special": true}, {"id": 7, "content": "<pad>", "special": true},
                     {"id": 8, "content": "de_DE", "special": true}],
    "pre_tokenizer": {"type": "WhitespaceSplit"},
    "post_processor": {"type": "TemplateProcessing",
                       "single": [{"SpecialToken": {"id": "fr_XX", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
                       "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
                       "special_tokens": {"fr_XX": {"id": "fr_XX", "ids": [6], "tokens": ["fr_XX"]}}},
    "model": {"type": "WordLevel", "unk_token": "<unk>",
              "vocab": {"<unk>": 0, "</s>": 1, "a": 2, "b": 3, "c": 4, "d": 5}}
  })",
                                                          "nine"));
}

TEST(BoundedVocabulary, IsTheVocabularyItselfWhereTheRowsAreAsMany) {
  const auto whole = nine_pieces();
  EXPECT_EQ(bounded_vocabulary(whole, 9), whole);
  EXPECT_EQ(bounded_vocabulary(whole, 64), whole);
  EXPECT_NE(bounded_vocabulary(whole, 8), whole);
}

TEST(BoundedVocabulary, HasTheSameIdsAndTextsBelowItsRows) {
  const auto whole = nine_pieces(), seven = bounded_vocabulary(whole, 7);
  EXPECT_EQ(seven->size(), 7);
  EXPECT_EQ(seven->kind(), whole->kind());
  EXPECT_EQ(seven->encode("a b fr_XX"), whole->encode("a b fr_XX"));
  EXPECT_EQ(seven->encode_special("a b"), whole->encode_special("a b"));
  EXPECT_EQ(seven->encode_special("a", "b"), whole->encode_special("a", "b"));
  const std::vector<int> ids{2, 6, 3};
  EXPECT_EQ(seven->decode(ids), whole->decode(ids));
  EXPECT_EQ(seven->decode(ids, Specials::keep), whole->decode(ids, Specials::keep));
  EXPECT_EQ(seven->word_of_pieces(ids), whole->word_of_pieces(ids));
  EXPECT_EQ(seven->piece(6), "fr_XX");
  EXPECT_EQ(seven->surface(2), whole->surface(2));
  EXPECT_EQ(seven->id_of("fr_XX"), 6);
  EXPECT_TRUE(seven->is_special(6));
}

TEST(BoundedVocabulary, NamesATokenBeyond) {
  const auto whole = nine_pieces();
  const std::string pad = "the text has the token '<pad>', whose id is 7, but the model's embedding has 7 rows";
  const auto seven = bounded_vocabulary(whole, 7), six = bounded_vocabulary(whole, 6);
  EXPECT_EQ(refusal([&] { seven->encode("a <pad> b"); }), pad);
  EXPECT_EQ(refusal([&] { seven->encode_special("a <pad> b"); }), pad);
  EXPECT_EQ(refusal([&] { seven->encode_special("a", "<pad>"); }), pad);
  EXPECT_EQ(refusal([&] { six->encode_special("a"); }),
            "the text has the token 'fr_XX', whose id is 6, but the model's embedding has 6 rows")
      << "which the template puts there";
  EXPECT_EQ(refusal([&] { seven->piece(7); }), "piece: id 7 is not in the vocabulary of 7 pieces");
  EXPECT_EQ(refusal([&] { seven->surface(8); }), "surface: id 8 is not in the vocabulary of 7 pieces");
  EXPECT_EQ(refusal([&] {
              seven->decode(std::vector<int>{2, 7});
            }),
            "decode: id 7 is not in the vocabulary of 7 pieces");
}

TEST(BoundedVocabulary, HasNoSymbolsAndNoLanguagesBeyond) {
  const auto whole = nine_pieces(), seven = bounded_vocabulary(whole, 7);
  ASSERT_EQ(whole->pad(), 7);
  EXPECT_EQ(seven->pad(), -1);
  EXPECT_EQ(seven->end(), 1);
  EXPECT_EQ(seven->unknown(), 0);
  EXPECT_EQ(seven->id_of("<pad>"), -1);
  EXPECT_EQ(languages_of(*seven), std::vector<std::string>{"fr_XX"});
  EXPECT_EQ(refusal([&] { with_language(*seven, "de_DE"); }), "'de_DE' is none of the model's 1 languages: fr_XX");
  const auto eight = bounded_vocabulary(whole, 8);
  EXPECT_EQ(with_language(*eight, "fr_XX")->encode_special("a").ids, (std::vector<int>{6, 2}));
  EXPECT_EQ(with_language(*eight, "fr_XX")->size(), 8);
}

}  // namespace
}  // namespace heed
