// Hostile models: whatever the bytes are, from_bytes throws heed::Error or gives a vocabulary that is safe to use.
#include "heed/text/sentencepiece_model_check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>
#include <span>

#include "heed/base/error.h"
#include "heed/base/random.h"
#include "heed/testing/protobuf_field.h"
#include "heed/text/sentencepiece_vocabulary.h"

namespace heed {
namespace {

using testing::field;
using testing::float_field;
using testing::number_field;

const std::vector<std::string> kTrainedLines = {"the cat sat on the mat", "Der Hund läuft über das grüne Gras.",
                                                "日本語の文章です。"};

std::string trained(SentencePieceModel model, const std::string& normalization) {
  SentencePieceOptions options;
  options.model = model;
  options.vocabulary_size = 120;
  options.normalization = normalization;
  return SentencePieceVocabulary::train(kTrainedLines, options).bytes();
}

// True if the bytes are taken; then the vocabulary is used. False if they are refused by a one-line heed::Error that
// names them.
bool survives(std::string_view bytes) {
  try {
    const auto vocabulary = SentencePieceVocabulary::from_bytes(bytes, "hostile.spm");
    for (const char* text : {"the cat läuft ﬁ ① 日本語。 x", "", "\xFF\xC3", "Å K ℌ ﷺ"}) {
      const auto ids = vocabulary.encode(text);
      vocabulary.decode(ids);
      vocabulary.word_of_pieces(ids);
    }
    for (int id = 0; id < vocabulary.size(); ++id) vocabulary.decode(std::vector<int>{id});
    return true;
  } catch (const Error& error) {
    EXPECT_TRUE(std::string_view(error.what()).starts_with("hostile.spm: ") ||
                std::string_view(error.what()).starts_with("SentencePieceVocabulary::"))
        << error.what();
    EXPECT_EQ(std::string_view(error.what()).find('\n'), std::string_view::npos) << error.what();
    return false;
  }
}

// The parts of a model.
std::string piece(std::string_view text, int type = 1, float score = -1) {
  return field(1, field(1, text) + float_field(2, score) + number_field(3, type));
}
std::string model_bytes(const std::string& more, const std::string& normalizer = "") {
  // Field 42 (here two bytes of tag, as every number over 15) and its neighbours say which ids the symbols have.
  const auto id = [](int number, int value) {
    return std::string{static_cast<char>((number << 3 & 127) | 128), static_cast<char>(number >> 4),
                       static_cast<char>(value)};
  };
  const std::string trainer = number_field(3, 1) + id(40, 1) + id(41, 2) + id(42, 3) + id(43, 0);
  return piece("<pad>", 3, 0) + piece("<unk>", 2, 0) + piece("<s>", 3, 0) + piece("</s>", 3, 0) +
         piece("\xE2\x96\x81") + piece("a") + more + field(2, trainer) + field(3, normalizer);
}
// A normaliser whose trie has these 256 units and these strings.
std::string normalizer(const std::vector<std::uint32_t>& units, std::string_view strings) {
  std::string map(4 + units.size() * 4, '\0');
  const auto size = static_cast<std::uint32_t>(units.size() * 4);
  std::memcpy(map.data(), &size, 4);
  std::ranges::copy(std::as_bytes(std::span(units)), reinterpret_cast<std::byte*>(map.data()) + 4);
  return field(2, map.append(strings));
}
constexpr std::uint32_t link(char label, std::uint32_t offset, bool leaf) {
  return static_cast<unsigned char>(label) | (leaf ? 0x100U : 0U) | offset << 10;
}

TEST(SentencePieceModelCheck, TakesWhatTheTrainerWrites) {
  for (const auto type : {SentencePieceModel::unigram, SentencePieceModel::bpe}) {
    for (const char* normalization : {"identity", "nfkc", "nmt_nfkc", "nfkc_cf", "nmt_nfkc_cf"}) {
      EXPECT_TRUE(survives(trained(type, normalization))) << normalization;
    }
  }
  EXPECT_TRUE(survives(model_bytes("")));
}

// Runs of a character, of each length, which Gemma's model has of spaces and ends of lines.
TEST(SentencePieceModelCheck, TakesAsManyUserDefinedPiecesThatBeginWithOneAnotherAsTheLibraryDoes) {
  const auto runs = [](std::size_t most, const std::string& character) {
    std::string pieces, run = character;
    for (std::size_t length = 1; length <= most; ++length) pieces += piece(run += character, 4, 0);
    return pieces;
  };
  EXPECT_TRUE(survives(model_bytes(runs(64, "\xE2\x96\x81") + piece("aab", 4, 0))));
  EXPECT_FALSE(survives(model_bytes(runs(65, "x"))));
  EXPECT_TRUE(survives(model_bytes(piece(std::string(300, 'x'), 4, 0))));
}

TEST(SentencePieceModelCheck, RefusesEveryCutThatEndsInsideAField) {
  const std::string bytes = trained(SentencePieceModel::bpe, "identity");
  Index refused = 0;
  for (std::size_t size = 0; size < bytes.size(); ++size) refused += survives(bytes.substr(0, size)) ? 0 : 1;
  // A cut between two fields leaves a smaller model of the right form, which may be sound; nothing else may pass.
  EXPECT_GT(refused, static_cast<Index>(bytes.size()) * 9 / 10);
  const std::string large = trained(SentencePieceModel::unigram, "nmt_nfkc");
  for (const std::size_t left : {large.size() - 1, large.size() / 2, large.size() / 3}) {
    EXPECT_FALSE(survives(large.substr(0, left)));
  }
}

TEST(SentencePieceModelCheck, RefusesRandomBytes) {
  Rng rng(1);
  for (int round = 0; round < 2000; ++round) {
    std::string bytes(rng.below(300), '\0');
    for (char& byte : bytes) byte = static_cast<char>(rng.below(256));
    EXPECT_FALSE(survives(bytes));
  }
}

TEST(SentencePieceModelCheck, SurvivesChangedBytes) {
  Rng rng(2);
  for (const auto type : {SentencePieceModel::unigram, SentencePieceModel::bpe}) {
    const std::string sound = trained(type, "identity");
    for (int round = 0; round < 1500; ++round) {
      std::string bytes = sound;
      for (Index changes = 1 + rng.below(4); changes > 0; --changes) {
        bytes[rng.below(static_cast<Index>(bytes.size()))] = static_cast<char>(rng.below(256));
      }
      survives(bytes);
    }
  }
  const std::string sound = trained(SentencePieceModel::unigram, "nmt_nfkc");
  for (int round = 0; round < 100; ++round) {
    std::string bytes = sound;
    for (int changes = 0; changes < 3; ++changes) {
      bytes[rng.below(static_cast<Index>(bytes.size()))] = static_cast<char>(rng.below(256));
    }
    survives(bytes);
  }
}

TEST(SentencePieceModelCheck, RefusesUnsoundPieces) {
  EXPECT_FALSE(survives(model_bytes(piece(""))));
  EXPECT_FALSE(survives(model_bytes(piece("a"))));  // twice
  EXPECT_FALSE(survives(model_bytes(piece("\xFF"))));
  EXPECT_FALSE(survives(model_bytes(piece(std::string_view("b\0c", 3)))));
  EXPECT_FALSE(survives(model_bytes(piece("b\x1B[31m"))));
  EXPECT_FALSE(survives(model_bytes(piece("b\xC2\x9B"))));
  EXPECT_FALSE(survives(model_bytes(piece("b", 0))));
  EXPECT_FALSE(survives(model_bytes(piece("b", 7))));
  EXPECT_FALSE(survives(model_bytes(piece("b", 6))));  // a byte piece that is no byte
  EXPECT_FALSE(survives(model_bytes(piece("b", 2))));  // a second unknown symbol
  EXPECT_FALSE(survives(model_bytes(piece("b", 1, std::numeric_limits<float>::quiet_NaN()))));
  EXPECT_FALSE(survives(model_bytes(piece("b", 1, std::numeric_limits<float>::infinity()))));
  EXPECT_FALSE(survives(model_bytes(piece("b", 1, 1e30F))));
  EXPECT_TRUE(survives(model_bytes(piece("b", 4) + piece("bb", 4) + piece("c", 5))));
}

TEST(SentencePieceModelCheck, RefusesATextForTheUnknownPieceThatIsNone) {
  const auto shown = [](std::string_view text) {  // unk_surface, field 44 of the trainer's
    return field(2, "\xE2\x02" + std::string(1, static_cast<char>(text.size())) + std::string(text));
  };
  EXPECT_TRUE(survives(model_bytes(shown(" \xE2\x81\x87 "))));
  EXPECT_FALSE(survives(model_bytes(shown("b\x81\x87"))));
  EXPECT_FALSE(survives(model_bytes(shown("\x1B[31m"))));
  EXPECT_FALSE(survives(model_bytes(field(2, std::string("\xE0\x02\x01", 3)))));  // a number
}

TEST(SentencePieceModelCheck, RefusesOtherIdsForTheSymbols) {
  EXPECT_FALSE(survives(piece("<unk>", 2) + piece("<s>", 3) + piece("</s>", 3) + piece("a")));
  EXPECT_FALSE(survives(piece("a") + model_bytes("")));
}

TEST(SentencePieceModelCheck, RefusesWordsMarkedAtTheirEndOrNotAtAll) {
  EXPECT_FALSE(survives(model_bytes(field(2, std::string("\xC0\x01\x01", 3)))));  // treat_whitespace_as_suffix
  EXPECT_FALSE(survives(model_bytes("", number_field(5, 0))));                    // escape_whitespaces
  EXPECT_TRUE(survives(model_bytes("", number_field(5, 1))));
}

TEST(SentencePieceModelCheck, FollowsTheNormaliserToItsStrings) {
  // "c" -> "a": the root's children begin at 0 ^ 128; the unit at 128 ^ 'c' has its leaf at its own index ^ 1.
  std::vector<std::uint32_t> units(256, 0x80000000U);  // no byte's label
  units[0] = link(0, 128, false);
  units[128 ^ 'c'] = link('c', 1, true);
  units[128 ^ 'c' ^ 1] = 0x80000000U | 2;
  const std::string strings("x\0a\0", 4);
  const std::string sound = model_bytes("", normalizer(units, strings));
  ASSERT_TRUE(survives(sound));
  const auto vocabulary = SentencePieceVocabulary::from_bytes(sound, "sound.spm");
  EXPECT_EQ(vocabulary.decode(vocabulary.encode("c")), "a");

  auto changed = units;
  changed[128 ^ 'c' ^ 1] = 0x80000000U | 4;  // a string past the last
  EXPECT_FALSE(survives(model_bytes("", normalizer(changed, strings))));
  EXPECT_FALSE(survives(model_bytes("", normalizer(units, std::string_view("x\0a", 3)))));         // not ended
  EXPECT_FALSE(survives(model_bytes("", normalizer(units, std::string_view("x\0\xFF\0", 4)))));    // not UTF-8
  EXPECT_FALSE(survives(model_bytes("", normalizer(units, std::string_view("x\xC3\xA4\0", 4)))));  // inside a character
  EXPECT_FALSE(survives(model_bytes("", normalizer(units, ""))));
  EXPECT_FALSE(survives(model_bytes("", normalizer({}, strings))));
  changed = units;
  changed[128 ^ 'c'] = link('c', 1 << 20, false);  // children outside the trie
  EXPECT_FALSE(survives(model_bytes("", normalizer(changed, strings))));
  changed = units;
  changed[128 ^ 'c'] = link('c', 'c', false);  // its own child: "cccc..." has no end
  EXPECT_FALSE(survives(model_bytes("", normalizer(changed, strings))));
  EXPECT_FALSE(survives(model_bytes("", field(2, "abc"))));
  EXPECT_FALSE(survives(model_bytes("", field(2, std::string_view("\xFF\xFF\xFF\x7F____", 8)))));
}

}  // namespace
}  // namespace heed
