#include "heed/viz/picture_attention.h"

#include <gtest/gtest.h>

#include <limits>

#include "heed/io/base64.h"
#include "heed/testing/refusal.h"

namespace heed {
namespace {

using testing::refusal;

// A picture of one row of two patches behind a class token, and a caption of two words, the first of two pieces.
AttentionTrace sample() {
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

TEST(PatchMap, IsWhatAQueryReadsOfThePatchesAlone) {
  const AttentionTrace trace = sample();
  const PatchMap head = patch_map(trace, trace.maps[0], 1, 1);
  EXPECT_EQ(head.title, "layer 1 · head 1");
  EXPECT_EQ(head.weights, (std::vector<double>{0.25, 0.25}));
  const PatchMap mean = patch_map(trace, trace.maps[0], {}, 2);
  EXPECT_EQ(mean.title, "layer 1 · mean of 2 heads");
  EXPECT_EQ(mean.weights, (std::vector<double>{0.5, 0.5}));
}

TEST(PatchMap, OfAWordIsTheMeanOfItsPiecesAndSpecialTokensHaveNone) {
  const AttentionTrace trace = sample();
  const std::vector<PatchMap> words = word_patch_maps(trace, trace.maps[0], 0);
  ASSERT_EQ(words.size(), 2u);
  EXPECT_EQ(words[0].title, "abc");
  EXPECT_EQ(words[0].weights, (std::vector<double>{0.5, 0.25}));
  EXPECT_EQ(words[1].title, "d");
  EXPECT_EQ(words[1].weights, (std::vector<double>{0, 1}));
}

TEST(PatchMap, RefusesWhatTheMapDoesNotHave) {
  const AttentionTrace trace = sample();
  const AttentionTrace::Map& map = trace.maps[0];
  for (const Index query : {-1, 4}) EXPECT_THROW(patch_map(trace, map, {}, query), Error) << query;
  for (const Index head : {-1, 2}) EXPECT_THROW(patch_map(trace, map, head), Error) << head;
  AttentionTrace text = trace;
  text.source.grid.reset();
  EXPECT_EQ(refusal([&] { patch_map(text, text.maps[0], {}); }), "patch_map: the trace is not of a picture's patches");
}

// The maps of all words, each as large as the grid, would take the square of what the file holds.
TEST(PatchMap, ManyWordsAreRefusedBeforeTheirMapsAreMade) {
  AttentionTrace trace = sample();
  constexpr Index kWords = kMaxTraceTokens;
  trace.source = {.tokens = {"0,0"}, .words = {0}, .grid = TraceGrid{1, kMaxTraceTokens}};
  trace.target = {.tokens = std::vector<std::string>(kWords, "w")};
  trace.maps[0] = {"cross", 0, AttentionKind::cross, 1, kWords, 1, std::vector<float>(kWords, 1)};
  validate(trace, "trace");
  EXPECT_EQ(refusal([&] { word_patch_maps(trace, trace.maps[0], 0); }),
            "draw_picture_attention: there must be at most 256 maps, but there are 65536");
}

TEST(PictureAttention, ATracesPictureIsItsImage) {
  AttentionTrace trace = sample();
  EXPECT_EQ(trace_image(trace), (Image{1, 2, {255, 0, 0, 0, 0, 255}}));
  trace.image = "data:image/png;base64,iVBORw0KGgo=";
  EXPECT_TRUE(refusal([&] { trace_image(trace); }).starts_with("trace.image: is a broken PNG file"));
  trace.image.clear();
  EXPECT_EQ(refusal([&] { trace_image(trace); }), "trace_image: the trace has no picture");
}

// What is drawn, picture by picture.
struct Images : Canvas {
  explicit Images(const Picture& picture) { picture.paint(*this); }
  void fill(const Box&, const Colour&, std::string_view) override {}
  void outline(const Box&, const Colour&, double) override {}
  void image(const Box&, const Image& image) override { images.push_back(image); }
  void line(Point, Point, const Colour&, double) override {}
  void text(Point, std::string_view, const TextStyle&) override {}

  std::vector<Image> images;
};

double brightness(const std::uint8_t* pixel) {
  return lightness({pixel[0] / 255.0, pixel[1] / 255.0, pixel[2] / 255.0});
}

TEST(PictureAttention, ShowsThePictureAndUnderEachMapWhereItLooks) {
  const AttentionTrace trace = sample();
  const Image image = trace_image(trace);
  const Picture picture = draw_picture_attention(image, word_patch_maps(trace, trace.maps[0], 0), "a dog");
  const std::vector<Image> drawn = Images(picture).images;
  ASSERT_EQ(drawn.size(), 3u);
  EXPECT_EQ(drawn[0], image);
  EXPECT_GT(brightness(drawn[1].at(0, 0)), brightness(drawn[1].at(0, 1)));
  EXPECT_LT(brightness(drawn[2].at(0, 0)), brightness(drawn[2].at(0, 1)));
  EXPECT_EQ(picture.description,
            "abc: most at patch 1 of 1 down, 1 of 2 across. d: most at patch 1 of 1 down, 2 of 2 across.");
  EXPECT_FALSE(render(picture, PictureFormat::svg).empty());
}

TEST(PictureAttention, RefusesMapsThatAreNone) {
  const AttentionTrace trace = sample();
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

}  // namespace
}  // namespace heed
