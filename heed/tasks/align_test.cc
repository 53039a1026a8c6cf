#include "heed/tasks/align.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "heed/base/file.h"
#include "heed/base/file_writer.h"
#include "heed/base/random.h"
#include "heed/layers/drawn_parameters.h"
#include "heed/tasks/alignment_search.h"
#include "heed/tasks/symmetrise.h"
#include "heed/tasks/trace.h"
#include "heed/testing/refusal.h"
#include "heed/text/whitespace_vocabulary.h"

namespace heed {
namespace {

using testing::refusal;

const std::vector<std::string> kSource = {"ein hund läuft", "das haus", "der hund sieht das haus", "haus", "ein haus"};
const std::vector<std::string> kTarget = {"a dog runs", "the house", "the dog sees the house", "house", "a a house"};
constexpr const char* kLayers[] = {"decoder.layers.0.multihead_attn", "decoder.layers.1.multihead_attn"};

// Words are pieces and alignment tokens at once; the parameters are what chance made them.
ModelFolder chance_model(Index encoder_layers = 1, Index max_length = 8) {
  ModelFolder folder;
  folder.source_vocabulary = std::make_shared<WhitespaceVocabulary>(WhitespaceVocabulary::build(kSource));
  folder.target_vocabulary = std::make_shared<WhitespaceVocabulary>(WhitespaceVocabulary::build(kTarget));
  TransformerConfig& config = folder.config.transformer;
  config.width = 16, config.ffn_width = 16, config.heads = 2;
  config.encoder_layers = encoder_layers, config.decoder_layers = 2;
  config.max_length = max_length, config.share_embeddings = false, config.tie_output = false;
  folder.config.set_vocabularies(folder.source_vocabulary->size(), folder.target_vocabulary->size());
  DrawnParameters drawn(Rng(7));
  folder.model = make_model(drawn, folder.config);
  return folder;
}

TextPairs chance_pairs() { return {kSource, kTarget, "s", "t"}; }

AlignedText chance_text() {
  AlignedText text{kSource, kTarget, {}, "s", "t", "g"};
  for (std::size_t i = 0; i < kSource.size(); ++i) text.gold.push_back({{{0, 0}}, {{0, 0}}});
  return text;
}

std::vector<AlignmentLinks> align(const ModelFolder& folder, const AlignmentChoice& choice) {
  std::vector<AlignmentLinks> links;
  for (const SoftAlignment& soft : soft_alignments(folder, chance_pairs(), choice)) {
    links.push_back(links_of(soft, choice.rule));
  }
  return links;
}

TEST(Align, BatchedWeightsAreThoseOfEachSentencesTrace) {
  const ModelFolder folder = chance_model();
  const std::vector<std::vector<AttentionHead>> sets = {{}, {{0, 1}}, {{1, 0}}, {{0, 0}, {1, 1}}};
  for (const std::vector<AttentionHead>& heads : sets) {
    for (const AlignmentStep step : {AlignmentStep::produces, AlignmentStep::reads}) {
      const AlignmentChoice choice{heads, step};
      const std::vector<AttentionHead> counted = heads.empty() ? std::vector<AttentionHead>{{1, 0}, {1, 1}} : heads;
      const std::vector<SoftAlignment> soft = soft_alignments(folder, chance_pairs(), choice);
      ASSERT_EQ(soft.size(), kSource.size());
      for (std::size_t i = 0; i < soft.size(); ++i) {
        const AttentionTrace trace = trace_pair(folder, kSource[i], folder.target_vocabulary->encode(kTarget[i]));
        for (Index t = 0; t < soft[i].target; ++t) {
          for (Index s = 0; s < soft[i].source; ++s) {
            double expected = 0;
            for (const AttentionHead& head : counted) {
              const auto map = std::ranges::find(trace.maps, kLayers[head.layer], &AttentionTrace::Map::path);
              ASSERT_EQ(soft[i].target, map->queries - 1) << describe(choice);
              ASSERT_EQ(soft[i].source, map->keys - 1) << describe(choice);
              const Index query = t + (step == AlignmentStep::reads ? 1 : 0);
              expected += double{map->weight(head.head, query, s)} / static_cast<double>(counted.size());
            }
            EXPECT_NEAR(soft[i].weight(t, s), expected, 1e-6) << describe(choice) << ", sentence " << i;
          }
        }
      }
    }
  }
}

TEST(Align, RulesSayWhichWeightsAreLinks) {
  const SoftAlignment soft{.source = 3, .target = 2, .weights = {0.1f, 0.5f, 0.25f, 0.25f, 0.5f, 0.125f}};
  EXPECT_EQ(links_of(soft), (AlignmentLinks{{1, 0}, {1, 1}}));
  EXPECT_EQ(links_of(soft, {.threshold = 0.25}), (AlignmentLinks{{0, 1}, {1, 0}, {1, 1}, {2, 0}}));
  EXPECT_TRUE(links_of(soft, {.threshold = 0.6}).empty());
  EXPECT_EQ(links_of(soft, {.free = 0.1}), (AlignmentLinks{{0, 1}, {1, 0}, {1, 1}, {2, 0}}));
  EXPECT_EQ(links_of(soft, {.free = 0.3}), links_of(soft));
  EXPECT_TRUE(links_of(SoftAlignment{}, {.free = 0.1}).empty());
}

TEST(Align, BalancedWeightsLeaveAWordToTheOneThatHasNoOther) {
  // Both target words attend most to the first source word; only the first has no other.
  const SoftAlignment soft{.source = 2, .target = 2, .weights = {0.9f, 0.1f, 0.5f, 0.4f}};
  EXPECT_EQ(links_of(soft), (AlignmentLinks{{0, 0}, {0, 1}}));
  EXPECT_EQ(links_of(soft, {.balance = true}), (AlignmentLinks{{0, 0}, {1, 1}}));
  const SoftAlignment even = balanced(soft);
  for (Index t = 0; t < 2; ++t) EXPECT_NEAR(even.weight(t, 0) + even.weight(t, 1), 1, 1e-6);
  for (Index s = 0; s < 2; ++s) EXPECT_NEAR(even.weight(0, s) + even.weight(1, s), 1, 0.05);
}

TEST(Align, WordsKeptApartFromPunctuationLookAtWords) {
  // "Ja , gut ." read by "Fine , yes": "yes" rests on the comma, and the full stop has no mark to be linked with.
  const SoftAlignment soft{.source = 4,
                           .target = 3,
                           .weights = {0.1f, 0.2f, 0.6f, 0.1f, 0.1f, 0.7f, 0.1f, 0.1f, 0.3f, 0.5f, 0.1f, 0.1f},
                           .source_marks = {false, true, false, true},
                           .target_marks = {false, true, false}};
  EXPECT_EQ(links_of(soft), (AlignmentLinks{{1, 1}, {1, 2}, {2, 0}}));
  const AlignmentLinks apart{{0, 2}, {1, 1}, {2, 0}};
  EXPECT_EQ(links_of(soft, {.apart = true}), apart);
  EXPECT_EQ(links_of(soft, {.free = 0.05}).size(), 5U);
  EXPECT_EQ(links_of(soft, {.free = 0.05, .apart = true}), apart) << "free punctuation stays free";
  EXPECT_EQ(links_of(soft, {.apart = true, .balance = true}), apart) << "and balancing brings nothing back";
  SoftAlignment words = soft;
  words.source_marks = {false, false, false, false};
  EXPECT_EQ(links_of(words, {.apart = true}), (AlignmentLinks{{1, 2}, {2, 0}})) << "a mark without a partner";
}

TEST(Align, PunctuationIsToldByTheText) {
  const std::vector<std::string> source{"Ja, a b?!"}, target{"«c»"};
  const std::vector<SoftAlignment> soft = soft_alignments(chance_model(), {source, target}, {});
  ASSERT_EQ(soft.size(), 1U);
  EXPECT_EQ(soft[0].source_marks, (std::vector<bool>{false, true, false, false, true, true}));
  EXPECT_EQ(soft[0].target_marks.size(), static_cast<std::size_t>(soft[0].target));
}

TEST(Align, AgreementIsHighWhereBothDirectionsAre) {
  const SoftAlignment forward{.source = 2, .target = 1, .weights = {0.5f, 0.5f}};
  const SoftAlignment backward{.source = 1, .target = 2, .weights = {0.1f, 0.9f}};
  const SoftAlignment both = agreement(forward, backward);
  EXPECT_NEAR(both.weight(0, 0), std::sqrt(0.503 * 0.103), 1e-6);
  EXPECT_NEAR(both.weight(0, 1), std::sqrt(0.503 * 0.903), 1e-6);
  EXPECT_EQ(links_of(both), (AlignmentLinks{{1, 0}}));
  EXPECT_NE(refusal([&] { agreement(forward, forward); }), "no error");
}

TEST(Align, LayersAreFoundWithTheirHeads) {
  EXPECT_EQ(cross_attention_heads(chance_model()),
            (std::vector<std::vector<AttentionHead>>{{{0, 0}, {0, 1}}, {{1, 0}, {1, 1}}}));
}

// More than a batch may hold of them, and one that alone is more.
TEST(Align, WhatIsAlignedTogetherChangesNoBit) {
  const ModelFolder folder = chance_model(1, /*max_length=*/1400);
  std::vector<std::string> source, target;
  for (Index words : {1200, 3, 400, 700, 500, 2}) {
    source.push_back("der"), target.push_back("the");
    for (Index i = 1; i < words; ++i) source.back() += " hund", target.back() += i % 3 == 0 ? " dog" : " runs";
  }
  const AlignmentChoice choice{.heads = {{1, 0}}};
  const std::vector<SoftAlignment> together = soft_alignments(folder, {source, target}, choice);
  for (std::size_t i = 0; i < source.size(); ++i) {
    const std::vector<SoftAlignment> alone = soft_alignments(folder, {{&source[i], 1}, {&target[i], 1}}, choice);
    EXPECT_EQ(together[i].weights, alone[0].weights) << i;
  }
}

TEST(Align, TheSearchFindsWhatMadeTheGold) {
  const ModelFolder folder = chance_model();
  AlignedText text = chance_text();
  for (const LinkRule& rule : {LinkRule{}, LinkRule{.threshold = 0.35}, LinkRule{.free = 0.3}}) {
    const AlignmentChoice truth{{{1, 1}}, AlignmentStep::reads, rule};
    const std::vector<AlignmentLinks> links = align(folder, truth);
    for (std::size_t i = 0; i < links.size(); ++i) text.gold[i] = {links[i], links[i]};
    const AlignmentSearch search = search_alignments(folder, text);
    EXPECT_EQ(search.best().score.error_rate, 0);
    EXPECT_EQ(align(folder, search.best().choice), links) << describe(search.best().choice);
  }
}

TEST(Align, EveryCandidatesScoreIsThatOfItsLinks) {
  const ModelFolder folder = chance_model();
  const AlignedText text = chance_text();
  const AlignmentSearch search = search_alignments(folder, text);
  EXPECT_GE(search.candidates.size(), 2u * (2 + 4 + 3));  // steps: the means of layers, each head, one more added
  for (const AlignmentCandidate& candidate : search.candidates) {
    const AlignmentScore again = score_alignments(align(folder, candidate.choice), text.gold);
    EXPECT_EQ(candidate.score.summary(), again.summary()) << describe(candidate.choice);
    EXPECT_GE(candidate.score.error_rate, search.best().score.error_rate);
  }
  const std::vector<SoftAlignment> soft = soft_alignments(folder, chance_pairs(), search.best().choice);
  ASSERT_EQ(search.soft.size(), soft.size());
  for (std::size_t i = 0; i < soft.size(); ++i) EXPECT_EQ(search.soft[i].weights, soft[i].weights) << i;
}

TEST(Align, TheOtherDirectionHasItsGoldTheOtherWayRound) {
  AlignedText text{{"a b"}, {"c"}, {{{{1, 0}}, {{0, 0}, {1, 0}}}}, "s", "t", "g"};
  const AlignedText reversed = text.reversed();
  EXPECT_EQ(reversed.source, text.target);
  EXPECT_EQ(reversed.source_name, "t");
  EXPECT_EQ(reversed.gold[0].sure, (AlignmentLinks{{0, 1}}));
  EXPECT_EQ(reversed.gold[0].possible, (AlignmentLinks{{0, 0}, {0, 1}}));
}

TEST(Align, ASideWithoutTokensHasNoLinks) {
  const ModelFolder folder = chance_model();
  const std::vector<std::string> source = {"ein hund", "", "haus"}, target = {"a dog", "house", " "};
  const auto soft = soft_alignments(folder, {source, target}, {.heads = {{0, 0}}});
  ASSERT_EQ(soft.size(), 3u);
  EXPECT_EQ(links_of(soft[0]).size(), 2u);
  EXPECT_TRUE(links_of(soft[1]).empty());
  EXPECT_TRUE(links_of(soft[2]).empty());
}

TEST(Align, RefusalsNameTheFileAndLineOrTheHead) {
  const ModelFolder folder = chance_model();
  EXPECT_EQ(refusal([&] { align(folder, {.heads = {{1, 0}, {0, 2}}}); }), "align: layer 0 has 2 heads, and no head 2");
  EXPECT_EQ(refusal([&] {
              align(folder, {.heads = {{2, 0}}});
            }),
            "align: the model has 2 layers of cross-attention, and no layer 2");
  AlignedText text = chance_text();
  text.target[2] = "a a a a a a a a";
  EXPECT_EQ(refusal([&] { search_alignments(folder, text); }),
            "t:3: the sentence has 8 tokens, and the model can hold 7");
  EXPECT_NE(refusal([&] { search_alignments(folder, {}); }), "no error");
  EXPECT_EQ(refusal([&] { cross_attention_heads(chance_model(0)); }),
            "the model: aligns no words: it continues text (generate)");
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

// Forward links in a row, backward ones in a column, one in common.
const AlignmentLinks kForward = {{0, 0}, {1, 1}, {1, 2}, {4, 4}}, kBackward = {{0, 0}, {1, 1}, {2, 1}, {3, 3}, {4, 3}};

TEST(Symmetrise, IntersectionAndUnion) {
  EXPECT_EQ(symmetrise(kForward, kBackward, Symmetrisation::intersection), (AlignmentLinks{{0, 0}, {1, 1}}));
  EXPECT_EQ(symmetrise(kForward, kBackward, Symmetrisation::unite),
            (AlignmentLinks{{0, 0}, {1, 1}, {1, 2}, {2, 1}, {3, 3}, {4, 3}, {4, 4}}));
}

TEST(Symmetrise, GrowsToNeighboursThatBringAWord) {
  // 1-2 and 2-1 lie beside 1-1; 3-3 lies beside neither (1-2 and 2-1 are two away), but 4-3 and 4-4 are far from all.
  EXPECT_EQ(symmetrise(kForward, kBackward, Symmetrisation::grow_diag),
            (AlignmentLinks{{0, 0}, {1, 1}, {1, 2}, {2, 1}}));
  // final: 4-4 of the first; then 3-3 and not 4-3 of the second, whose words both have a link by then.
  EXPECT_EQ(symmetrise(kForward, kBackward, Symmetrisation::grow_diag_final),
            (AlignmentLinks{{0, 0}, {1, 1}, {1, 2}, {2, 1}, {3, 3}, {4, 4}}));
  EXPECT_EQ(symmetrise(kForward, kBackward, Symmetrisation::grow_diag_final_and),
            (AlignmentLinks{{0, 0}, {1, 1}, {1, 2}, {2, 1}, {3, 3}, {4, 4}}));
}

TEST(Symmetrise, FinalAndWantsBothWordsFree) {
  const AlignmentLinks forward = {{0, 0}, {5, 0}}, backward = {{0, 0}, {0, 7}};
  EXPECT_EQ(symmetrise(forward, backward, Symmetrisation::grow_diag_final), (AlignmentLinks{{0, 0}, {0, 7}, {5, 0}}));
  EXPECT_EQ(symmetrise(forward, backward, Symmetrisation::grow_diag_final_and), (AlignmentLinks{{0, 0}}));
}

TEST(Symmetrise, GrowthGoesOnFromWhatGrew) {
  const AlignmentLinks forward = {{3, 3}, {2, 2}, {1, 1}, {0, 0}}, backward = {{3, 3}};
  EXPECT_EQ(symmetrise(forward, backward, Symmetrisation::grow_diag), (AlignmentLinks{{0, 0}, {1, 1}, {2, 2}, {3, 3}}));
  EXPECT_EQ(transpose({{0, 2}, {1, 1}}), (AlignmentLinks{{1, 1}, {2, 0}}));
}

TEST(Symmetrise, LiesBetweenIntersectionAndUnionAndEachIsWithinTheNext) {
  Rng rng(3);
  for (int round = 0; round < 200; ++round) {
    AlignmentLinks forward, backward;
    for (int i = 0; i < 6; ++i) {
      forward.push_back({rng.below(6), i});
      backward.push_back({i, rng.below(6)});
    }
    AlignmentLinks before;
    for (const Symmetrisation how : {Symmetrisation::intersection, Symmetrisation::grow_diag,
                                     Symmetrisation::grow_diag_final_and, Symmetrisation::unite}) {
      const AlignmentLinks links = symmetrise(forward, backward, how);
      EXPECT_TRUE(std::ranges::is_sorted(links));
      EXPECT_TRUE(std::ranges::includes(links, before));
      before = links;
    }
  }
}

}  // namespace
}  // namespace heed
