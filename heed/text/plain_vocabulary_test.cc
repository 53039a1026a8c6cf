#include "heed/text/plain_vocabulary.h"

#include <gtest/gtest.h>
#include <sentencepiece_processor.h>

#include <cstring>
#include <limits>

#include "heed/base/file.h"
#include "heed/io/json.h"
#include "heed/testing/data_folder.h"
#include "heed/testing/refusal.h"
#include "heed/text/open_tokenizer.h"

namespace heed {
namespace {

using testing::case_texts;

namespace fs = std::filesystem;
using Ids = std::vector<int>;
using Kind = PlainVocabulary::Kind;
using Type = PlainVocabulary::Type;

// llama2.c's file: the longest piece's length, then of each piece its score (f32), its length and its bytes, with
// spaces where SentencePiece has marks.
PlainVocabulary read_llama2c(const fs::path& path) {
  const std::string bytes = read_file(path);
  PlainVocabulary plain;
  for (std::size_t at = 4; at < bytes.size();) {
    float score;
    std::int32_t length;
    std::memcpy(&score, bytes.data() + at, 4);
    std::memcpy(&length, bytes.data() + at + 4, 4);
    plain.scores.push_back(score);
    plain.pieces.push_back(bytes.substr(at + 8, static_cast<std::size_t>(length)));
    at += 8 + static_cast<std::size_t>(length);
  }
  plain.symbols = {.unknown = 0, .begin = 1, .end = 2};
  plain.before = {1};
  return plain;
}

TEST(PlainVocabulary, Llama2cReadsItsStory) {
  HEED_DATA_OR_SKIP(data, "models/stories260K/tok512.bin");
  HEED_DATA_OR_SKIP(cases, "models/llama-stories260k-hf/cases.json");
  const Tokenizer tokenizer = make_tokenizer(read_llama2c(data), "tok512.bin");
  EXPECT_EQ(tokenizer.size(), 512);
  for (const Json& item : read_json(cases)["cases"].items()) {
    if (!item["expect"].has("text")) continue;
    Ids ids;
    for (const Index id : item["expect"]["ids"].integer_list()) ids.push_back(static_cast<int>(id));
    const std::string story = item["expect"]["text"].string();
    EXPECT_EQ(tokenizer.decode(ids), story);
    const EncodedText again = tokenizer.encode_special(story);
    EXPECT_EQ(tokenizer.decode(again.ids), story);
    EXPECT_EQ(again.ids.front(), 1);
  }
  EXPECT_EQ(tokenizer.encode_special("Once upon a time").ids, (Ids{1, 403, 407, 261, 378}));
  EXPECT_EQ(tokenizer.decode(tokenizer.encode("ж é")), "ж é");  // byte by byte
}

// A model's pieces, scores and types are all that SentencePiece itself uses.
TEST(PlainVocabulary, ScoresGiveSentencePiecesIds) {
  HEED_DATA_OR_SKIP(data, "tokenizers/mistral-spm-bpe-v1");
  sentencepiece::SentencePieceProcessor processor;
  ASSERT_TRUE(processor.Load((data / "tokenizer.model").string()).ok());
  PlainVocabulary plain;
  for (int id = 0; id < processor.GetPieceSize(); ++id) {
    plain.pieces.push_back(processor.IdToPiece(id));
    plain.scores.push_back(processor.GetScore(id));
    plain.types.push_back(processor.IsControl(id)   ? Type::control
                          : processor.IsUnknown(id) ? Type::unknown
                          : processor.IsByte(id)    ? Type::byte
                                                    : Type::normal);
  }
  plain.symbols = {.unknown = 0, .begin = 1, .end = 2};
  const Tokenizer tokenizer = make_tokenizer(plain, "mistral");
  const auto reference = open_tokenizer(data);
  for (const std::string& text : case_texts(data)) {
    if (text.find("<") != std::string::npos) continue;  // tokens that a text spells
    EXPECT_EQ(tokenizer.encode(text), reference->encode(text)) << text;
    EXPECT_EQ(tokenizer.decode(tokenizer.encode(text)), reference->decode(reference->encode(text))) << text;
  }
}

TEST(PlainVocabulary, MergesGiveGpt2sAndQwensIds) {
  for (const auto& [name, cut] : {std::pair{"gpt2", "gpt-2"}, std::pair{"qwen3", "qwen2"}}) {
    HEED_DATA_OR_SKIP(data, fs::path("tokenizers") / name);
    const Json json = read_json(data / "tokenizer.json");
    const auto reference = open_tokenizer(data);
    PlainVocabulary plain{.kind = Kind::gpt2};
    plain.cut = cut;
    for (int id = 0; id < reference->size(); ++id) {
      plain.pieces.push_back(reference->piece(id));
      plain.types.push_back(reference->is_special(id) ? Type::control : Type::normal);
    }
    for (const Json& item : json["added_tokens"].items()) {
      Type& type = plain.types[static_cast<std::size_t>(item["id"].integer())];
      if (type == Type::normal) type = Type::user_defined;
    }
    for (const Json& merge : json["model"]["merges"].items()) {
      plain.merges.push_back(merge.kind() == Json::Kind::string
                                 ? merge.string()
                                 : merge[Index{0}].string() + " " + merge[Index{1}].string());
    }
    const Tokenizer tokenizer = make_tokenizer(plain, name);
    for (const std::string& text : case_texts(data)) {
      const Ids ids = reference->encode(text);
      if (reference->decode(ids, Specials::keep) != text) continue;  // it was normalised
      EXPECT_EQ(tokenizer.encode(text), ids) << name << ": " << text;
      EXPECT_EQ(tokenizer.decode(ids), reference->decode(ids)) << name << ": " << text;
    }
  }
}

TEST(PlainVocabulary, EachWayToCutCutsWhereItsModelsDo) {
  PlainVocabulary plain{.kind = Kind::gpt2};
  plain.pieces = {"1", "2", "3", "4", "Ġ", "a", ".", "b", "12", "23", "34", "Ġa", "..", "ab", "Ċ", ".b"};
  plain.merges = {"1 2", "2 3", "3 4", "Ġ a", ". .", "a b", ". b"};
  const auto pieces = [&](std::string_view cut, std::string_view text) {
    plain.cut = cut;
    const Tokenizer tokenizer = make_tokenizer(plain, "p");
    std::string all;
    for (const int id : tokenizer.encode(text)) all += tokenizer.piece(id) + "|";
    return all;
  };
  EXPECT_EQ(pieces("gpt-2", "1234 a..b"), "12|34|Ġa|..|b|");
  EXPECT_EQ(pieces("llama-bpe", "1234 a..b"), "12|3|4|Ġa|..|b|");
  EXPECT_EQ(pieces("qwen2", "1234"), "1|2|3|4|");
  EXPECT_EQ(pieces("starcoder", "12 a"), "1|2|Ġa|");
  EXPECT_EQ(pieces("falcon", "1234 a..b"), "12|3|4|Ġa|..|b|");
  EXPECT_EQ(pieces("deepseek-v3", "1234.b\n"), "12|3|4|.b|Ċ|");
  EXPECT_EQ(pieces("deepseek-coder", "12 a.b\n"), "1|2|Ġa|.|b|Ċ|");
  // Of Llama's third models a word that is a piece is taken for it, merges or none.
  plain.merges = {"1 2"};
  EXPECT_EQ(pieces("llama-bpe", "ab"), "ab|");
  EXPECT_EQ(pieces("dbrx", "ab"), "a|b|");
}

TEST(PlainVocabulary, WordPiecesMayHaveMarksInsteadOfPrefixes) {
  PlainVocabulary plain{.kind = Kind::bert};
  plain.pieces = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "\u2581dog", "s", "\u2581a"};
  plain.symbols = {.pad = 0, .unknown = 1, .classifier = 2, .separator = 3};
  const Tokenizer tokenizer = make_tokenizer(plain, "bert");
  EXPECT_EQ(tokenizer.encode_special("A dogs").ids, (Ids{2, 6, 4, 5, 3}));
  EXPECT_EQ(tokenizer.piece(5), "##s");
  plain.pieces = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "dog", "##s", "a"};
  EXPECT_EQ(make_tokenizer(plain, "bert").encode_special("A dogs").ids, (Ids{2, 6, 4, 5, 3}));
}

TEST(PlainVocabulary, UnigramModelsCutByScore) {
  PlainVocabulary plain{.kind = Kind::t5};
  plain.pieces = {"<pad>", "</s>", "<unk>", "\u2581a", "b", "\u2581ab", "\u2581"};
  plain.scores = {0, 0, 0, -1, -1, -1.5, -4};
  plain.symbols = {.pad = 0, .unknown = 2, .end = 1};
  plain.behind = {1};
  plain.single_spaces = true;
  const Tokenizer tokenizer = make_tokenizer(plain, "t5");
  EXPECT_EQ(tokenizer.encode_special(" ab   a ").ids, (Ids{5, 3, 1}));
  EXPECT_EQ(tokenizer.decode(Ids{5, 3, 1}), "ab a");
}

TEST(PlainVocabulary, ListsThatDoNotFitAreRefused) {
  const auto refusal = [](const PlainVocabulary& plain) {
    return testing::refusal([&] { make_tokenizer(plain, "x.gguf"); });
  };
  PlainVocabulary plain;
  EXPECT_EQ(refusal(plain), "x.gguf: the vocabulary has no pieces");
  plain.pieces = {"<unk>", "a"};
  EXPECT_EQ(refusal(plain), "x.gguf: the vocabulary has 2 pieces and 0 scores");
  plain.scores = {0, 0};
  EXPECT_EQ(refusal(plain), "no error");
  plain.types = {Type::unknown};
  EXPECT_EQ(refusal(plain), "x.gguf: the vocabulary has 2 pieces and 1 types");
  plain.types.clear();
  plain.symbols.end = 2;
  EXPECT_EQ(refusal(plain), "x.gguf: the symbol end has the id 2, in a vocabulary of 2");
  plain.symbols = {.unknown = 0};
  for (const int id : {-1, 2}) {
    plain.before = {id};
    EXPECT_EQ(refusal(plain), "x.gguf: a text has a symbol around it that the vocabulary has not");
  }
  plain.before.clear();
  plain.scores[1] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_NE(refusal(plain).find("the piece 1 has the score nan"), std::string::npos) << refusal(plain);
  PlainVocabulary gpt2{.kind = Kind::gpt2};
  gpt2.pieces = {"a"};
  gpt2.cut = "magic";
  EXPECT_EQ(refusal(gpt2), "x.gguf: text is to be cut as 'magic', which is not known");
  gpt2.cut = "";
  gpt2.merges = {"a b"};
  EXPECT_EQ(refusal(gpt2), "x.gguf: model: merge 1: 'b' is not in the vocabulary");
  gpt2.pieces = {"\xFF"};
  EXPECT_NE(refusal(gpt2).find("not valid UTF-8"), std::string::npos);
}

}  // namespace
}  // namespace heed
