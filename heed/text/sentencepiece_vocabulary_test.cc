#include "heed/text/sentencepiece_vocabulary.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <set>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/file_writer.h"
#include "heed/base/text_lines.h"
#include "heed/testing/data_folder.h"
#include "heed/testing/refusal.h"
#include "heed/testing/scratch_test.h"

namespace heed {
namespace {

// The first article of the Universal Declaration of Human Rights, and other sentences, in several scripts.
const std::vector<std::string> kLines = {
    "All human beings are born free and equal in dignity and rights.",
    "Alle Menschen sind frei und gleich an Würde und Rechten geboren.",
    "Все люди рождаются свободными и равными в своём достоинстве и правах.",
    "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。",
    "人人生而自由,在尊严和权利上一律平等。",
    "يولد جميع الناس أحراراً متساوين في الكرامة والحقوق.",
    "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다.",
    "Semua orang dilahirkan merdeka: 3,14 < 42 & \"x\" = 'y'; a_b/c\\d (e) [f] {g} 😀!",
};

SentencePieceOptions options_of(SentencePieceModel model, Index size = 300) {
  return {.model = model, .vocabulary_size = size};
}

class SentencePieceVocabularyTest : public testing::ScratchTest,
                                    public ::testing::WithParamInterface<SentencePieceModel> {};

INSTANTIATE_TEST_SUITE_P(BothModels, SentencePieceVocabularyTest,
                         ::testing::Values(SentencePieceModel::unigram, SentencePieceModel::bpe),
                         [](const auto& model) { return model.param == SentencePieceModel::bpe ? "bpe" : "unigram"; });

TEST_P(SentencePieceVocabularyTest, RoundTripsTextInManyScripts) {
  const auto vocabulary = SentencePieceVocabulary::train(kLines, options_of(GetParam()));
  for (const std::string& line : kLines) {
    const std::vector<int> ids = vocabulary.encode(line);
    EXPECT_EQ(vocabulary.decode(ids), line);
    for (const int id : ids) EXPECT_GT(id, kOwnSymbols.end) << line;
  }
  EXPECT_EQ(vocabulary.decode(vocabulary.encode("freie Würde")), "freie Würde");
  EXPECT_EQ(vocabulary.kind(), "sentencepiece");
}

TEST_P(SentencePieceVocabularyTest, NormalisesToNfkcWithSingleSpaces) {
  const auto vocabulary = SentencePieceVocabulary::train(kLines, options_of(GetParam()));
  EXPECT_EQ(vocabulary.decode(vocabulary.encode("  alle \t  Menschen\xC2\xA0"
                                                "frei\xE3\x80\x80")),
            "alle Menschen frei");
  EXPECT_EQ(vocabulary.decode(vocabulary.encode("\xEF\xBC\xA1ll \xEF\xAC\x81n W\x75\xCC\x88rde")), "All fin Würde");
  EXPECT_TRUE(vocabulary.encode("").empty());
  EXPECT_TRUE(vocabulary.encode(" \t\xC2\xA0").empty());
  EXPECT_EQ(vocabulary.decode({}), "");
}

TEST_P(SentencePieceVocabularyTest, HasTheFourSymbolsAndDistinctPieces) {
  const auto vocabulary = SentencePieceVocabulary::train(kLines, options_of(GetParam()));
  EXPECT_EQ(vocabulary.piece(vocabulary.pad()), "<pad>");
  EXPECT_EQ(vocabulary.piece(vocabulary.unknown()), "<unk>");
  EXPECT_EQ(vocabulary.piece(vocabulary.begin()), "<s>");
  EXPECT_EQ(vocabulary.piece(vocabulary.end()), "</s>");
  std::set<std::string> pieces;
  for (int id = 0; id < vocabulary.size(); ++id) pieces.insert(vocabulary.piece(id));
  EXPECT_EQ(static_cast<Index>(pieces.size()), vocabulary.size());
  EXPECT_LE(vocabulary.size(), 300);
}

TEST_P(SentencePieceVocabularyTest, SkipsSymbolsAndShowsUnknown) {
  const auto vocabulary = SentencePieceVocabulary::train(kLines, options_of(GetParam()));
  std::vector<int> ids = vocabulary.encode("frei und");
  ids.insert(ids.begin(), {vocabulary.begin(), vocabulary.pad()});
  ids.insert(ids.end(), {vocabulary.end(), vocabulary.pad()});
  EXPECT_EQ(vocabulary.decode(ids), "frei und");
  EXPECT_EQ(vocabulary.decode(vocabulary.encode("frei ツ und")), "frei ⁇ und");
}

TEST_P(SentencePieceVocabularyTest, TextNeverBecomesASymbol) {
  const auto vocabulary = SentencePieceVocabulary::train(
      std::vector<std::string>{"<s> </s> <pad> <unk>", "< s > / u n k p a d"}, options_of(GetParam()));
  for (const char* text : {"<s>", "</s>", "<pad> x", "a<s>b", "<unk></s>"}) {
    for (const int id : vocabulary.encode(text)) EXPECT_TRUE(id == kOwnSymbols.unknown || id > kOwnSymbols.end) << text;
  }
}

TEST_P(SentencePieceVocabularyTest, ByteFallbackLeavesNothingUnknown) {
  auto options = options_of(GetParam(), 600);
  options.byte_fallback = true;
  const auto vocabulary = SentencePieceVocabulary::train(kLines, options);
  const std::string text = "frei ツ𝛁 und";  // the second is folded by NFKC
  for (const int id : vocabulary.encode(text)) EXPECT_NE(id, kOwnSymbols.unknown);
  EXPECT_EQ(vocabulary.decode(vocabulary.encode(text)), "frei ツ∇ und");
  options.vocabulary_size = 300;
  EXPECT_THROW(SentencePieceVocabulary::train(kLines, options), Error);
}

TEST_P(SentencePieceVocabularyTest, NoControlCharacterIsLearnedOrWritten) {
  auto options = options_of(GetParam(), 400);
  options.normalization = "identity";
  const std::vector<std::string> lines = {
      "a\x1B[31mb\xC2\x85"
      "c\x7F d\x01",
      "a b c d\xC2\xA0"};
  const auto vocabulary = SentencePieceVocabulary::train(lines, options);
  EXPECT_EQ(vocabulary.decode(vocabulary.encode("a b c d\xC2\xA0")), "a b c d\xC2\xA0");
  EXPECT_EQ(vocabulary.decode(vocabulary.encode("a\x1B"
                                                "b")),
            "a⁇b");
  options.byte_fallback = true;
  const auto with_bytes = SentencePieceVocabulary::train(lines, options);
  EXPECT_EQ(with_bytes.decode(with_bytes.encode("a\x1B"
                                                "b\nc\xC2\x9B"
                                                "d")),
            "a b c d");
}

// The unigram trainer's time grows with the square of a sentence: a long line is several. One word stands both before a
// space and at the end of a sentence, so that it is a candidate for a piece only where there are such ends.
TEST_P(SentencePieceVocabularyTest, ALongLineIsLearnedFromAsSeveralSentences) {
  const std::string at_ends = "xyzzyxzyxyzxxyz";
  std::string line;
  std::vector<std::string> sentences(3);
  std::uint32_t state = 1;
  for (std::string& sentence : sentences) {
    while (sentence.size() < 4095) {
      std::string word = at_ends;
      for (char& letter : word) {
        state = state * 1664525 + 1013904223;
        letter = static_cast<char>('a' + (state >> 24) % 3);
      }
      const bool last = sentence.size() + word.size() == 4095 && &sentence != &sentences.back();
      sentence += last || state % 8 == 0 ? at_ends : word;
      if (sentence.size() < 4095) sentence += ' ';
    }
    line += (line.empty() ? "" : " ") + sentence;
  }
  const auto of_line = SentencePieceVocabulary::train(std::vector<std::string>{line}, options_of(GetParam(), 100));
  const auto of_sentences = SentencePieceVocabulary::train(sentences, options_of(GetParam(), 100));
  EXPECT_TRUE(of_line.bytes() == of_sentences.bytes());
}

TEST_P(SentencePieceVocabularyTest, FindsTheWordOfEachPiece) {
  const auto vocabulary = SentencePieceVocabulary::train(kLines, options_of(GetParam(), 180));
  for (const std::string& line : kLines) {
    std::vector<int> ids = vocabulary.encode(line);
    ids.insert(ids.begin(), kOwnSymbols.begin);
    ids.push_back(kOwnSymbols.end);
    const std::vector<int> words = vocabulary.word_of_pieces(ids);
    ASSERT_EQ(words.size(), ids.size());
    EXPECT_EQ(words.front(), -1);
    EXPECT_EQ(words.back(), -1);
    // The pieces of each word, decoded alone, are that word of the sentence.
    std::string rebuilt;
    for (int word = 0; word <= words[words.size() - 2]; ++word) {
      std::vector<int> pieces;
      for (std::size_t i = 0; i < ids.size(); ++i) {
        if (words[i] == word) pieces.push_back(ids[i]);
      }
      EXPECT_FALSE(pieces.empty());
      rebuilt += (word > 0 ? " " : "") + vocabulary.decode(pieces);
    }
    EXPECT_EQ(rebuilt, line);
  }
}

TEST_P(SentencePieceVocabularyTest, CountsWordsOfOddPieceSequences) {
  const auto vocabulary = SentencePieceVocabulary::train(std::vector<std::string>{"a b"}, options_of(GetParam()));
  int a = -1, space = -1;
  for (int id = 0; id < vocabulary.size(); ++id) {
    if (vocabulary.piece(id) == "a") a = id;
    if (vocabulary.piece(id) == "▁") space = id;
  }
  ASSERT_GE(a, 0);
  ASSERT_GE(space, 0);
  const auto words = [&](std::vector<int> ids) { return vocabulary.word_of_pieces(ids); };
  EXPECT_EQ(words({a, a, space, a}), (std::vector<int>{0, 0, 1, 1}));
  EXPECT_EQ(words({space, space, a, 3, space, space}), (std::vector<int>{0, 0, 0, -1, 0, 0}));
  EXPECT_EQ(words({space, 1, a, space, 1}), (std::vector<int>{0, 0, 0, 1, 1}));
  EXPECT_EQ(words({space, 2}), (std::vector<int>{-1, -1}));
}

TEST_P(SentencePieceVocabularyTest, TrainsOnTinyTexts) {
  const std::vector<std::vector<std::string>> texts = {{"a"},         {"ab"},         {"aaaa aaaa"},
                                                       {"Ein Hund."}, {"", " ", "x"}, {"日本語の文章です"},
                                                       {"😀"},         {"a\tb"},       {"x", "x", "x"}};
  for (const auto& text : texts) {
    const auto vocabulary = SentencePieceVocabulary::train(text, options_of(GetParam(), 8000));
    EXPECT_LT(vocabulary.size(), 8000);
    std::string expected = text.back();
    std::replace(expected.begin(), expected.end(), '\t', ' ');
    EXPECT_EQ(vocabulary.decode(vocabulary.encode(text.back())), expected);
  }
}

TEST_P(SentencePieceVocabularyTest, KeepsLinesThatTheTrainerWouldDrop) {
  std::string overlong;  // one word of 70,000 characters, which would end the process
  for (int i = 0; i < 35000; ++i) overlong += "aü";
  const std::vector<std::string> text = {"▅ dog", "cat\tfish", std::string("owl\0bee", 7), overlong};
  const auto vocabulary = SentencePieceVocabulary::train(text, options_of(GetParam(), 64));
  EXPECT_EQ(vocabulary.decode(vocabulary.encode("dog cat fish owl bee ü")), "dog cat fish owl bee ü");
}

TEST_P(SentencePieceVocabularyTest, RefusesTextWithNothingVisible) {
  const std::vector<std::vector<std::string>> texts = {
      {}, {""}, {" ", "\t"}, {"\xC2\xA0"}, {"▁"}, {"▅"}, {std::string(1, '\0')}, {"\xE2\x80\x8B"}, {"\x01\x02"}};
  for (const auto& text : texts) EXPECT_THROW(SentencePieceVocabulary::train(text, options_of(GetParam())), Error);
}

TEST_P(SentencePieceVocabularyTest, RefusesOptionsOutOfRange) {
  const auto refuses = [](SentencePieceOptions options, std::string_view part) {
    const std::string message = testing::refusal([&] { SentencePieceVocabulary::train(kLines, options); });
    EXPECT_NE(message.find(part), std::string::npos) << message << "; expected: " << part;
  };
  auto options = options_of(GetParam());
  options.normalization = "nfd";
  refuses(options, "normalization must be one of");
  options = options_of(GetParam());
  options.character_coverage = 1.5;
  refuses(options, "character_coverage");
  refuses(options_of(GetParam(), 4), "vocabulary_size must be in");
  refuses(options_of(GetParam(), 20), "vocabulary_size 20 is too small: the text's characters and the symbols need 1");
  EXPECT_THROW(SentencePieceVocabulary::train(std::vector<std::string>{"a\xC3("}, options_of(GetParam())), Error);
}

TEST_P(SentencePieceVocabularyTest, IsDeterministicAndQuiet) {
  ::testing::internal::CaptureStderr();
  ::testing::internal::CaptureStdout();
  const auto first = SentencePieceVocabulary::train(kLines, options_of(GetParam()));
  const auto second = SentencePieceVocabulary::train(kLines, options_of(GetParam()));
  const auto tiny = SentencePieceVocabulary::train(std::vector<std::string>{"a"}, options_of(GetParam(), 8000));
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(first.bytes(), second.bytes());
}

TEST_P(SentencePieceVocabularyTest, SavedFileLoadsToTheSameIds) {
  const auto vocabulary = SentencePieceVocabulary::train(kLines, options_of(GetParam()));
  vocabulary.save(folder_ / "deeper", "joint");
  const auto loaded = load_vocabulary(folder_ / "deeper", "joint");
  EXPECT_EQ(loaded->kind(), "sentencepiece");
  ASSERT_EQ(loaded->size(), vocabulary.size());
  for (int id = 0; id < vocabulary.size(); ++id) EXPECT_EQ(loaded->piece(id), vocabulary.piece(id));
  for (const auto& line : kLines) EXPECT_EQ(loaded->encode(line), vocabulary.encode(line));
}

TEST_P(SentencePieceVocabularyTest, RefusesIdsOutsideIt) {
  const auto vocabulary = SentencePieceVocabulary::train(kLines, options_of(GetParam()));
  for (const int id : {-1, static_cast<int>(vocabulary.size())}) {
    EXPECT_THROW(vocabulary.piece(id), Error);
    EXPECT_THROW(vocabulary.decode(std::vector<int>{id}), Error);
    EXPECT_THROW(vocabulary.word_of_pieces(std::vector<int>{id}), Error);
  }
}

TEST_P(SentencePieceVocabularyTest, EncodesInvalidUtf8WithoutHarm) {
  const auto vocabulary = SentencePieceVocabulary::train(kLines, options_of(GetParam()));
  for (const std::string& text :
       {std::string("\xFF"), std::string("frei\xC3"), std::string("\0a", 2), std::string("\xF0\x9F")}) {
    EXPECT_NO_THROW(vocabulary.decode(vocabulary.encode(text)));
  }
}

TEST(LoadVocabulary, NeedsExactlyOneFile) {
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "heed_load_vocabulary_test";
  std::filesystem::remove_all(folder);
  const std::string what = testing::refusal([&] { load_vocabulary(folder, "v"); });
  EXPECT_NE(what.find("v.spm"), std::string::npos) << what;
  EXPECT_NE(what.find("v.vocab.txt"), std::string::npos) << what;
  make_folder(folder);
  write_file(folder / "v.spm", "x");
  EXPECT_THROW(load_vocabulary(folder, "v"), Error);
  write_file(folder / "v.vocab.txt", "<pad>\n<unk>\n<s>\n</s>\na\n");
  EXPECT_THROW(load_vocabulary(folder, "v"), Error);
  std::filesystem::remove(folder / "v.spm");
  EXPECT_EQ(load_vocabulary(folder, "v")->size(), 5);
  std::filesystem::remove_all(folder);
}

// The lines of a gzip file; empty where it cannot be read.
std::vector<std::string> read_gzip_lines(const std::filesystem::path& path) {
  std::string text;
  if (std::FILE* pipe = ::popen(("gzip -dc '" + path.string() + "' 2>/dev/null").c_str(), "r")) {
    char buffer[1 << 16];
    for (std::size_t got; (got = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) text.append(buffer, got);
    ::pclose(pipe);
  }
  return split_text_lines(text, path.string());
}

// NFKC for the few characters of Multi30k that it changes (no-break space and tab), and single spaces.
std::string normalised(std::string_view line) {
  std::string out;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const bool no_break = line.substr(i).starts_with("\xC2\xA0");
    if (no_break) ++i;
    const char c = no_break || line[i] == '\t' ? ' ' : line[i];
    if (c != ' ' || (!out.empty() && out.back() != ' ')) out += c;
  }
  if (out.ends_with(' ')) out.pop_back();
  return out;
}

TEST_P(SentencePieceVocabularyTest, RoundTripsMulti30k) {
  HEED_DATA_OR_SKIP(folder, "multi30k");
  std::vector<std::string> lines;
  for (const char* name : {"train.de.gz", "train.en.gz"}) {
    const std::vector<std::string> all = read_gzip_lines(folder / name);
    ASSERT_EQ(all.size(), 29000u);
    for (std::size_t i = 0; i < all.size(); i += 3) lines.push_back(all[i]);  // a third, to take seconds
  }
  const auto vocabulary = SentencePieceVocabulary::train(lines, options_of(GetParam(), 4000));
  EXPECT_EQ(vocabulary.size(), 4000);
  Index pieces = 0, words = 0, wrong = 0;
  for (const std::string& line : lines) {
    const std::vector<int> ids = vocabulary.encode(line);
    const std::string expected = normalised(line);
    if (vocabulary.decode(ids) != expected) {
      ++wrong;
      ADD_FAILURE() << line;
    }
    ASSERT_LT(wrong, 5);
    pieces += static_cast<Index>(ids.size());
    const Index line_words = std::count(expected.begin(), expected.end(), ' ') + (expected.empty() ? 0 : 1);
    words += line_words;
    if (!ids.empty()) {
      ASSERT_EQ(vocabulary.word_of_pieces(ids).back(), line_words - 1) << line;
    }
  }
  EXPECT_LT(static_cast<double>(pieces), 1.6 * static_cast<double>(words));
}

}  // namespace
}  // namespace heed
