// Scenes of one or two coloured shapes: what pictures are drawn of and captions tell.
//
//   Rng rng(1, 17);
//   const Scene scene = draw_scene(rng, SceneUse::training);
//   scene.things[0].box;                           // where the thing is that the caption speaks of
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/index.h"
#include "heed/base/random.h"

namespace heed {

inline constexpr Index kSceneSide = 64;  // pixels, of a picture's height and width

enum class SceneShape { circle, square, triangle, star, diamond, cross };
enum class SceneColour { red, blue, green, yellow, black, purple };
enum class SceneSize { small, medium, large };
// Of a thing alone: where in the picture it is. Of two things: where the first is, seen from the second.
enum class ScenePlace { top_left, top_right, bottom_left, bottom_right, middle, left, right, above, below };

inline constexpr Index kSceneShapes = 6, kSceneColours = 6, kSceneSizes = 3;

// Whole pixels; right and bottom are left + width and top + height.
struct SceneBox {
  Index left = 0, top = 0, width = 0, height = 0;
  friend bool operator==(const SceneBox&, const SceneBox&) = default;
};

struct SceneThing {
  SceneShape shape = SceneShape::circle;
  SceneColour colour = SceneColour::red;
  SceneSize size = SceneSize::medium;
  SceneBox box{};  // that the shape just fills
  friend bool operator==(const SceneThing&, const SceneThing&) = default;
};

struct Scene {
  std::vector<SceneThing> things;  // one, or two of different size, the smaller first: the caption's subject
  ScenePlace place = ScenePlace::middle;
  std::array<std::uint8_t, 3> ground{};  // the background, a light grey with a tint
  friend bool operator==(const Scene&, const Scene&) = default;
};

// What a scene may be used for. What a scene shows (shapes, colours, sizes, place; not the pixels) decides by a hash,
// so that no caption of a test is one of training: a sixteenth of all is for tests.
enum class SceneUse { training, test };

// A scene of that use; five of six have two things. A pure function of the generator, which it moves on.
Scene draw_scene(Rng& rng, SceneUse use);

}  // namespace heed
