#include "heed/text/renumbered_pieces.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "heed/base/file_writer.h"
#include "heed/io/base64.h"
#include "heed/testing/data_folder.h"
#include "heed/testing/refusal.h"
#include "heed/testing/scratch_test.h"
#include "heed/text/language_tokens.h"
#include "heed/text/open_tokenizer.h"
#include "heed/text/sentencepiece_pieces.h"
#include "heed/text/sentencepiece_tokenizer.h"
#include "heed/text/trained_pieces_test.h"

namespace heed {
namespace {

namespace fs = std::filesystem;
using Ids = std::vector<int>;
using Kind = PlainVocabulary::Kind;
using Type = PlainVocabulary::Type;
using testing::model_of, testing::trained;

const std::vector<std::pair<const char*, Type>> kFairseq = {
    {"<unk>", Type::unknown}, {"<s>", Type::control}, {"</s>", Type::control}};

const std::vector<std::string> kTexts = {"the cat sat",  "",         " ",          "  the   cat  ",  "läuft 日本語。",
                                         "\tthe\ncat\t", "unseen ж", "ｆｕｌｌ ①", "the \u3000 mat", "\n the"};

class RenumberedPiecesTest : public testing::ScratchTest {
 protected:
  std::unique_ptr<Vocabulary> open(const PlainVocabulary& model, const std::string& settings) {
    write_file(folder_ / "sentencepiece.bpe.model", model_of(model));
    write_file(folder_ / "tokenizer_config.json", settings);
    return open_tokenizer(folder_);
  }
};

// The truth of another toolkit: its file for fast tokenizers and the model that it was made from give the same ids.
TEST_F(RenumberedPiecesTest, XlmRobertasModelHasTheIdsOfItsTokenizer) {
  HEED_DATA_OR_SKIP(data, "tokenizers/xlm-roberta");
  const Json json = read_json(data / "tokenizer.json");
  PlainVocabulary model{.kind = Kind::t5, .single_spaces = true};
  for (const auto& [symbol, type] : kFairseq) {
    model.pieces.emplace_back(symbol);
    model.scores.push_back(0);
    model.types.push_back(type);
  }
  const std::vector<Json> pieces = json["model"]["vocab"].items();
  for (std::size_t id = 4; id + 1 < pieces.size(); ++id) {
    model.pieces.push_back(pieces[id][Index{0}].string());
    model.scores.push_back(static_cast<float>(pieces[id][Index{1}].number()));
    model.types.push_back(Type::normal);
  }
  ASSERT_EQ(pieces.back()[Index{0}].string(), "<mask>");
  const Json normaliser = json["normalizer"];
  const Json precompiled = normaliser.has("normalizers") ? normaliser["normalizers"][Index{0}] : normaliser;
  model.character_map = base64_bytes(precompiled["precompiled_charsmap"].string(), "map");
  const auto opened = open(model, R"({"tokenizer_class": "XLMRobertaTokenizer"})");
  const auto file = open_tokenizer(data);
  EXPECT_EQ(opened->size(), file->size());
  EXPECT_EQ(opened->symbols(), file->symbols());
  EXPECT_EQ(opened->id_of("<mask>"), 250001);
  for (const std::string& text : testing::case_texts(data)) {
    const EncodedText encoded = opened->encode_special(text);
    EXPECT_EQ(encoded, file->encode_special(text)) << text;
    EXPECT_EQ(opened->encode_special(text, "b"), file->encode_special(text, "b")) << text;
    EXPECT_EQ(opened->decode(encoded.ids), file->decode(encoded.ids)) << text;
  }
}

// Of both kinds of models, whatever their normalisers: texts are cut as the library cuts them.
TEST_F(RenumberedPiecesTest, PiecesAreThoseOfTheLibrary) {
  for (const auto kind : {SentencePieceModel::unigram, SentencePieceModel::bpe}) {
    for (const char* normalisation : {"nmt_nfkc", "identity"}) {
      for (const bool plain_spaces : {false, true}) {
        PlainVocabulary model = trained(kind, normalisation, kFairseq);
        if (plain_spaces) model.space_prefix = model.single_spaces = false;
        const auto library = SentencePieceTokenizer::from_bytes(model_of(model), "library");
        const auto opened = open(model, R"({"tokenizer_class": "XLMRobertaTokenizer"})");
        for (const std::string& text : kTexts) {
          Ids expected = library.encode(text);
          for (int& id : expected) id = id == 0 ? 3 : id + 1;  // what is unknown, and all others
          EXPECT_EQ(opened->encode(text), expected) << normalisation << ": '" << text << "'";
          EXPECT_EQ(opened->decode(opened->encode("the cat")), "the cat");
        }
      }
    }
  }
}

TEST_F(RenumberedPiecesTest, CamembertsPiecesComeBehindSymbolsThatItDoesNotUse) {
  const PlainVocabulary model = trained(SentencePieceModel::unigram, "nmt_nfkc", kFairseq);
  const auto library = SentencePieceTokenizer::from_bytes(model_of(model), "library");
  const auto opened = open(model, R"({"tokenizer_class": "CamembertTokenizer"})");
  const int count = static_cast<int>(model.pieces.size());
  EXPECT_EQ(opened->size(), count + 5);
  EXPECT_EQ(opened->id_of("<mask>"), count + 4);
  EXPECT_EQ(opened->pad(), 1);
  EXPECT_EQ(opened->id_of("<s>"), 5);
  for (const std::string& text : kTexts) {
    Ids expected{5};
    for (const int id : library.encode(text)) expected.push_back(id == 0 ? 3 : id + 4);
    expected.push_back(6);
    EXPECT_EQ(opened->encode_special(text).ids, expected) << text;
  }
  const Ids cat = opened->encode("the cat");
  Ids pair = opened->encode_special("the cat").ids;
  pair.push_back(6);
  pair.insert(pair.end(), cat.begin(), cat.end());
  pair.push_back(6);
  EXPECT_EQ(opened->encode_special("the cat", "the cat").ids, pair);
  EXPECT_EQ(opened->decode(pair), "the cat the cat");
}

TEST_F(RenumberedPiecesTest, NllbsTextsBeginWithTheirLanguage) {
  const PlainVocabulary model = trained(SentencePieceModel::bpe, "nmt_nfkc", kFairseq);
  const int count = static_cast<int>(model.pieces.size());
  const auto opened = open(model, R"({"tokenizer_class": "NllbTokenizer", "src_lang": "deu_Latn"})");
  EXPECT_EQ(languages_of(*opened).size(), 202U);
  EXPECT_EQ(opened->id_of("ace_Arab"), count + 1);
  EXPECT_EQ(opened->id_of("zul_Latn"), count + 202);
  EXPECT_EQ(opened->id_of("<mask>"), count + 203);
  const auto library = SentencePieceTokenizer::from_bytes(model_of(model), "library");
  const int german = opened->id_of("deu_Latn");
  for (const std::string& text : kTexts) {
    Ids expected;
    for (const int id : library.encode(text)) expected.push_back(id == 0 ? 3 : id + 1);
    EXPECT_EQ(opened->encode(text), expected) << text;
    expected.insert(expected.begin(), german);
    expected.push_back(2);
    EXPECT_EQ(opened->encode_special(text).ids, expected) << text;
  }
  EXPECT_EQ(with_language(*opened, "eng_Latn")->encode_special("the cat").ids,
            open(model, R"({"tokenizer_class": "NllbTokenizer"})")->encode_special("the cat").ids);
  // The first tokenizers had it behind the end.
  Ids behind = opened->encode("the cat");
  behind.push_back(2), behind.push_back(german);
  const std::string settings =
      R"({"tokenizer_class": "NllbTokenizer", "src_lang": "deu_Latn", "legacy_behaviour": true})";
  EXPECT_EQ(open(model, settings)->encode_special("the cat").ids, behind);
}

TEST_F(RenumberedPiecesTest, MbartKnowsItsLanguages) {
  const PlainVocabulary model = trained(SentencePieceModel::unigram, "nmt_nfkc", kFairseq);
  const int count = static_cast<int>(model.pieces.size());
  const auto fifty = open(model, R"({"tokenizer_class": "MBart50TokenizerFast", "src_lang": null})");
  EXPECT_EQ(languages_of(*fifty).size(), 52U);
  EXPECT_EQ(fifty->id_of("ar_AR"), count + 1);
  EXPECT_EQ(fifty->id_of("sl_SI"), count + 52);
  EXPECT_EQ(fifty->id_of("<mask>"), count + 53);
  EXPECT_EQ(fifty->size(), count + 54);
  const Ids cat = fifty->encode("the cat");
  Ids expected{count + 4};  // en_XX
  expected.insert(expected.end(), cat.begin(), cat.end());
  expected.push_back(2);
  EXPECT_EQ(fifty->encode_special("the cat").ids, expected);
  const auto german = with_language(*fifty, "de_DE");
  expected.front() = count + 3;
  EXPECT_EQ(german->encode_special("the cat").ids, expected);
  EXPECT_EQ(german->decode(expected), "the cat");
  german->save(folder_ / "kept", "source");
  EXPECT_EQ(load_vocabulary(folder_ / "kept", "source")->encode_special("the cat").ids, expected);

  // mBART has 25 of them, and puts them at the end.
  const auto first = open(model, R"({"tokenizer_class": "MBartTokenizer", "src_lang": "ro_RO"})");
  EXPECT_EQ(languages_of(*first).size(), 25U);
  EXPECT_EQ(first->id_of("<mask>"), count + 26);
  expected.erase(expected.begin());
  expected.push_back(count + 20);
  EXPECT_EQ(first->encode_special("the cat").ids, expected);
  EXPECT_NE(testing::refusal([&] {
              open(model, R"({"tokenizer_class": "MBartTokenizer", "src_lang": "sl_SI"})");
            }).find("src_lang is 'sl_SI', which is none of the model's 25 languages"),
            std::string::npos);
}

// What a list has and the model has not: words with a space between them, and two pieces that stand side by side.
TEST_F(RenumberedPiecesTest, M2m100sEntriesWithoutAPieceNeverComeOfAText) {
  for (const auto kind : {SentencePieceModel::unigram, SentencePieceModel::bpe}) {
    const PlainVocabulary model = trained(kind, "nmt_nfkc", kFairseq);
    const auto library = SentencePieceTokenizer::from_bytes(model_of(model), "library");
    const Ids cut = library.encode("the unseen cat sat");
    Json list = Json::object({{"<s>", 0}, {"<pad>", 1}, {"</s>", 2}, {"<unk>", 3}});
    for (std::size_t id = 3; id < model.pieces.size(); ++id) list.set(model.pieces[id], static_cast<Index>(id) + 1);
    list.set("cat sat", list.size());
    for (std::size_t i = 0; i + 1 < cut.size(); ++i) {
      const std::string both = library.piece(cut[i]) + library.piece(cut[i + 1]);
      if (library.id_of(both) < 0 && !list.has(both)) list.set(both, list.size());
    }
    ASSERT_GT(list.size(), std::ssize(model.pieces) + 2);
    write_json(folder_ / "vocab.json", list);
    const auto opened = open(model, R"({"tokenizer_class": "M2M100Tokenizer"})");
    Ids expected = cut;
    for (int& id : expected) id = id == 0 ? 3 : id + 1;
    EXPECT_EQ(opened->encode("the unseen cat sat"), expected);
  }
}

TEST_F(RenumberedPiecesTest, M2m100sListHasTheIds) {
  const PlainVocabulary model = trained(SentencePieceModel::bpe, "nmt_nfkc", kFairseq);
  Json list = Json::object({{"<s>", 0}, {"<pad>", 1}, {"</s>", 2}, {"<unk>", 3}});
  const int count = static_cast<int>(model.pieces.size()) + 1;
  // From the last piece to the first: no shift would do.
  for (std::size_t id = 3; id < model.pieces.size(); ++id)
    list.set(model.pieces[id], count - 1 - (static_cast<int>(id) - 3));
  write_json(folder_ / "vocab.json", list);
  const std::string settings = R"({"tokenizer_class": "M2M100Tokenizer", "language_codes": "m2m100"})";
  const auto opened = open(model, settings);
  EXPECT_EQ(languages_of(*opened).size(), 100U);
  EXPECT_EQ(opened->id_of("__af__"), count);
  EXPECT_EQ(opened->id_of("__zu__"), count + 99);
  const auto library = SentencePieceTokenizer::from_bytes(model_of(model), "library");
  for (const std::string& text : kTexts) {
    Ids expected{opened->id_of("__en__")};
    for (const int id : library.encode(text)) expected.push_back(id == 0 ? 3 : count - 1 - (id - 3));
    expected.push_back(2);
    EXPECT_EQ(opened->encode_special(text).ids, expected) << text;
  }
  EXPECT_EQ(languages_of(*open(model, R"({"tokenizer_class": "M2M100Tokenizer", "language_codes": "wmt21"})")),
            (std::vector<std::string>{"__en__", "__ha__", "__is__", "__ja__", "__cs__", "__ru__", "__zh__", "__de__"}));

  const auto refusal = [&](const std::string& config) { return testing::refusal([&] { open(model, config); }); };
  EXPECT_NE(refusal(R"({"tokenizer_class": "M2M100Tokenizer", "language_codes": "x"})").find("language_codes must be"),
            std::string::npos);
  list.set("the", list["<pad>"]);
  write_json(folder_ / "vocab.json", list);
  EXPECT_NE(refusal(settings).find("vocab.json"), std::string::npos) << refusal(settings);
  write_json(folder_ / "vocab.json", Json::object({{"</s>", 0}, {"<unk>", 1}}));
  EXPECT_NE(refusal(settings).find("vocab.json has no id for the piece '"), std::string::npos) << refusal(settings);
  fs::remove(folder_ / "vocab.json");
  EXPECT_NE(refusal(settings).find("of a M2M100Tokenizer, vocab.json has the ids, which is not there"),
            std::string::npos);
}

TEST_F(RenumberedPiecesTest, PegasusPutsOtherTokensBeforeThePieces) {
  const PlainVocabulary model = trained(SentencePieceModel::unigram, "nmt_nfkc",
                                        {{"<pad>", Type::control}, {"</s>", Type::control}, {"<unk>", Type::unknown}});
  const auto opened = open(model, R"({"tokenizer_class": "PegasusTokenizer"})");
  EXPECT_EQ(opened->size(), std::ssize(model.pieces) + 103);
  EXPECT_EQ(opened->id_of("<mask_2>"), 3);
  EXPECT_EQ(opened->id_of("<unk_2>"), 4);
  EXPECT_EQ(opened->id_of("<unk_102>"), 104);
  EXPECT_EQ(opened->unknown(), 105);
  const auto library = SentencePieceTokenizer::from_bytes(model_of(model), "library");
  for (const std::string& text : kTexts) {
    Ids expected = library.encode(text);
    for (int& id : expected) id += 103;
    expected.push_back(1);
    EXPECT_EQ(opened->encode_special(text).ids, expected) << text;
  }
}

TEST_F(RenumberedPiecesTest, PegasusMayKeepTheModelsIdsAndHasNoThirdWay) {
  const PlainVocabulary model = trained(SentencePieceModel::unigram, "nmt_nfkc",
                                        {{"<pad>", Type::control}, {"</s>", Type::control}, {"<unk>", Type::unknown}});
  const auto kept = open(model, R"({"tokenizer_class": "PegasusTokenizer", "offset": 0})");
  EXPECT_EQ(kept->encode("the cat"), SentencePieceTokenizer::from_bytes(model_of(model), "library").encode("the cat"));
  EXPECT_NE(testing::refusal([&] {
              open(model, R"({"tokenizer_class": "PegasusTokenizer", "offset": 4})");
            }).find("of a PegasusTokenizer, the offset must be 103 or 0, but is 4"),
            std::string::npos);
}

TEST_F(RenumberedPiecesTest, ModelsOfOtherSymbolsAreRefused) {
  const auto refusal = [&](const PlainVocabulary& model, const std::string& name) {
    return testing::refusal([&] { open(model, R"({"tokenizer_class": ")" + name + "\"}"); });
  };
  const PlainVocabulary model = trained(SentencePieceModel::unigram, "nmt_nfkc", kFairseq);
  EXPECT_NE(refusal(model, "PegasusTokenizer").find("the piece 0 must be '<pad>', but is '<unk>'"), std::string::npos);
  PlainVocabulary begun = model;
  begun.pieces.resize(2);
  EXPECT_NE(refusal(begun, "MBartTokenizer").find("the piece 2 must be '</s>', but is not there"), std::string::npos);
  EXPECT_NE(refusal(model, "XGLMTokenizer").find("of the class XGLMTokenizer does more than its model says"),
            std::string::npos);
}

}  // namespace
}  // namespace heed
