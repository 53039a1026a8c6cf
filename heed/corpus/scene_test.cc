#include "heed/corpus/scene.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>

#include "heed/corpus/scene_caption.h"

namespace heed {
namespace {

std::vector<Scene> many_scenes(Index count, SceneUse use = SceneUse::training, std::uint64_t seed = 1) {
  std::vector<Scene> scenes;
  for (Index i = 0; i < count; ++i) {
    Rng rng(seed, static_cast<std::uint64_t>(i));
    scenes.push_back(draw_scene(rng, use));
  }
  return scenes;
}

// The first characters of a text are [begin, end) of it.
std::string characters(const std::string& text, Index begin, Index end) {
  std::string part;
  Index at = -1;
  for (char c : text) {
    if ((static_cast<unsigned char>(c) & 0xC0) != 0x80) ++at;
    if (at >= begin && at < end) part += c;
  }
  return part;
}

TEST(Scene, TheSameGeneratorDrawsTheSame) {
  EXPECT_EQ(many_scenes(50), many_scenes(50));
  EXPECT_NE(many_scenes(50), many_scenes(50, SceneUse::training, 2));
}

TEST(Scene, ThingsLieInThePictureWhereThePlaceSays) {
  for (const Scene& scene : many_scenes(2000)) {
    for (const SceneThing& thing : scene.things) {
      EXPECT_GE(thing.box.left, 0);
      EXPECT_GE(thing.box.top, 0);
      EXPECT_LE(thing.box.left + thing.box.width, kSceneSide);
      EXPECT_LE(thing.box.top + thing.box.height, kSceneSide);
    }
    const auto middle = [](const SceneThing& thing) {
      return std::pair(thing.box.left + thing.box.width / 2, thing.box.top + thing.box.height / 2);
    };
    const auto [x, y] = middle(scene.things[0]);
    if (scene.things.size() == 1) {
      const bool left = scene.place == ScenePlace::top_left || scene.place == ScenePlace::bottom_left;
      const bool top = scene.place == ScenePlace::top_left || scene.place == ScenePlace::top_right;
      if (scene.place == ScenePlace::middle) {
        EXPECT_LE(std::abs(x - kSceneSide / 2), 4);
        EXPECT_LE(std::abs(y - kSceneSide / 2), 4);
      } else {
        EXPECT_EQ(x < kSceneSide / 2, left);
        EXPECT_EQ(y < kSceneSide / 2, top);
      }
      continue;
    }
    const auto [other_x, other_y] = middle(scene.things[1]);
    const Index right = x - other_x, down = y - other_y;
    EXPECT_LT(scene.things[0].box.width, scene.things[1].box.width);
    switch (scene.place) {
      case ScenePlace::left:
        EXPECT_LT(right, -std::abs(down));
        break;
      case ScenePlace::right:
        EXPECT_GT(right, std::abs(down));
        break;
      case ScenePlace::above:
        EXPECT_LT(down, -std::abs(right));
        break;
      default:
        EXPECT_EQ(scene.place, ScenePlace::below);
        EXPECT_GT(down, std::abs(right));
    }
  }
}

TEST(Scene, NoCaptionOfATestIsOneOfTraining) {
  std::set<std::string> trained;
  for (const Scene& scene : many_scenes(5000)) trained.insert(describe_scene(scene, SceneLanguage::english).text);
  EXPECT_GT(trained.size(), 3000u);
  std::set<std::string> tested;
  for (const Scene& scene : many_scenes(500, SceneUse::test)) {
    const std::string caption = describe_scene(scene, SceneLanguage::english).text;
    tested.insert(caption);
    EXPECT_FALSE(trained.contains(caption)) << caption;
  }
  EXPECT_GT(tested.size(), 300u);
}

TEST(SceneCaption, EnglishGermanAndChinese) {
  const SceneThing circle{SceneShape::circle, SceneColour::red, SceneSize::small, {4, 20, 12, 12}};
  const SceneThing square{SceneShape::square, SceneColour::blue, SceneSize::medium, {30, 20, 20, 20}};
  const Scene scene{{circle, square}, ScenePlace::left, {}};
  EXPECT_EQ(describe_scene(scene, SceneLanguage::english).text, "a small red circle left of a blue square");
  EXPECT_EQ(describe_scene(scene, SceneLanguage::german).text,
            "ein kleiner roter Kreis links von einem blauen Quadrat");
  EXPECT_EQ(describe_scene(scene, SceneLanguage::chinese).text, "蓝色正方形左边的小红圆");
}

TEST(SceneCaption, GermanAdjectivesAgreeInGenderAndCase) {
  const auto german = [](SceneShape first, SceneShape second, ScenePlace place) {
    return describe_scene(
               {{{first, SceneColour::green, SceneSize::medium}, {second, SceneColour::black, SceneSize::large}},
                place,
                {}},
               SceneLanguage::german)
        .text;
  };
  EXPECT_EQ(german(SceneShape::star, SceneShape::diamond, ScenePlace::above),
            "ein grüner Stern über einer großen schwarzen Raute");
  EXPECT_EQ(german(SceneShape::diamond, SceneShape::star, ScenePlace::below),
            "eine grüne Raute unter einem großen schwarzen Stern");
  EXPECT_EQ(german(SceneShape::cross, SceneShape::triangle, ScenePlace::right),
            "ein grünes Kreuz rechts von einem großen schwarzen Dreieck");
}

TEST(SceneCaption, OneThingHasAPlaceInThePicture) {
  const Scene scene{
      {{SceneShape::triangle, SceneColour::yellow, SceneSize::large, {20, 20, 26, 26}}}, ScenePlace::middle, {}};
  EXPECT_EQ(describe_scene(scene, SceneLanguage::english).text, "a large yellow triangle in the middle");
  EXPECT_EQ(describe_scene(scene, SceneLanguage::german).text, "ein großes gelbes Dreieck in der Mitte");
  EXPECT_EQ(describe_scene(scene, SceneLanguage::chinese).text, "中间的黄色大三角形");
}

TEST(SceneCaption, EveryWordIsWhereItSaysAndOfItsThing) {
  for (const Scene& scene : many_scenes(300)) {
    for (const auto& [name, language] : kSceneLanguageNames) {
      const SceneCaption caption = describe_scene(scene, language);
      std::size_t nouns = 0;
      for (const PlacedWord& word : caption.words) {
        EXPECT_EQ(characters(caption.text, word.begin, word.end), word.text) << caption.text;
        EXPECT_TRUE(std::ranges::any_of(scene.things, [&](const auto& thing) { return thing.box == word.box; }));
        nouns += word.noun ? 1 : 0;
      }
      EXPECT_EQ(nouns, scene.things.size()) << caption.text;
      // The subject is named first, but in Chinese last.
      const PlacedWord& first = caption.words.front();
      EXPECT_EQ(first.box, language == SceneLanguage::chinese ? scene.things.back().box : scene.things.front().box);
    }
  }
}

}  // namespace
}  // namespace heed
