#include "heed/viz/attention_picture.h"

#include <gtest/gtest.h>

#include <limits>

#include "heed/base/error.h"
#include "heed/viz/visible_text.h"

namespace heed {
namespace {

Picture drawn(const AttentionTrace& trace, const AttentionTrace::Map& map,
              const AttentionPictureOptions& options = {}) {
  return draw_heatmap(attention_heatmap(trace, map, options));
}

// Two heads: the first reads straight on, the second spreads evenly.
AttentionTrace cross_trace() {
  AttentionTrace trace;
  trace.model = "test model";
  trace.source.text = "the house";
  trace.target.text = "das alte Haus";
  trace.source.tokens = {"▁the", "▁house"};
  trace.decoder.tokens = {"<s>", "▁das", "▁alte"};
  trace.target.tokens = {"▁das", "▁alte", "▁Haus"};
  trace.maps.push_back({"decoder.layers.3.multihead_attn",
                        3,
                        AttentionKind::cross,
                        2,
                        3,
                        2,
                        {0.9F, 0.1F, 0.25F, 0.75F, 0, 1, 0.5F, 0.5F, 0.5F, 0.5F, 0.5F, 0.5F}});
  trace.maps.push_back({"encoder.layers.0.self_attn", 0, AttentionKind::encoder, 1, 2, 2, {1, 0, 0.5F, 0.5F}});
  trace.maps.push_back({"attention", 0, AttentionKind::decoder, 1, 3, 3, {1, 0, 0, 0.5F, 0.5F, 0, 0, 0, 1}});
  return trace;
}

std::string svg(const AttentionTrace& trace, std::size_t map, const AttentionPictureOptions& options = {}) {
  return render(drawn(trace, trace.maps.at(map), options), PictureFormat::svg);
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(AttentionPicture, ShowsTheMeanOfTheHeadsBesideTheTokens) {
  const std::string drawn = svg(cross_trace(), 0);
  for (const char* text :
       {">Cross-attention · layer 3 · mean of 2 heads<", ">decoder.layers.3.multihead_attn · test model<", ">_the<",
        ">_house<", ">_das<", ">_alte<", ">_Haus<", ">target (queries)<", ">source (keys)<",
        "<title>_das → _the: 0.700</title>", "<title>_Haus → _house: 0.750</title>"}) {
    EXPECT_TRUE(contains(drawn, text)) << text;
  }
}

TEST(AttentionPicture, ShowsOneHeadOrAllOfThem) {
  const std::string one = svg(cross_trace(), 0, {.heads = {.mean = false, .chosen = {1}}});
  EXPECT_TRUE(contains(one, "head 1 of 2"));
  EXPECT_TRUE(contains(one, "<title>_das → _the: 0.500</title>"));
  const std::string grid = svg(cross_trace(), 0, {.heads = {.mean = false}});
  for (const char* text : {">head 0<", ">head 1<", "all 2 heads", "<title>_das → _the: 0.900</title>",
                           "<title>_das → _the: 0.500</title>"}) {
    EXPECT_TRUE(contains(grid, text)) << text;
  }
}

TEST(AttentionPicture, SelfAttentionHasTheSameTokensOnBothSides) {
  EXPECT_TRUE(contains(svg(cross_trace(), 1), "Encoder self-attention · layer 0 · one head"));
  EXPECT_TRUE(contains(svg(cross_trace(), 1), "<title>_house → _the: 0.500</title>"));
  EXPECT_TRUE(contains(svg(cross_trace(), 2), ">Decoder self-attention · layer 0 · one head<"));
  EXPECT_TRUE(contains(svg(cross_trace(), 2), "<title>_das → &lt;s&gt;: 0.500</title>"));  // what the decoder reads
}

TEST(AttentionPicture, ItsDescriptionTellsWhatEachTokenReadsMost) {
  const AttentionTrace trace = cross_trace();
  EXPECT_EQ(drawn(trace, trace.maps[0], {.heads = {.mean = false, .chosen = {0}}}).description,
            "Where each row's token looks most: _das: _the (0.90); _alte: _house (0.75); _Haus: _house (1.00).");
}

TEST(AttentionPicture, TheScaleEndsWhereItIsToldOrAtARoundNumber) {
  const std::string by_itself = svg(cross_trace(), 0), told = svg(cross_trace(), 0, {.scale_end = 0.4});
  EXPECT_TRUE(contains(by_itself, ">0.8<"));  // the largest mean is 0.75
  EXPECT_TRUE(contains(told, ">0.4<"));
}

TEST(AttentionPicture, HostileTokensAreShownAndNotObeyed) {
  AttentionTrace trace = cross_trace();
  trace.source.tokens = {"</text><script>alert(1)</script>", "\"'&]]>"};
  trace.target.tokens = {"שלום", "\u202E😀", "\n"};
  const std::string drawn = svg(trace, 0);
  EXPECT_FALSE(contains(drawn, "<script"));
  EXPECT_FALSE(contains(drawn, "\u202E"));
  for (const std::string& token : trace.target.tokens) EXPECT_TRUE(contains(drawn, ">" + escape_markup(token) + "<"));
  EXPECT_TRUE(contains(drawn, "<title>" + escape_markup(trace.target.tokens[0] + " → " + trace.source.tokens[1])));
}

TEST(AttentionPicture, RefusesMapsThatAreNotTheTokens) {
  const AttentionTrace trace = cross_trace();
  AttentionTrace::Map map = trace.maps[0];
  map.weights.pop_back();
  EXPECT_THROW(drawn(trace, map), Error);
  map = trace.maps[0];
  map.queries = 2;
  EXPECT_THROW(drawn(trace, map), Error);
  map = trace.maps[0];
  map.heads = std::numeric_limits<Index>::max();
  EXPECT_THROW(drawn(trace, map), Error);
  EXPECT_THROW(drawn(trace, trace.maps[0], {.heads = {.chosen = {2}}}), Error);
  EXPECT_THROW(drawn(trace, trace.maps[0], {.heads = {.chosen = {-1}}}), Error);
  EXPECT_THROW(drawn(trace, trace.maps[0], {.heads = {.chosen = {1, 1}}}), Error);
  EXPECT_THROW(drawn(trace, trace.maps[0], {.scale_end = -1}), Error);
  AttentionTrace empty;
  EXPECT_THROW(drawn(empty, {"p", 0, AttentionKind::cross, 1, 0, 0, {}}), Error);
}

}  // namespace
}  // namespace heed
