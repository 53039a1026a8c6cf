#include "heed/text/tokenizer/piece_decoder.h"

#include <gtest/gtest.h>

#include "heed/testing/refusal.h"

namespace heed {
namespace {

std::string decoded(std::string_view json, std::vector<std::string> pieces) {
  std::string text;
  for (const std::string& part : read_piece_decoder(Json::parse(json, "d"))->decode(std::move(pieces))) text += part;
  return text;
}

TEST(PieceDecoder, WithoutOnePiecesStandApart) { EXPECT_EQ(decoded("null", {"a", "b"}), "a b"); }

TEST(PieceDecoder, BytesBecomeText) {
  constexpr std::string_view kBytes = R"({"type": "ByteLevel"})";
  EXPECT_EQ(decoded(kBytes, {"ĠÃ", "©x"}), " \u00E9x");
  EXPECT_EQ(decoded(kBytes, {"Ã"}), "\uFFFD");
  EXPECT_EQ(decoded(kBytes, {"中a"}), "中a");  // no byte stands for it: the piece is text
}

TEST(PieceDecoder, PiecesOfBytesAreTextWhereAllOfARunIs) {
  constexpr std::string_view kFallback = R"({"type": "ByteFallback"})";
  EXPECT_EQ(decoded(kFallback, {"<0xC3>", "<0xA9>", "a"}), "\u00E9a");
  EXPECT_EQ(decoded(kFallback, {"<0xC3>", "<0xA9>", "<0xC3>", "a"}), "\uFFFD\uFFFD\uFFFDa");
  EXPECT_EQ(decoded(kFallback, {"<0xZZ>", "<0x41>"}), "<0xZZ>A");
}

TEST(PieceDecoder, WordPiecesAreJoinedAndCleaned) {
  EXPECT_EQ(decoded(R"({"type": "WordPiece", "prefix": "##", "cleanup": true})", {"do", "n't", "##x", "!", "##"}),
            "don'tx!");
  EXPECT_EQ(decoded(R"({"type": "WordPiece", "prefix": "##", "cleanup": false})", {"a", "!"}), "a !");
}

TEST(PieceDecoder, MarksBecomeSpaces) {
  EXPECT_EQ(decoded(R"({"type": "Metaspace", "replacement": "_"})", {"_a", "_b_"}), "a b ");
  EXPECT_EQ(decoded(R"({"type": "Metaspace", "replacement": "_", "prepend_scheme": "never"})", {"_a"}), " a");
  EXPECT_EQ(decoded(R"({"type": "BPEDecoder", "suffix": "</w>"})", {"a</w>", "b", "c</w>"}), "a bc");
}

TEST(PieceDecoder, PiecesAreStrippedReplacedAndFused) {
  EXPECT_EQ(decoded(R"({"type": "Strip", "content": "é", "start": 1, "stop": 1})", {"ééaé", "é", "x"}), "éax");
  EXPECT_EQ(decoded(R"({"type": "Replace", "pattern": {"String": "_"}, "content": " "})", {"a_b", "_"}), "a b ");
  EXPECT_EQ(decoded(R"({"type": "Sequence", "decoders": [{"type": "Fuse"},
                        {"type": "Strip", "content": " ", "start": 1, "stop": 0}]})",
                    {" a", " b"}),
            "a b");
  EXPECT_EQ(decoded(R"({"type": "CTC", "pad_token": "_", "word_delimiter_token": "|", "cleanup": true})",
                    {"a", "a", "_", "a", "|", "b"}),
            "aa b");
}

// Unicode 15, table 3-8: the longest parts that could begin a character.
TEST(PieceDecoder, EachUnreadablePartIsOneMark) {
  EXPECT_EQ(valid_text("a\xF1\x80\x80\xE1\x80\xC2\x62\x80\x63\x80\xBF\x64"),
            "a\uFFFD\uFFFD\uFFFDb\uFFFDc\uFFFD\uFFFDd");
  EXPECT_EQ(valid_text("\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41"), "\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\x41");
  EXPECT_EQ(valid_text("\xED\xA0\x80\xF4\x91"), "\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(valid_text("\xF0\x9F\x98"), "\uFFFD");
  EXPECT_EQ(valid_text("läuft"), "läuft");
}

TEST(PieceDecoder, WhatIsNotThereIsRefusedByItsPlace) {
  const auto refusal = [](std::string_view json) {
    return testing::refusal([&] { read_piece_decoder(Json::parse(json, "d")); });
  };
  EXPECT_EQ(refusal(R"({"type": "Magic"})"), "d: type: must be a decoder that heed has, but is \"Magic\"");
  EXPECT_NE(refusal(R"({"type": "Sequence", "decoders": [null]})").find("decoders[0]"), std::string::npos);
  EXPECT_NE(refusal(R"({"type": "Strip", "content": "", "start": 0, "stop": 0})").find("content"), std::string::npos);
}

}  // namespace
}  // namespace heed
