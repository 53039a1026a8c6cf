#include "heed/text/open_tokenizer.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "heed/base/file.h"
#include "heed/base/file_writer.h"
#include "heed/io/json.h"
#include "heed/testing/data_folder.h"
#include "heed/testing/refusal.h"
#include "heed/testing/scratch_test.h"
#include "heed/text/sentencepiece_vocabulary.h"
#include "heed/text/streaming_decoder.h"
#include "heed/text/tokenizer/tokenizer.h"

namespace heed {
namespace {

using testing::case_texts;

namespace fs = std::filesystem;
using Ids = std::vector<int>;

class OpenTokenizerTest : public testing::ScratchTest {
 protected:
  void write(std::string_view name, std::string_view text) { write_file(folder_ / name, text); }
  std::string refusal() {
    return testing::refusal([&] { open_tokenizer(folder_); });
  }
};

// The texts of a folder of cases.
void expect_same(const Vocabulary& a, const Vocabulary& b, const fs::path& cases) {
  EXPECT_EQ(a.size(), b.size());
  for (const std::string& text : case_texts(cases)) {
    const EncodedText encoded = a.encode_special(text);
    EXPECT_EQ(encoded, b.encode_special(text)) << text;
    EXPECT_EQ(a.encode_special(text, "b"), b.encode_special(text, "b")) << text;
    EXPECT_EQ(a.decode(encoded.ids), b.decode(encoded.ids)) << text;
  }
}

TEST_F(OpenTokenizerTest, AListOfWordPiecesIsBerts) {
  HEED_DATA_OR_SKIP(data, "tokenizers/bert-base-cased");
  fs::copy_file(data / "vocab.txt", folder_ / "vocab.txt");
  write("tokenizer_config.json", R"({"do_lower_case": false, "strip_accents": null, "mask_token": "[MASK]"})");
  const auto list = open_tokenizer(folder_), file = open_tokenizer(data);
  expect_same(*list, *file, data);
  EXPECT_EQ(list->symbols(), file->symbols());
  EXPECT_EQ(list->classifier(), 101);
  EXPECT_EQ(list->pad(), 0);
  EXPECT_EQ(list->begin(), -1);
}

TEST_F(OpenTokenizerTest, PiecesWithMergesAreGpt2s) {
  HEED_DATA_OR_SKIP(data, "tokenizers/gpt2");
  fs::copy_file(data / "vocab.json", folder_ / "vocab.json");
  fs::copy_file(data / "merges.txt", folder_ / "merges.txt");
  const auto apart = open_tokenizer(folder_), file = open_tokenizer(data);
  expect_same(*apart, *file, data);
  EXPECT_EQ(apart->end(), 50256);
}

TEST_F(OpenTokenizerTest, RobertasTextsHaveTokensAroundThem) {
  write("vocab.json", R"({"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3, "a": 4, "b": 5, "ab": 6, "<mask>": 7})");
  write("merges.txt", "#version: 0.2\na b\n\n");
  write("special_tokens_map.json", R"({"mask_token": {"content": "<mask>", "lstrip": true}, "pad_token": "<pad>"})");
  write("tokenizer_config.json", R"({"tokenizer_class": "RobertaTokenizerFast", "eos_token": "</s>"})");
  const auto roberta = open_tokenizer(folder_);
  EXPECT_EQ(roberta->encode_special("ab").ids, (Ids{0, 6, 2}));
  EXPECT_EQ(roberta->encode_special("ab", "b"), (EncodedText{{0, 6, 2, 2, 5, 2}, {0, 0, 0, 0, 0, 0}}));
  EXPECT_EQ(roberta->mask(), 7);
  EXPECT_EQ(roberta->encode("a<mask>"), (Ids{4, 7}));
  EXPECT_EQ(roberta->encode("a <mask>"), (Ids{4, 7})) << "its mask takes the space before it along";
}

TEST_F(OpenTokenizerTest, OptsTextsBeginWithATokenAndSpellThoseAlone) {
  write("vocab.json", R"({"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3, "a": 4, "b": 5, "ab": 6, "s": 7, "<": 8,
                          ">": 9})");
  write("merges.txt", "#version: 0.2\na b\n");
  const std::string tokens = R"("bos_token": "</s>", "eos_token": "</s>", "unk_token": "</s>", "pad_token": "<pad>")";
  for (const char* named : {R"("tokenizer_class": "GPT2Tokenizer", )", ""}) {
    write("config.json", R"({"model_type": "opt"})");
    write("tokenizer_config.json", "{" + std::string(named) + R"("add_bos_token": true, )" + tokens + "}");
    const auto opt = open_tokenizer(folder_);
    EXPECT_EQ(opt->encode_special("ab").ids, (Ids{2, 6}));
    EXPECT_EQ(opt->encode("a</s><pad>"), (Ids{4, 2, 1}));
    EXPECT_EQ(opt->encode("<s>"), (Ids{8, 7, 9})) << "no token of it";
  }
}

TEST_F(OpenTokenizerTest, MpnetsTextsHaveTwoSeparatorsBetweenThem) {
  write("vocab.txt", "<s>\n<pad>\n</s>\n[UNK]\n<mask>\na\nb\n");
  write("config.json", R"({"model_type": "mpnet"})");
  const auto mpnet = open_tokenizer(folder_);
  EXPECT_EQ(mpnet->encode_special("a").ids, (Ids{0, 5, 2}));
  EXPECT_EQ(mpnet->encode_special("a", "b"), (EncodedText{{0, 5, 2, 2, 6, 2}, {0, 0, 0, 0, 0, 0}}));
  EXPECT_EQ(mpnet->encode("a <mask> x"), (Ids{5, 4, 3}));
}

TEST_F(OpenTokenizerTest, PiecesThatTheSettingsNameAsTokensAreFoundInATextAsSuch) {
  write("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\n<e1>\ne\n##1\n<\n>\n");
  EXPECT_EQ(open_tokenizer(folder_)->encode("<e1>a"), (Ids{9, 7, 8, 10, 5}));
  write("special_tokens_map.json", R"({"additional_special_tokens": ["<e1>", {"content": "<nowhere>"}]})");
  const auto list = open_tokenizer(folder_);
  EXPECT_EQ(list->encode("<e1>a"), (Ids{6, 5}));
  EXPECT_TRUE(list->is_special(6));
}

TEST_F(OpenTokenizerTest, ClipsWordsAreOfLowerCaseAndEndWithAMark) {
  write("vocab.json",
        R"({"a": 0, "b": 1, "a</w>": 2, "b</w>": 3, "ab</w>": 4, "<|startoftext|>": 5, "<|endoftext|>": 6})");
  write("merges.txt", "#version: 0.2\na b</w>\n");
  for (const char* config :
       {"{}", R"({"tokenizer_class": "CLIPTokenizer", "bos_token": {"content": "<|startoftext|>"}})"}) {
    write("tokenizer_config.json", config);
    const auto clip = open_tokenizer(folder_);
    EXPECT_EQ(clip->encode_special("AB  b").ids, (Ids{5, 4, 3, 6}));
    EXPECT_EQ(clip->encode("<|STARTOFTEXT|>a<|endoftext|>"), (Ids{5, 2, 6}));
    EXPECT_EQ(clip->encode("x"), (Ids{6}));
    EXPECT_EQ(clip->decode(Ids{4, 3}), "ab</w>b</w>");
  }
}

TEST_F(OpenTokenizerTest, TokensWereAddedToListsOfPieces) {
  write("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\n");
  write("added_tokens.json", R"({"<y>": 7, "<x>": 6})");
  write("special_tokens_map.json", R"({"bos_token": "<y>"})");
  auto list = open_tokenizer(folder_);
  EXPECT_EQ(list->encode("<x>a <y>"), (Ids{6, 5, 7}));
  EXPECT_FALSE(list->is_special(6));
  EXPECT_TRUE(list->is_special(7));
  write("tokenizer_config.json", R"({"added_tokens_decoder": {
      "6": {"content": "<x>", "rstrip": true, "special": true}, "4": {"content": "[MASK]", "lstrip": true}}})");
  list = open_tokenizer(folder_);
  EXPECT_EQ(list->encode("a [MASK]<x> [CLS]"), (Ids{5, 4, 6, 2}));
  EXPECT_TRUE(list->is_special(6));
  write("tokenizer_config.json", R"({"added_tokens_decoder": {"x": {"content": "y"}}})");
  EXPECT_NE(refusal().find("added_tokens_decoder.x: must have an id"), std::string::npos) << refusal();
}

TEST_F(OpenTokenizerTest, OfAWordPieceThatComesTwiceTheLastCounts) {
  write("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nb\na\n");
  EXPECT_EQ(open_tokenizer(folder_)->encode("a b"), (Ids{7, 6}));
}

TEST_F(OpenTokenizerTest, TheFilesBesideItNameTheSymbols) {
  write("tokenizer.json", R"({"model": {"type": "WordLevel", "vocab": {"<s>": 0, "</s>": 1, "x": 2, "y": 3}}})");
  EXPECT_EQ(open_tokenizer(folder_)->symbols(), (SymbolIds{.begin = 0, .end = 1}));
  write("special_tokens_map.json", R"({"eos_token": "x"})");
  write("tokenizer_config.json", R"({"bos_token": null, "eos_token": {"content": "y"}, "pad_token": "nowhere"})");
  EXPECT_EQ(open_tokenizer(folder_)->symbols(), (SymbolIds{.end = 3}));
  write("tokenizer_config.json", R"({"eos_token": 3})");
  EXPECT_NE(refusal().find("tokenizer_config.json: eos_token"), std::string::npos);
}

TEST_F(OpenTokenizerTest, SentencePieceModelsMayHaveSymbolsAroundTexts) {
  const std::vector<std::string> lines = {"the cat sat on the mat", "a cat"};
  const auto own = SentencePieceVocabulary::train(lines, {.vocabulary_size = 40});
  write("tokenizer.model", own.bytes());
  const auto plain = open_tokenizer(folder_);
  EXPECT_EQ(plain->kind(), "sentencepiece-model");
  EXPECT_EQ(plain->encode_special("a cat").ids, own.encode("a cat"));
  write("tokenizer_config.json", R"({"tokenizer_class": "LlamaTokenizer", "add_eos_token": true})");
  const auto llama = open_tokenizer(folder_);
  const Ids ids = llama->encode_special("a cat").ids;
  EXPECT_EQ(ids.front(), 2);
  EXPECT_EQ(ids.back(), 3);
  EXPECT_EQ(llama->decode(ids), "a cat");
  EXPECT_TRUE(llama->is_special(3));
  llama->save(folder_, "kept");
  EXPECT_EQ(load_vocabulary(folder_, "kept")->encode_special("a cat").ids, ids);
  for (const std::string of_other_ids : {"XLMRobertaTokenizer", "MBart50Tokenizer", "M2M100Tokenizer"}) {
    write("tokenizer_config.json", R"({"tokenizer_class": ")" + of_other_ids + R"("})");
    EXPECT_NE(refusal().find(of_other_ids), std::string::npos);
  }
}

TEST_F(OpenTokenizerTest, TokensWereAddedBehindASentencePieceModelsPieces) {
  const std::vector<std::string> lines = {"the cat sat on the mat", "a cat"};
  const auto own = SentencePieceVocabulary::train(lines, {.vocabulary_size = 40});
  const int size = static_cast<int>(own.size());
  write("tokenizer.model", own.bytes());
  const Ids cat = own.encode("a cat"), mat = own.encode("the mat");
  write("added_tokens.json", fmt::format(R"({{"<|im_end|>": {}}})", size));
  write("tokenizer_config.json", R"({"tokenizer_class": "LlamaTokenizer", "eos_token": "<|im_end|>"})");
  const auto llama = open_tokenizer(folder_);
  Ids expected{2};
  expected.insert(expected.end(), cat.begin(), cat.end());
  expected.push_back(size);
  expected.insert(expected.end(), mat.begin(), mat.end());
  EXPECT_EQ(llama->encode_special("a cat<|im_end|>the mat").ids, expected);
  EXPECT_EQ(llama->end(), size);
  EXPECT_EQ(llama->decode(expected), "a cat the mat");
  write("added_tokens.json", fmt::format(R"({{"<|im_end|>": {}}})", size + 1));
  EXPECT_EQ(open_tokenizer(folder_)->kind(), "sentencepiece-model") << "of ids that do not follow";
  write("added_tokens.json", fmt::format(R"({{"<extra_id_1>": {}, "<extra_id_0>": {}}})", size, size + 1));
  write("tokenizer_config.json", R"({"tokenizer_class": "T5Tokenizer"})");
  expected = cat;
  expected.insert(expected.end(), {size + 1, size, 3});
  EXPECT_EQ(open_tokenizer(folder_)->encode_special("a cat<extra_id_0><extra_id_1>").ids, expected);
}

TEST_F(OpenTokenizerTest, T5sClassMakesUpExtraTokens) {
  const std::vector<std::string> lines = {"the cat sat on the mat", "a cat"};
  const auto own = SentencePieceVocabulary::train(lines, {.vocabulary_size = 40});
  const int size = static_cast<int>(own.size());
  write("spiece.model", own.bytes());
  Ids expected = own.encode("a cat");
  const Ids mat = own.encode("the mat");
  expected.push_back(size + 99);
  expected.insert(expected.end(), mat.begin(), mat.end());
  expected.insert(expected.end(), {size, 3});
  for (const std::string config : {R"({"tokenizer_class": "T5Tokenizer"})",
                                   R"({"tokenizer_class": "T5Tokenizer", "additional_special_tokens": []})"}) {
    write("tokenizer_config.json", config);
    const auto t5 = open_tokenizer(folder_);
    EXPECT_EQ(t5->size(), size + 100);
    EXPECT_EQ(t5->encode_special("a cat <extra_id_0> the mat <extra_id_99>").ids, expected);
    EXPECT_EQ(t5->piece(size + 98), "<extra_id_1>");
    EXPECT_TRUE(t5->is_special(size + 98));
    EXPECT_EQ(t5->decode(expected), own.decode(own.encode("a cat the mat")));
  }
  // Tokens that were added later follow.
  write("tokenizer_config.json", R"({"tokenizer_class": "T5TokenizerFast", "extra_ids": 2,
        "additional_special_tokens": ["<extra_id_0>", "<extra_id_1>", "<sep>"]})");
  write("added_tokens.json", fmt::format(R"({{"<sep>": {}}})", size + 2));
  EXPECT_EQ(open_tokenizer(folder_)->encode("<extra_id_1><sep><extra_id_0>"), (Ids{size, size + 2, size + 1}));
  fs::remove(folder_ / "added_tokens.json");
  write("tokenizer_config.json", R"({"tokenizer_class": "MT5Tokenizer", "extra_ids": 0})");
  EXPECT_EQ(open_tokenizer(folder_)->size(), size);
  fs::remove(folder_ / "tokenizer_config.json");
  write("config.json", R"({"model_type": "umt5"})");
  EXPECT_EQ(open_tokenizer(folder_)->size(), size + 100);
}

TEST_F(OpenTokenizerTest, WithExtraTokensT5sTextsAreCutAsByItsModel) {
  HEED_DATA_OR_SKIP(data, "tokenizers/t5-tiny-spm");
  fs::copy_file(data / "tokenizer.model", folder_ / "spiece.model");
  const auto model = open_tokenizer(folder_);
  write("tokenizer_config.json", R"({"tokenizer_class": "T5Tokenizer"})");
  const auto t5 = open_tokenizer(folder_);
  EXPECT_EQ(model->size() + 100, t5->size());
  for (const std::string& text : case_texts(data)) {
    if (text.find("</s>") != std::string::npos) continue;  // a text may spell a token now
    Ids expected = model->encode(text);
    EXPECT_EQ(t5->encode(text), expected) << text;
    // Hugging Face drops unknown pieces, which SentencePiece writes as U+2047.
    if (std::ranges::find(expected, model->unknown()) == expected.end()) {
      EXPECT_EQ(t5->decode(expected), model->decode(expected)) << text;
    }
    expected.push_back(2);
    EXPECT_EQ(t5->encode_special(text).ids, expected) << text;
  }
}

TEST_F(OpenTokenizerTest, ExtraTokensThatAreNotAsManyAsTheFilesSayAreRefused) {
  const auto own =
      SentencePieceVocabulary::train(std::vector<std::string>{"the cat sat", "a cat"}, {.vocabulary_size = 30});
  write("spiece.model", own.bytes());
  write("tokenizer_config.json",
        R"({"tokenizer_class": "T5Tokenizer", "additional_special_tokens": ["<extra_id_0>"]})");
  EXPECT_EQ(refusal(),
            (folder_ / "spiece.model").string() + ": 1 tokens are named <extra_id_...>, but extra_ids is 100");
  write("tokenizer_config.json", R"({"tokenizer_class": "ByT5Tokenizer", "extra_ids": 1000000})");
  EXPECT_EQ(refusal(), folder_.string() + ": extra_ids must be at most 65536, but is 1000000");
  for (const std::string pad : {"a", "</s>"}) {
    write("tokenizer_config.json", R"({"tokenizer_class": "ByT5Tokenizer", "pad_token": ")" + pad + R"("})");
    EXPECT_EQ(refusal(), folder_.string() + ": of a ByT5Tokenizer, two tokens or bytes are '" + pad + "'");
  }
}

TEST_F(OpenTokenizerTest, ByT5sClassNeedsNoFileOfPieces) {
  EXPECT_FALSE(has_tokenizer(folder_));
  write("tokenizer_config.json", R"({"tokenizer_class": "ByT5Tokenizer", "eos_token": {"content": "</s>"}})");
  EXPECT_TRUE(has_tokenizer(folder_));
  const auto bytes = open_tokenizer(folder_);
  EXPECT_EQ(bytes->size(), 384);
  EXPECT_EQ(bytes->symbols(), (SymbolIds{.pad = 0, .unknown = 2, .end = 1}));
  EXPECT_EQ(bytes->encode_special("ä b\n").ids, (Ids{0xC3 + 3, 0xA4 + 3, ' ' + 3, 'b' + 3, '\n' + 3, 1}));
  EXPECT_EQ(bytes->encode_special("").ids, Ids{1});
  EXPECT_EQ(bytes->encode_special("a", "b"), (EncodedText{{'a' + 3, 1, 'b' + 3, 1}, {0, 0, 0, 0}}));
  EXPECT_EQ(bytes->encode("a<extra_id_0></s><extra_id_124>"), (Ids{'a' + 3, 259, 1, 383}));
  EXPECT_EQ(bytes->id_of("<extra_id_1>"), 260);
  std::string all = "\x01";
  for (const char* text : {"the quick  brown fox\r\n", " \t", "naïve €", "日本語", "\xF0\x9F\x98\x80"}) all += text;
  EXPECT_EQ(bytes->decode(bytes->encode_special(all).ids), all);
  EXPECT_EQ(bytes->decode(Ids{0, 'a' + 3, 0xE2 + 3, 0x82 + 3, 'b' + 3, 0xFF + 3, 300, 2, 1}), "ab")
      << "what is no UTF-8, and what is special, is left out";
  StreamingDecoder stream(*bytes);
  std::string read;
  for (const int id : bytes->encode("a€😀b")) read += stream.add(id);
  EXPECT_EQ(read + stream.finish(), "a€😀b");
  write(
      "tokenizer_config.json",
      R"({"tokenizer_class": "ByT5Tokenizer", "extra_ids": 2, "additional_special_tokens": ["<extra_id_1>", "<extra_id_0>"]})");
  EXPECT_EQ(open_tokenizer(folder_)->encode("<extra_id_0><extra_id_1>"), (Ids{260, 259})) << "in the order of the list";
}

TEST_F(OpenTokenizerTest, WhereNothingNamesItsClassTheModelsTypeDoes) {
  const std::vector<std::string> lines{"the cat sat on the mat", "a cat", "the mat"};
  const auto own = SentencePieceVocabulary::train(lines, {.vocabulary_size = 40});
  write("tokenizer.model", own.bytes());
  write("config.json", R"({"model_type": "t5"})");
  EXPECT_EQ(open_tokenizer(folder_)->encode_special("a cat").ids.back(), 3);
  write("config.json", R"({"model_type": "xlm-roberta"})");
  EXPECT_NE(refusal().find("of a XLMRobertaTokenizer, the piece 0 must be '<unk>', but is '<pad>'"), std::string::npos);
  write("config.json", R"({"model_type": "m2m_100"})");
  EXPECT_NE(refusal().find("M2M100Tokenizer, vocab.json has the ids"), std::string::npos);
  write("config.json", R"({"model_type": "pegasus"})");
  EXPECT_NE(refusal().find("PegasusTokenizer, the piece 1 must be '</s>'"), std::string::npos);
  write("tokenizer_config.json", R"({"offset": 0})");
  EXPECT_EQ(open_tokenizer(folder_)->encode_special("a cat").ids.back(), 3);
  write("tokenizer_config.json", "{}");
  write("config.json", R"({"model_type": "albert"})");
  EXPECT_NE(refusal().find("AlbertTokenizer"), std::string::npos);
  write("config.json", R"({"model_type": "t5", "tokenizer_class": "CamembertTokenizer"})");
  EXPECT_NE(refusal().find("CamembertTokenizer"), std::string::npos);
}

TEST_F(OpenTokenizerTest, AListOfPiecesForWordsThatHeedDoesNotCutIsRefused) {
  write("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\n");
  write("tokenizer_config.json", R"({"tokenizer_class": "BertJapaneseTokenizer"})");
  EXPECT_NE(refusal().find("BertJapaneseTokenizer cuts words as heed does not"), std::string::npos);
  write("vocab.json", R"({"a": 0})");
  write("merges.txt", "");
  for (const std::string type : {"deberta", "blenderbot", "openai-gpt"}) {
    std::filesystem::remove(folder_ / "tokenizer_config.json");
    write("config.json", R"({"model_type": ")" + type + R"("})");
    EXPECT_NE(refusal().find("which heed knows from tokenizer.json alone"), std::string::npos) << type;
  }
}

TEST_F(OpenTokenizerTest, MariansPiecesHaveTheIdsOfAList) {
  const auto own = SentencePieceVocabulary::train(std::vector<std::string>{"the cat sat"}, {.vocabulary_size = 40});
  write("source.spm", own.bytes());
  write("target.spm", own.bytes());
  Json list = Json::object({{"</s>", 0}, {"<unk>", 1}});
  for (int id = 4; id < own.size(); ++id) list.set(own.piece(id), id + 7);
  list.set("<pad>", own.size() + 7);
  write_json(folder_ / "vocab.json", list);
  const auto marian = open_tokenizer(folder_, TokenizerSide::target);
  Ids expected = own.encode("the cat");
  for (int& id : expected) id += 7;
  EXPECT_EQ(marian->encode("the cat"), expected);
  EXPECT_EQ(marian->decode(expected), "the cat");
  expected.push_back(0);
  EXPECT_EQ(marian->encode_special("the cat").ids, expected);
  EXPECT_EQ(marian->decode(expected), "the cat");
  EXPECT_EQ(marian->pad(), own.size() + 7);
  EXPECT_EQ(marian->encode("ж").back(), 1);
  list.set(">>fr<<", own.size() + 8);
  write_json(folder_ / "vocab.json", list);
  const auto many = open_tokenizer(folder_);
  const Ids words = many->encode("the cat"), other = many->encode("sat");
  Ids told{static_cast<int>(own.size()) + 8};
  told.insert(told.end(), words.begin(), words.end());
  EXPECT_EQ(many->encode(">>fr<< the cat"), told) << "the language to translate to";
  told = words;
  told.push_back(0);
  told.insert(told.end(), other.begin(), other.end());
  EXPECT_EQ(many->encode("the cat</s>sat"), told);
  EXPECT_EQ(many->encode(">>de<<"), Ids{1}) << "no piece of this name";
  Json apart = list;
  apart.set("</s>", 1);
  apart.set("<unk>", 0);
  write_json(folder_ / "target_vocab.json", apart);
  EXPECT_EQ(open_tokenizer(folder_, TokenizerSide::target)->end(), 1);
  EXPECT_EQ(open_tokenizer(folder_, TokenizerSide::source)->end(), 0);
  marian->save(folder_ / "kept", "source");
  EXPECT_EQ(load_vocabulary(folder_ / "kept", "source")->encode_special("the cat").ids, expected);
}

TEST_F(OpenTokenizerTest, AFolderWithoutOneSaysWhatItLacks) {
  EXPECT_FALSE(has_tokenizer(folder_));
  EXPECT_NE(refusal().find("has no tokenizer: neither tokenizer.json"), std::string::npos) << refusal();
  write("vocab.txt", "a\nb\n");
  EXPECT_TRUE(has_tokenizer(folder_));
  EXPECT_NE(refusal().find("vocab.txt: the vocabulary has no '[CLS]'"), std::string::npos) << refusal();
  write("vocab.json", "{}");
  write("merges.txt", "a b c\n");
  EXPECT_NE(refusal().find("merges.txt:1"), std::string::npos) << refusal();
  write("tokenizer.model", "x");
  EXPECT_NE(refusal().find("tokenizer.model"), std::string::npos) << refusal();
  write("tokenizer.json", "[]");
  EXPECT_NE(refusal().find("tokenizer.json"), std::string::npos) << refusal();
}

// What is read along is what is decoded at the end, of every tokenizer that there is a case of.
TEST_F(OpenTokenizerTest, StreamedTextIsTheDecodedText) {
  HEED_DATA_OR_SKIP(data, "tokenizers");
  for (const fs::path& one : files_in(data)) {
    if (!fs::exists(one / "cases.jsonl")) continue;
    const auto vocabulary = open_tokenizer(one);
    for (const Specials specials : {Specials::drop, Specials::keep}) {
      StreamingDecoder stream(*vocabulary, specials);
      for (const std::string& text : case_texts(one)) {
        const Ids ids = vocabulary->encode_special(text).ids;
        std::string read;
        for (const int id : ids) read += stream.add(id);
        read += stream.finish();
        EXPECT_EQ(read, vocabulary->decode(ids, specials)) << one << ": " << text;
      }
    }
  }
}

TEST_F(OpenTokenizerTest, EveryPieceHasAWordOrNone) {
  HEED_DATA_OR_SKIP(data, "tokenizers");
  for (const fs::path& one : files_in(data)) {
    if (!fs::exists(one / "cases.jsonl")) continue;
    const auto vocabulary = open_tokenizer(one);
    const Ids words = vocabulary->word_of_pieces(vocabulary->encode("two words"));
    EXPECT_EQ(words.front(), 0) << one;
    EXPECT_EQ(words.back(), 1) << one;
    for (const std::string& text : case_texts(one)) {
      int last = 0;
      for (const int word : vocabulary->word_of_pieces(vocabulary->encode(text))) {
        EXPECT_GE(word, -1);
        EXPECT_LE(word, last + 64);
        last = std::max(last, word);
      }
    }
  }
}

}  // namespace
}  // namespace heed
