#include "heed/pretrained/layer_windows.h"

#include <gtest/gtest.h>

namespace heed {
namespace {

// What each layer of a decoder attends by.
std::vector<std::string> by_layer(const TwoChoices& choices, const std::vector<bool>& has_window) {
  TransformerConfig config;
  config.decoder_layers = std::ssize(has_window);
  attend_by_layer(config, choices, has_window);
  std::vector<std::string> texts;
  for (Index layer = 0; layer < config.decoder_layers; ++layer) {
    texts.push_back(config.block(/*decoder=*/true, layer).self_attention.text());
  }
  return texts;
}

TEST(LayerWindows, AreThoseOfTheLayersThatHaveOne) {
  const AttentionChoice all("rotary");
  const TwoChoices choices{all, windowed(all, 4)};
  const std::string w = "rotary + window(radius=3)", a = "rotary";
  EXPECT_EQ(by_layer(choices, {true, false, true}), (std::vector<std::string>{w, a, w}));
  EXPECT_EQ(by_layer(choices, {true, true, false, true}), (std::vector<std::string>{w, w, a, w}));
  EXPECT_EQ(by_layer(choices, {false, false, true}), (std::vector<std::string>{a, a, w}));
  EXPECT_EQ(by_layer(choices, {true, true}), (std::vector<std::string>{w, w}));
  EXPECT_EQ(by_layer({all, windowed(all, 0)}, {true, false}), (std::vector<std::string>{a, a}));
}

}  // namespace
}  // namespace heed
