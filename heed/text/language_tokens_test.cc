#include "heed/text/language_tokens.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "heed/testing/refusal.h"
#include "heed/text/tokenizer/tokenizer.h"
#include "heed/text/whitespace_vocabulary.h"

namespace heed {
namespace {

using testing::refusal;
using Ids = std::vector<int>;

// Words, three languages, and a text's language before it, as NLLB's file has them.
Tokenizer of_many(const std::string& post_processor) {
  return Tokenizer::from_json(R"({
    "added_tokens": [
      {"id": 0, "content": "</s>", "special": true}, {"id": 4, "content": "deu_Latn", "special": true},
      {"id": 5, "content": "eng_Latn", "special": true}, {"id": 6, "content": "zho_Hans", "special": true}],
    "pre_tokenizer": {"type": "WhitespaceSplit"},
    "post_processor": )" + post_processor +
                                  R"(,
    "model": {"type": "WordLevel", "unk_token": "<unk>",
      "vocab": {"</s>": 0, "<unk>": 1, "guten": 2, "fra_Latn": 3, "deu_Latn": 4, "eng_Latn": 5, "zho_Hans": 6}}})",
                              "many.json");
}

const std::string kTemplate = R"({"type": "TemplateProcessing",
  "single": [{"SpecialToken": {"id": "eng_Latn", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}},
             {"SpecialToken": {"id": "</s>", "type_id": 0}}],
  "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 0}}],
  "special_tokens": {"eng_Latn": {"id": "eng_Latn", "ids": [5], "tokens": ["eng_Latn"]},
                     "</s>": {"id": "</s>", "ids": [0], "tokens": ["</s>"]}}})";

TEST(LanguageTokens, AreThoseOfNllbMbartAndM2m) {
  for (const char* piece : {"deu_Latn", "zho_Hans", "en_XX", "de_DE", "zh_CN", "__de__", "__ceb__"}) {
    EXPECT_TRUE(is_language_token(piece)) << piece;
  }
  for (const char* piece : {"", "_", "____", "de", "__", "__d__", "__DE__", "deu_latn", "deut_Latn", "de_D", "</s>",
                            "d_DE", "de_DE ", "<pad>", "DE_de", "__deu_Latn__"}) {
    EXPECT_FALSE(is_language_token(piece)) << piece;
  }
}

TEST(LanguageTokens, AreSpecialOnes) {
  const Tokenizer many = of_many(kTemplate);
  EXPECT_EQ(languages_of(many), (std::vector<std::string>{"deu_Latn", "eng_Latn", "zho_Hans"})) << "fra_Latn is a word";
  EXPECT_EQ(language_id(many, "zho_Hans"), 6);
  const Tokenizer m2m = Tokenizer::from_json(
      R"({"added_tokens": [{"id": 1, "content": "__de__", "special": true}],
          "model": {"type": "WordLevel", "unk_token": "<unk>", "vocab": {"<unk>": 0, "__de__": 1, "de": 2}}})",
      "m2m.json");
  EXPECT_EQ(language_id(m2m, "__de__"), 1);
  EXPECT_EQ(language_id(m2m, "de"), 1);
  EXPECT_EQ(refusal([&] { language_id(many, "fra_Latn"); }),
            "'fra_Latn' is none of the model's 3 languages: deu_Latn, eng_Latn, zho_Hans");
  EXPECT_EQ(refusal([&] { language_id(many, "guten"); }),
            "'guten' is none of the model's 3 languages: deu_Latn, eng_Latn, zho_Hans");
  const std::vector<std::string> lines{"a"};
  EXPECT_EQ(refusal([&] { language_id(WhitespaceVocabulary::build(lines), "a"); }),
            "'a' is no language of the model: its vocabulary has no tokens for languages");
}

TEST(LanguageTokens, ATemplateNamesTheChosenOneAlsoFromAFolder) {
  const auto folder = std::filesystem::path(::testing::TempDir()) / "heed_language_tokens";
  std::filesystem::remove_all(folder);
  for (const std::string& around : {kTemplate, R"({"type": "Sequence", "processors": [)" + kTemplate + "]}"}) {
    const Tokenizer many = of_many(around);
    EXPECT_EQ(many.encode_special("guten guten").ids, (Ids{5, 2, 2, 0}));
    const auto german = with_language(many, "deu_Latn");
    EXPECT_EQ(german->encode_special("guten guten").ids, (Ids{4, 2, 2, 0}));
    EXPECT_EQ(german->encode("guten"), Ids{2});
    EXPECT_EQ(german->end(), many.end());
    EXPECT_EQ(with_language(*german, "zho_Hans")->encode_special("guten").ids, (Ids{6, 2, 0})) << "and once more";
    german->save(folder, "kept");
    EXPECT_EQ(load_vocabulary(folder, "kept")->encode_special("guten").ids, (Ids{4, 2, 0}));
  }
}

TEST(LanguageTokens, WhereATemplateNamesNoneNothingCanBeChosen) {
  EXPECT_EQ(refusal([] { with_language(of_many("null"), "deu_Latn"); }),
            "tokenizer: post_processor: must have a token around a text that can be replaced, but is null");
}

}  // namespace
}  // namespace heed
