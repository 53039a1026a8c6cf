#include "heed/viz/picture_attention.h"

#include <gtest/gtest.h>

#include <limits>

#include "heed/base/error.h"
#include "heed/io/base64.h"
#include "heed/testing/refusal.h"
#include "heed/viz/recorded_picture.h"

namespace heed {
namespace {

using testing::refusal;

// A picture of one row of two patches behind a class token, and a caption of two words, the first of two pieces.
AttentionTrace picture_trace() {
  AttentionTrace trace;
  trace.source = {.tokens = {"[CLS]", "0,0", "0,1"}, .words = {-1, 0, 1}, .grid = TraceGrid{1, 2}};
  trace.target = {.tokens = {"a", "##bc", "d", "</s>"}, .words = {0, 0, 1, -1}, .word_texts = {"abc", "d"}};
  trace.maps = {{"decoder.layers.1.multihead_attn", 1, AttentionKind::cross, 2, 4, 3, {0,      1, 0, 0.5F, 0,     0.5F,
                                                                                       0,      0, 1, 1,    0,     0,
                                                                                       /**/ 0, 0, 1, 0.5F, 0.25F, 0.25F,
                                                                                       0,      1, 0, 1,    0,     0}}};
  trace.image = "data:image/png;base64," + base64(png_bytes({1, 2, {255, 0, 0, 0, 0, 255}}));
  validate(trace, "sample");
  return trace;
}

PatchMap of_query(const AttentionTrace& trace, const HeadChoice& heads, Index query) {
  return patch_maps(trace, trace.maps[0], heads, {&query, 1}).front();
}

TEST(PatchMap, IsWhatAQueryReadsOfThePatchesAlone) {
  const AttentionTrace trace = picture_trace();
  const PatchMap head = of_query(trace, {.chosen = {1}}, 1);
  EXPECT_EQ(head.title, "layer 1 · head 1");
  EXPECT_EQ(head.weights, (std::vector<double>{0.25, 0.25}));
  const PatchMap mean = of_query(trace, {}, 2);
  EXPECT_EQ(mean.title, "layer 1 · mean of 2 heads");
  EXPECT_EQ(mean.weights, (std::vector<double>{0.5, 0.5}));
}

TEST(PatchMap, OfAWordIsTheMeanOfItsPiecesAndSpecialTokensHaveNone) {
  const AttentionTrace trace = picture_trace();
  const std::vector<PatchMap> words = word_patch_maps(trace, trace.maps[0], {.chosen = {0}});
  ASSERT_EQ(words.size(), 2u);
  EXPECT_EQ(words[0].title, "abc");
  EXPECT_EQ(words[0].weights, (std::vector<double>{0.5, 0.25}));
  EXPECT_EQ(words[1].title, "d");
  EXPECT_EQ(words[1].weights, (std::vector<double>{0, 1}));
}

TEST(PatchMap, RefusesWhatTheMapDoesNotHave) {
  const AttentionTrace trace = picture_trace();
  for (const Index query : {-1, 4}) EXPECT_THROW(of_query(trace, {}, query), Error) << query;
  for (const Index head : {-1, 2}) EXPECT_THROW(of_query(trace, {.chosen = {head}}, 0), Error) << head;
  AttentionTrace text = trace;
  text.source.grid.reset();
  EXPECT_EQ(refusal([&] { of_query(text, {}, 0); }), "patch_maps: the trace is not of a picture's patches");
}

// The maps of all words, each as large as the grid, would take the square of what the file holds.
TEST(PatchMap, ManyWordsAreRefusedBeforeTheirMapsAreMade) {
  AttentionTrace trace = picture_trace();
  constexpr Index kWords = kMaxTraceTokens;
  trace.source = {.tokens = {"0,0"}, .words = {0}, .grid = TraceGrid{1, kMaxTraceTokens}};
  trace.target = {.tokens = std::vector<std::string>(kWords, "w")};
  trace.maps[0] = {"cross", 0, AttentionKind::cross, 1, kWords, 1, std::vector<float>(kWords, 1)};
  validate(trace, "trace");
  EXPECT_EQ(refusal([&] { word_patch_maps(trace, trace.maps[0], {.chosen = {0}}); }),
            "draw_picture_attention: there must be at most 256 maps, but there are 65536");
}

TEST(PictureAttention, ATracesPictureIsItsImage) {
  AttentionTrace trace = picture_trace();
  EXPECT_EQ(trace_image(trace), (Image{1, 2, {255, 0, 0, 0, 0, 255}}));
  trace.image = "data:image/png;base64,iVBORw0KGgo=";
  EXPECT_TRUE(refusal([&] { trace_image(trace); }).starts_with("trace.image: is a broken PNG file"));
  trace.image.clear();
  EXPECT_EQ(refusal([&] { trace_image(trace); }), "trace_image: the trace has no picture");
}

double brightness(const std::uint8_t* pixel) {
  return lightness({pixel[0] / 255.0, pixel[1] / 255.0, pixel[2] / 255.0});
}

TEST(PictureAttention, ShowsThePictureAndUnderEachMapWhereItLooks) {
  const AttentionTrace trace = picture_trace();
  const Image image = trace_image(trace);
  const Picture picture =
      draw_picture_attention(image, word_patch_maps(trace, trace.maps[0], {.chosen = {0}}), "a dog");
  const std::vector<Recording::Shown> drawn = Recording(picture).images;
  ASSERT_EQ(drawn.size(), 3u);
  EXPECT_EQ(drawn[0].pixels, image);
  EXPECT_GT(brightness(drawn[1].pixels.at(0, 0)), brightness(drawn[1].pixels.at(0, 1)));
  EXPECT_LT(brightness(drawn[2].pixels.at(0, 0)), brightness(drawn[2].pixels.at(0, 1)));
  EXPECT_EQ(picture.description,
            "abc: most at patch 1 of 1 down, 1 of 2 across. d: most at patch 1 of 1 down, 2 of 2 across.");
  EXPECT_FALSE(render(picture, PictureFormat::svg).empty());
}

TEST(PictureAttention, RefusesMapsThatAreNone) {
  const AttentionTrace trace = picture_trace();
  const Image image = trace_image(trace);
  const auto refused = [&](const PatchMap& map) {
    return refusal([&] { draw_picture_attention(image, {&map, 1}, ""); });
  };
  EXPECT_EQ(refused({"m", 1, 1, {1}}), "no error");
  EXPECT_EQ(refused({"m", 2, 1, {1}}), "draw_picture_attention: 1 weights are not those of 1 x 2 patches");
  EXPECT_NE(refused({"m", 0, 0, {}}), "no error");
  for (const double weight :
       {-0.5, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_EQ(refused({"m", 1, 1, {weight}}), "draw_picture_attention: weights must be finite and not negative");
  }
  EXPECT_THROW(draw_picture_attention({}, {}, ""), Error);
  const std::vector<PatchMap> many(257, PatchMap{"m", 1, 1, {1}});
  EXPECT_EQ(refusal([&] { draw_picture_attention(image, many, ""); }),
            "draw_picture_attention: there must be at most 256 maps, but there are 257");
}

// Three heads over a class token and 1 x 2 patches.
AttentionTrace three_heads() {
  AttentionTrace trace;
  trace.source = {.tokens = {"[CLS]", "0,0", "0,1"}, .words = {-1, 0, 1}, .grid = TraceGrid{1, 2}};
  AttentionTrace::Map map;
  map.kind = AttentionKind::encoder;
  map.layer = 2, map.heads = 3, map.queries = 3, map.keys = 3;
  for (float head : {0.0f, 0.25f, 0.5f})
    for (float query : {0.0f, 0.125f, 0.25f})
      map.weights.insert(map.weights.end(), {0, head + query, 1 - head - query});
  trace.maps.push_back(map);
  return trace;
}

Image small_picture() { return {20, 40, std::vector<std::uint8_t>(20 * 40 * 3, 128)}; }

const PatchMap kMap{"star", 1, 2, {0.25, 0.75}};

TEST(PictureAttention, HeadsAreShownAsTheyWereChosen) {
  const AttentionTrace trace = three_heads();
  const AttentionTrace::Map& map = trace.maps[0];
  const std::vector<PatchMap> mean = patch_maps(trace, map);
  ASSERT_EQ(mean.size(), 1u);
  EXPECT_EQ(mean[0].title, "layer 2 · mean of 3 heads");
  EXPECT_EQ(mean[0].weights, (std::vector<double>{0.25, 0.75}));
  const std::vector<PatchMap> of_two = patch_maps(trace, map, {.chosen = {1, 2}});
  ASSERT_EQ(of_two.size(), 1u);
  EXPECT_EQ(of_two[0].title, "layer 2 · mean of heads 1, 2");
  EXPECT_EQ(of_two[0].weights, (std::vector<double>{0.375, 0.625}));
  const std::vector<PatchMap> each = patch_maps(trace, map, {.mean = false});
  ASSERT_EQ(each.size(), 3u);
  EXPECT_EQ(each[2].title, "layer 2 · head 2");
  EXPECT_EQ(each[2].weights, (std::vector<double>{0.5, 0.5}));
  EXPECT_THROW(patch_maps(trace, map, {.chosen = {3}}), Error);
}

TEST(PictureAttention, AWordIsTheMeanOfItsPieces) {
  const AttentionTrace trace = three_heads();
  const Index pieces[] = {0, 2}, none_such[] = {3};
  EXPECT_EQ(patch_maps(trace, trace.maps[0], {.chosen = {0}}, pieces)[0].weights, (std::vector<double>{0.125, 0.875}));
  EXPECT_THROW(patch_maps(trace, trace.maps[0], {}, none_such), Error);
  EXPECT_THROW(patch_maps(trace, trace.maps[0], {}, {}), Error);
}

TEST(PictureAttention, AFigureForPaperIsAsWideAsThePaperAndInItsFont) {
  const std::vector<PatchMap> maps(5, kMap);
  for (double width : {72.0, 226.772, 800.0}) {
    const Picture picture = draw_picture_attention(small_picture(), maps, "six pictures", {.width = width});
    EXPECT_DOUBLE_EQ(picture.width, width);
    EXPECT_EQ(picture.pixels_per_inch, 300);
    for (const auto& image : Recording(picture).images) {
      EXPECT_LE(image.box.x + image.box.width, width);
      EXPECT_LE(image.box.y + image.box.height, picture.height);
    }
  }
  const Recording drawn(draw_picture_attention(small_picture(), maps, "", {.font_size = 20, .font = "DejaVu Serif"}));
  ASSERT_FALSE(drawn.texts.empty());
  EXPECT_EQ(drawn.texts[0].style.size, 18);
  EXPECT_EQ(drawn.texts[0].style.font, "DejaVu Serif");
}

TEST(PictureAttention, ATitleIsReplacedOrLeftAway) {
  const auto first_text = [](const FigureStyle& style) {
    return Recording(draw_picture_attention(small_picture(), {&kMap, 1}, "a star", style)).texts.at(0).text;
  };
  EXPECT_EQ(first_text({}), "a star");
  EXPECT_EQ(first_text({.title = "Figure 1"}), "Figure 1");
  EXPECT_EQ(first_text({.title = ""}), "the picture");
}

}  // namespace
}  // namespace heed
