#include "heed/tasks/caption.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "heed/io/base64.h"
#include "heed/layers/drawn_parameters.h"
#include "heed/tasks/caption_score.h"
#include "heed/tasks/scene_picture.h"
#include "heed/testing/refusal.h"
#include "heed/text/whitespace_vocabulary.h"

namespace heed {
namespace {

using testing::refusal;

const std::vector<std::string> kCaptions = {"a red circle above a blue star", "a star in the middle"};

// Words are pieces; the parameters are what chance made them.
ModelFolder chance_captioner() {
  ModelFolder folder;
  folder.source_vocabulary = std::make_shared<WhitespaceVocabulary>(WhitespaceVocabulary::build(kCaptions));
  folder.target_vocabulary = folder.source_vocabulary;
  TransformerConfig& config = folder.config.transformer;
  config.width = 16, config.ffn_width = 16, config.heads = 2, config.encoder_layers = 1, config.decoder_layers = 2;
  config.max_length = 12;
  config.signal = {.kind = SignalKind::picture, .channels = 3, .height = 64, .width = 64, .patch = 16};
  folder.config.set_vocabularies(folder.source_vocabulary->size(), folder.target_vocabulary->size());
  DrawnParameters drawn(Rng(7));
  folder.model = make_model(drawn, folder.config);
  return folder;
}

std::vector<Image> pictures(Index count) {
  std::vector<Image> images;
  for (Index i = 0; i < count; ++i) {
    Rng rng(3, static_cast<std::uint64_t>(i));
    images.push_back(draw_scene_picture(draw_scene(rng, SceneUse::training)));
  }
  return images;
}

double sum(const PatchMap& map) {
  double total = 0;
  for (double weight : map.weights) total += weight;
  return total;
}

TEST(Caption, IsTheSameInAnyBatch) {
  const ModelFolder folder = chance_captioner();
  const Captioner captioner(folder);
  const std::vector<Image> images = pictures(37);
  for (const Index beam : {1, 3}) {
    const auto together = captioner.caption(images, {.beam = beam});
    ASSERT_EQ(together.size(), images.size());
    for (std::size_t i = 0; i < images.size(); i += 9) {
      const auto alone = captioner.caption({&images[i], 1}, {.beam = beam});
      EXPECT_EQ(alone[0][0].tokens, together[i][0].tokens);
      EXPECT_EQ(alone[0][0].score, together[i][0].score);
    }
  }
  EXPECT_TRUE(captioner.caption({}, {}).empty());
}

TEST(Caption, ATraceHasThePictureAndItsPatches) {
  const ModelFolder folder = chance_captioner();
  const Image image = pictures(1)[0];
  const AttentionTrace trace = trace_caption(folder, image, folder.target_ids(kCaptions[0]));
  validate(trace, "trace");
  EXPECT_EQ(trace.target.text, kCaptions[0]);
  EXPECT_EQ(trace.source.grid, (TraceGrid{4, 4}));
  EXPECT_EQ(trace.source.size(), 17);
  EXPECT_EQ(trace.source.words.back(), 15);
  EXPECT_EQ(trace.maps.size(), 1u + 2 + 2);  // encoder, decoder, cross
  const std::string begin = "data:image/png;base64,";
  ASSERT_TRUE(trace.image.starts_with(begin));
  EXPECT_EQ(parse_image(base64_bytes(trace.image.substr(begin.size()), "image"), "image"), image);
}

TEST(Caption, AWordsMapIsWhatItsPieceAttendsTo) {
  const ModelFolder folder = chance_captioner();
  const AttentionTrace trace = trace_caption(folder, pictures(1)[0], folder.target_ids(kCaptions[0]));
  const auto map = std::ranges::find_if(
      trace.maps, [](const auto& one) { return one.kind == AttentionKind::cross && one.layer == 0; });
  const std::vector<PatchMap> words = word_patch_maps(trace, *map, {.chosen = {1}});
  ASSERT_EQ(words.size(), 7u);
  for (Index word = 0; word < 7; ++word) {
    const PatchMap& one = words[static_cast<std::size_t>(word)];
    ASSERT_EQ(one.weights.size(), 16u);
    for (Index patch = 0; patch < 16; ++patch) {
      EXPECT_FLOAT_EQ(static_cast<float>(one.weights[static_cast<std::size_t>(patch)]),
                      map->weight(1, word, patch + 1));
    }
  }
  EXPECT_EQ(words[2].title, "circle");
  // Characters 2 to 12 are "red circle": each word for as much of it as it has.
  const PatchMap both = map_of_characters(folder, trace, kCaptions[0], 2, 12, {.layer = 0, .head = 1});
  EXPECT_NEAR(sum(both), (3 * sum(words[1]) + 6 * sum(words[2])) / 9, 1e-6);
  EXPECT_LT(sum(both), 1);  // the class token has the rest
  EXPECT_THROW(map_of_characters(folder, trace, kCaptions[0], 1000, 1005), Error);
}

TEST(Caption, ScoresCountExactCaptionsAndNounsThatLookAtTheirThing) {
  const ModelFolder folder = chance_captioner();
  const std::vector<Image> images = pictures(2);
  const std::string own = Captioner(folder).caption({images.data(), 1}, {.beam = 1})[0][0].text;
  const std::vector<std::string> references = {own, kCaptions[0]};
  EXPECT_EQ(score_captions(folder, images, references).exact, 1);
  EXPECT_EQ(score_captions(folder, images, references).nouns, 0);

  const SceneBox everything{0, 0, 64, 64}, nothing{63, 63, 1, 1};
  const auto found = [&](const SceneBox& box) {
    const std::vector<PlacedWord> words = {{"red", 2, 5, false, nothing}, {"circle", 6, 12, true, box}};
    const std::vector<std::vector<PlacedWord>> places = {words};
    return score_captions(folder, {images.data(), 1}, {&kCaptions[0], 1}, places);
  };
  EXPECT_EQ(found(everything).nouns, 1);
  EXPECT_EQ(found(everything).found, 1);
  EXPECT_EQ(found(nothing).found, 0);
  // The box of the most attended patch, and of the one beside it.
  const AttentionTrace trace = trace_caption(folder, images[0], folder.target_ids(kCaptions[0]));
  const PatchMap map = map_of_characters(folder, trace, kCaptions[0], 6, 12);
  const Index most = std::ranges::max_element(map.weights) - map.weights.begin();
  const Index left = most % 4 * 16, top = most / 4 * 16;
  EXPECT_EQ(found({left, top, 16, 16}).found, 1);
  EXPECT_EQ(found({(left + 16) % 64, top, 16, 16}).found, 0);
}

TEST(Caption, WhatTheModelCannotReadIsRefused) {
  const ModelFolder folder = chance_captioner();
  const Image small{32, 48, std::vector<std::uint8_t>(32 * 48 * 3)};
  EXPECT_EQ(refusal([&] {
              Captioner(folder).caption({&small, 1}, {});
            }),
            "the picture has 48 x 32 pixels, but the model reads 64 x 64");
  EXPECT_EQ(refusal([&] { trace_caption(folder, pictures(1)[0], std::vector<int>(12, 4)); }),
            "the caption has 12 tokens, and the model can hold 11");
  ModelFolder text = chance_captioner();
  text.config.transformer.signal = {};
  EXPECT_EQ(refusal([&] { Captioner{text}; }),
            "the model: does not tell what pictures show: it translates text (translate)");
  text.config.transformer.encoder_layers = 0;
  EXPECT_EQ(refusal([&] { Captioner{text}; }),
            "the model: does not tell what pictures show: it continues text (generate)");
}

}  // namespace
}  // namespace heed
