#include "heed/tasks/align.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "heed/base/file.h"
#include "heed/base/file_writer.h"
#include "heed/corpus/corpus.h"
#include "heed/layers/drawn_parameters.h"
#include "heed/tasks/trace.h"
#include "heed/testing/refusal.h"
#include "heed/text/sentencepiece_vocabulary.h"
#include "heed/text/whitespace_vocabulary.h"

namespace heed {
namespace {

using testing::refusal;

const std::vector<std::string> kSource = {"ein hund läuft", "das haus", "der hund sieht das haus", "haus", "ein haus"};
const std::vector<std::string> kTarget = {"a dog runs", "the house", "the dog sees the house", "house", "a a house"};

// Words are pieces and alignment tokens at once; the parameters are what chance made them.
ModelFolder chance_model() {
  ModelFolder folder;
  folder.source_vocabulary = std::make_shared<WhitespaceVocabulary>(WhitespaceVocabulary::build(kSource));
  folder.target_vocabulary = std::make_shared<WhitespaceVocabulary>(WhitespaceVocabulary::build(kTarget));
  TransformerConfig& config = folder.config.transformer;
  config.width = 16, config.ffn_width = 16, config.heads = 2, config.encoder_layers = 1, config.decoder_layers = 2;
  config.max_length = 8, config.share_embeddings = false, config.tie_output = false;
  folder.config.set_vocabularies(folder.source_vocabulary->size(), folder.target_vocabulary->size());
  DrawnParameters drawn(Rng(7));
  folder.model = make_model(drawn, folder.config);
  return folder;
}

AlignedText chance_text() {
  AlignedText text{kSource, kTarget, {}, "s", "t"};
  for (std::size_t i = 0; i < kSource.size(); ++i) text.gold.push_back({{{0, 0}}, {{0, 0}}});
  return text;
}

// The definition, from the maps of one sentence alone.
AlignmentLinks links_by_trace(const ModelFolder& folder, std::size_t i, const AttentionHead& head) {
  const AttentionTrace trace = trace_pair(folder, kSource[i], folder.target_vocabulary->encode(kTarget[i]));
  const auto map = std::ranges::find(trace.maps, head.path, &AttentionTrace::Map::path);
  AlignmentLinks links;
  for (Index t = 0; t + 1 < map->queries; ++t) {
    const Index step = t + (head.step == AlignmentStep::reads ? 1 : 0);
    Index most = 0;
    const auto weight = [&](Index j) {
      if (head.head) return map->weight(*head.head, step, j);
      return map->weight(0, step, j) + map->weight(1, step, j);
    };
    for (Index j = 1; j + 1 < map->keys; ++j) {
      if (weight(j) > weight(most)) most = j;
    }
    links.push_back({most, t});
  }
  std::ranges::sort(links);
  return links;
}

double sum(const std::vector<std::vector<double>>& shares, std::size_t piece) {
  double total = 0;
  for (const std::vector<double>& token : shares) total += token[piece];
  return total;
}

TEST(PieceShares, EachPieceIsOfItsWord) {
  const std::vector<std::string> lines = {"ab cd . ef"};
  const WhitespaceVocabulary words = WhitespaceVocabulary::build(lines);
  const std::vector<std::vector<double>> one_each = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  EXPECT_EQ(piece_shares(words, "ab cd ."), one_each);
  EXPECT_EQ(piece_shares(words, "ab  unknown-word ef"), one_each);
  EXPECT_TRUE(piece_shares(words, "  ").empty());
}

TEST(PieceShares, APieceOverSeveralTokensIsSharedByTheirCharacters) {
  const std::vector<std::string> lines = {"läuft. b"};
  const WhitespaceVocabulary words = WhitespaceVocabulary::build(lines);
  const auto shares = piece_shares(words, "läuft. b");
  ASSERT_EQ(shares.size(), 3u);  // läuft . b
  EXPECT_NEAR(shares[0][0], 5.0 / 6, 1e-12);
  EXPECT_NEAR(shares[1][0], 1.0 / 6, 1e-12);
  EXPECT_EQ(shares[2], (std::vector<double>{0, 1}));
}

TEST(PieceShares, OfSubwordPiecesAddUpAndKeepTheirPlaces) {
  std::vector<std::string> lines;
  for (const SentencePair& pair : generate_corpus({.pairs = 300, .seed = 4, .validation = 0, .test = 0}).train) {
    lines.push_back(pair.source);
  }
  for (Index size : {80, 150, 400}) {
    const auto pieces = SentencePieceVocabulary::train(
        lines, {.model = SentencePieceModel::bpe, .vocabulary_size = size, .character_coverage = 1.0});
    for (std::size_t i = 0; i < 50; ++i) {
      const std::vector<int> ids = pieces.encode(lines[i]);
      const std::vector<std::string> tokens = alignment_tokens(lines[i]);
      const auto shares = piece_shares(pieces, lines[i]);
      ASSERT_EQ(shares.size(), tokens.size()) << lines[i];
      for (std::size_t p = 0; p < ids.size(); ++p) EXPECT_NEAR(sum(shares, p), 1, 1e-9) << lines[i];
      for (std::size_t t = 0; t < tokens.size(); ++t) {
        // The pieces that are wholly of a token, put together, spell it.
        std::string spelt;
        bool whole = true;
        for (std::size_t p = 0; p < ids.size(); ++p) {
          whole = whole && (shares[t][p] == 0 || shares[t][p] > 1 - 1e-9);
          if (shares[t][p] > 0) spelt += pieces.decode({&ids[p], 1});
        }
        std::erase(spelt, ' ');
        if (whole) {
          EXPECT_EQ(spelt, tokens[t]) << lines[i];
        }
      }
    }
  }
}

TEST(PieceShares, ACharacterThatTheVocabularyLostMovesNothingElse) {
  const std::vector<std::string> lines(20, "der hund sieht das haus .");
  const auto pieces = SentencePieceVocabulary::train(lines, {.model = SentencePieceModel::bpe, .vocabulary_size = 30});
  const auto shares = piece_shares(pieces, "der XYZ das haus.");
  ASSERT_EQ(shares.size(), 5u);
  const std::vector<int> ids = pieces.encode("der XYZ das haus.");
  for (std::size_t p = 0; p < ids.size(); ++p) EXPECT_NEAR(sum(shares, p), 1, 1e-9);
  EXPECT_GT(shares[0].front(), 1 - 1e-9);
  EXPECT_GT(shares[4].back(), 1 - 1e-9);
}

TEST(Align, BatchedLinksAreThoseOfEachSentencesTrace) {
  const ModelFolder folder = chance_model();
  for (const char* path : {"decoder.layers.0.multihead_attn", "decoder.layers.1.multihead_attn"}) {
    for (const std::optional<Index> head : {std::optional<Index>(), std::optional<Index>(0), std::optional<Index>(1)}) {
      for (const AlignmentStep step : {AlignmentStep::produces, AlignmentStep::reads}) {
        const AttentionHead chosen{path, head, step};
        const std::vector<AlignmentLinks> links = align_with_attention(folder, chance_text(), chosen);
        ASSERT_EQ(links.size(), kSource.size());
        for (std::size_t i = 0; i < links.size(); ++i) {
          EXPECT_EQ(links[i], links_by_trace(folder, i, chosen)) << describe(chosen) << ", sentence " << i;
        }
      }
    }
  }
}

TEST(Align, TheSearchTriesEveryHeadAndChoosesTheBest) {
  const ModelFolder folder = chance_model();
  AlignedText text = chance_text();
  const AttentionHead truth{"decoder.layers.1.multihead_attn", 1, AlignmentStep::reads};
  const std::vector<AlignmentLinks> links = align_with_attention(folder, text, truth);
  for (std::size_t i = 0; i < links.size(); ++i) text.gold[i] = {links[i], links[i]};
  const AlignmentSearch search = search_attention_heads(folder, text);
  EXPECT_EQ(search.candidates.size(), 2u * 3 * 2);  // layers, the mean and two heads, steps
  EXPECT_EQ(search.best().score.error_rate, 0);
  EXPECT_EQ(describe(search.best().head), describe(truth));
  for (const AlignmentCandidate& candidate : search.candidates) {
    const double again = score_alignments(align_with_attention(folder, text, candidate.head), text.gold).error_rate;
    EXPECT_EQ(candidate.score.error_rate, again) << describe(candidate.head);
  }
}

TEST(Align, ASideWithoutTokensHasNoLinks) {
  const ModelFolder folder = chance_model();
  AlignedText text{{"ein hund", "", "haus"}, {"a dog", "house", " "}, {{}, {}, {}}, "s", "t"};
  const auto links = align_with_attention(folder, text, {.path = "decoder.layers.0.multihead_attn", .head = 0});
  ASSERT_EQ(links.size(), 3u);
  EXPECT_EQ(links[0].size(), 2u);
  EXPECT_TRUE(links[1].empty());
  EXPECT_TRUE(links[2].empty());
}

TEST(Align, RefusalsNameTheFileAndLineOrTheHead) {
  const ModelFolder folder = chance_model();
  AlignedText text = chance_text();
  const std::string path = "decoder.layers.0.multihead_attn";
  EXPECT_EQ(refusal([&] { align_with_attention(folder, text, {.path = path, .head = 2}); }),
            "align: decoder.layers.0.multihead_attn has 2 heads, and no head 2");
  EXPECT_EQ(refusal([&] { align_with_attention(folder, text, {.path = "nowhere"}); }),
            "align: the model has no cross-attention nowhere");
  text.target[2] = "a a a a a a a a";
  EXPECT_EQ(refusal([&] { search_attention_heads(folder, text); }),
            "t:3: the sentence has 8 tokens, and the model can hold 7");
  EXPECT_NE(refusal([&] { search_attention_heads(folder, {}); }), "no error");
}

TEST(Align, FilesThatDoNotCorrespondAreNamed) {
  const auto folder = std::filesystem::path(::testing::TempDir()) / "heed_align_test";
  write_file((make_folder(folder), folder / "s"), "a\nb\n");
  write_file(folder / "t", "a\nb\n");
  write_file(folder / "g", "0-0\n");
  const std::string error = refusal([&] { read_aligned_text(folder / "s", folder / "t", folder / "g"); });
  EXPECT_NE(error.find((folder / "g").string() + " has 1"), std::string::npos) << error;
  write_file(folder / "g", "1-1\n1-1\n");
  const AlignedText text = read_aligned_text(folder / "s", folder / "t", folder / "g", true);
  EXPECT_EQ(text.gold[1].sure, (AlignmentLinks{{0, 0}}));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace heed
