#include "heed/text/tokenizer/normaliser.h"

#include <gtest/gtest.h>

#include "heed/testing/refusal.h"

namespace heed {
namespace {

// What the library of tokenizer.json makes of the same.
std::string normalised(std::string_view json, std::string_view text) {
  return read_normaliser(Json::parse(json, "n"))->normalise(text);
}

TEST(Normaliser, FormsOfUnicode) {
  EXPECT_EQ(normalised(R"({"type": "NFC"})", "e\u0301"), "\u00E9");
  EXPECT_EQ(normalised(R"({"type": "NFD"})", "\u00E9"), "e\u0301");
  EXPECT_EQ(normalised(R"({"type": "NFKC"})", "\uFB01\u2460"), "fi1");
  EXPECT_EQ(normalised(R"({"type": "NFKD"})", "\uFB01\u00E9"), "fie\u0301");
}

TEST(Normaliser, LowerCaseIsOfEachCharacter) {
  EXPECT_EQ(normalised(R"({"type": "Lowercase"})", "ÄΣ ΑΣ İX"), "äσ ασ i\u0307x");
}

TEST(Normaliser, MarksGo) {
  EXPECT_EQ(normalised(R"({"type": "StripAccents"})", "e\u0301\u0903x"), "ex");
  EXPECT_EQ(normalised(R"({"type": "StripAccents"})", "\u00E9"), "\u00E9");  // nothing is taken apart
}

// Each of them as of the version of Unicode that the library has for it.
TEST(Normaliser, LaterVersionsOfUnicodeAreKnownInPart) {
  EXPECT_EQ(normalised(R"({"type": "NFKC"})", "\u32FFe\u0301\u32FE"), "\u32FF\u00E9ヲ");
  EXPECT_EQ(normalised(R"({"type": "NFD"})", "\U00011938\u00E9"), "\U00011938e\u0301");
  EXPECT_EQ(normalised(R"({"type": "NFC"})", "\U00011935\U00011930"), "\U00011935\U00011930");
  // A mark of Unicode 14 is no mark: others do not change places with it, and nothing is composed across it.
  EXPECT_EQ(normalised(R"({"type": "NFC"})", "e\u0898\u0323\u0301"), "e\u0898\u0323\u0301");
  EXPECT_EQ(normalised(R"({"type": "NFC"})", "e\u0301\u0323"), "\u1EB9\u0301");
  EXPECT_EQ(normalised(R"({"type": "Lowercase"})", "\u1C89\uA7CB\uA7D4\uA7D6\uA7DC\U00010D50\U00016EA0"),
            "\u1C8A\u0264\uA7D5\uA7D7\u019B\U00010D70\U00016EBB");
  EXPECT_EQ(normalised(R"({"type": "StripAccents"})", "a\u0898\u1CF2\u1DF5"), "a\u0898");
  EXPECT_EQ(normalised(R"({"type": "BertNormalizer"})", "a\u1885\u1734\u0890\u00AD"), "a\u1885\u0890");
}

TEST(Normaliser, BertCleansThenTakesAccents) {
  constexpr std::string_view kBert = R"({"type": "BertNormalizer"})";
  EXPECT_EQ(normalised(kBert, "Größe\t\u00C9\u0001x\uFFFD\u200B"), "große ex");
  EXPECT_EQ(normalised(kBert, "a\u4E2Db\u3042"), "a \u4E2D b\u3042");
  EXPECT_EQ(normalised(kBert, "a\u0085b\u3000c\u000Bd"), "ab cd");
  EXPECT_EQ(normalised(R"({"type": "BertNormalizer", "lowercase": false})", "\u00C9\u4E2D"), "\u00C9 \u4E2D ");
  EXPECT_EQ(normalised(R"({"type": "BertNormalizer", "strip_accents": false, "handle_chinese_chars": false,
                           "clean_text": false})",
                       "\u00C9\u4E2D\t"),
            "\u00E9\u4E2D\t");
}

TEST(Normaliser, SpacesAreStripped) {
  EXPECT_EQ(normalised(R"({"type": "Strip", "strip_left": true, "strip_right": true})", " \u3000a b\n"), "a b");
  EXPECT_EQ(normalised(R"({"type": "Strip", "strip_left": false, "strip_right": true})", " a "), " a");
  EXPECT_EQ(normalised(R"({"type": "Strip", "strip_left": true, "strip_right": false})", "  "), "");
}

TEST(Normaliser, WhatBeginsATextMayBeLost) {
  const auto loses = [](std::string_view json, std::string_view text) {
    return read_normaliser(Json::parse(json, "n"))->loses_first(text);
  };
  constexpr std::string_view kStrip = R"({"type": "Strip"})";
  EXPECT_TRUE(loses(kStrip, " a"));
  EXPECT_FALSE(loses(kStrip, "a "));
  EXPECT_FALSE(loses(kStrip, ""));
  EXPECT_TRUE(loses(R"({"type": "Nmt"})", "\u0001a"));
  constexpr std::string_view kReplace = R"({"type": "Replace", "pattern": {"Regex": "a+|b"}, "content": "x"})";
  EXPECT_TRUE(loses(kReplace, "aac"));
  EXPECT_FALSE(loses(kReplace, "ac"));
  EXPECT_FALSE(loses(kReplace, "caa"));
  EXPECT_TRUE(loses(R"({"type": "Replace", "pattern": {"String": "b"}, "content": ""})", "bc"));
  EXPECT_FALSE(loses(R"({"type": "Prepend", "prepend": "_"})", " a"));
  EXPECT_TRUE(loses(R"({"type": "Sequence", "normalizers": [{"type": "NFC"}, {"type": "Strip"}]})", " a"));
}

TEST(Normaliser, TextIsReplacedAndPrepended) {
  EXPECT_EQ(normalised(R"({"type": "Replace", "pattern": {"String": "aa"}, "content": "b"})", "aaa"), "ba");
  EXPECT_EQ(normalised(R"({"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": "_"})", "a   b c"), "a_b c");
  EXPECT_EQ(normalised(R"({"type": "Prepend", "prepend": "_"})", "a"), "_a");
  EXPECT_EQ(normalised(R"({"type": "Prepend", "prepend": "_"})", ""), "");
}

TEST(Normaliser, NmtMakesSpacesOfWhatIsSpace) {
  EXPECT_EQ(normalised(R"({"type": "Nmt"})", "a\u0001\u200Bb\tc\u000Bd"), "a b cd");
}

TEST(Normaliser, BytesBecomeCharacters) { EXPECT_EQ(normalised(R"({"type": "ByteLevel"})", "a \u00E9"), "aĠÃ©"); }

TEST(Normaliser, StepsComeInOrder) {
  EXPECT_EQ(normalised(R"({"type": "Sequence", "normalizers": [{"type": "NFD"}, {"type": "StripAccents"},
                           {"type": "Lowercase"}]})",
                       "\u00C9A"),
            "ea");
  EXPECT_EQ(normalised(R"({"type": "Sequence", "normalizers": []})", "A"), "A");
  EXPECT_EQ(read_normaliser(Json()), nullptr);
  EXPECT_EQ(normalised(R"({"type": "Replace", "pattern": {"String": ""}, "content": "x"})", "abc"), "xaxbxcx");
}

TEST(Normaliser, WhatIsNotThereIsRefusedByItsPlace) {
  const auto refusal = [](std::string_view json) {
    return testing::refusal([&] { read_normaliser(Json::parse(json, "n")); });
  };
  EXPECT_EQ(refusal(R"({"type": "Magic"})"), "n: type: must be a normalizer that heed has, but is \"Magic\"");
  EXPECT_NE(refusal(R"({"type": "Sequence", "normalizers": [{"type": "Magic"}]})").find("normalizers[0].type"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"type": "Replace", "content": ""})").find("pattern"), std::string::npos);
  EXPECT_NE(refusal(R"({"type": "Replace", "pattern": {"Regex": "("}, "content": ""})").find("pattern"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"type": "Precompiled", "precompiled_charsmap": "!"})").find("base64"), std::string::npos);
  EXPECT_NE(refusal(R"({"type": "Precompiled", "precompiled_charsmap": "AAAA"})").find("precompiled_charsmap"),
            std::string::npos);
  EXPECT_NE(refusal("[]").find("n: "), std::string::npos);
}

}  // namespace
}  // namespace heed
