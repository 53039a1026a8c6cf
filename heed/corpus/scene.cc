#include "heed/corpus/scene.h"

#include <algorithm>

namespace heed {
namespace {

// Edges lie on a grid, so that few kinds of patches have to be learned, and a gap is left between two things.
constexpr Index kGrid = 4, kGap = 4;  // pixels
constexpr Index kUses = 16;

// A multiple of kGrid, of those in [least, most], which are such themselves.
Index between(Rng& rng, Index least, Index most) { return least + kGrid * rng.below((most - least) / kGrid + 1); }

Index extent_of(SceneSize size) {
  constexpr Index kExtents[] = {12, 20, 28};
  return kExtents[static_cast<int>(size)];
}

template <typename T>
T any(Rng& rng, Index count) {
  return static_cast<T>(rng.below(count));
}

SceneThing draw_thing(Rng& rng, SceneSize size) {
  SceneThing thing{any<SceneShape>(rng, kSceneShapes), any<SceneColour>(rng, kSceneColours), size};
  thing.box.width = thing.box.height = extent_of(size);
  return thing;
}

void put_alone(Rng& rng, SceneThing& thing, ScenePlace place) {
  const Index room = kSceneSide - thing.box.width;
  const auto near = [&] { return between(rng, kGrid, 2 * kGrid); };
  const auto far = [&] { return between(rng, room - 2 * kGrid, room - kGrid); };
  const auto middle = [&] {
    const Index before = room / 2 / kGrid * kGrid;
    return between(rng, before, before + kGrid);
  };
  const bool left = place == ScenePlace::top_left || place == ScenePlace::bottom_left;
  const bool top = place == ScenePlace::top_left || place == ScenePlace::top_right;
  thing.box.left = place == ScenePlace::middle ? middle() : left ? near() : far();
  thing.box.top = place == ScenePlace::middle ? middle() : top ? near() : far();
}

// Puts one thing before the other along an axis, with room between them, and their middles nearly level on the other
// axis, so that nobody would call the one above the other where it is left of it.
void put_side_by_side(Rng& rng, SceneThing& first, SceneThing& second, bool across) {
  const auto start = [across](SceneThing& thing) -> Index& { return across ? thing.box.left : thing.box.top; };
  const auto level = [across](SceneThing& thing) -> Index& { return across ? thing.box.top : thing.box.left; };
  const Index a = first.box.width, b = second.box.width;
  start(first) = between(rng, 0, kSceneSide - a - kGap - b);
  start(second) = between(rng, start(first) + a + kGap, kSceneSide - b);
  const Index apart = start(second) + b / 2 - start(first) - a / 2, most = apart / 2 / kGrid * kGrid;
  level(second) = between(rng, 0, kSceneSide - b);
  const Index middle = level(second) + b / 2 - a / 2;
  level(first) = std::clamp<Index>(middle + between(rng, -most, most), 0, kSceneSide - a);
}

void put_together(Rng& rng, SceneThing& subject, SceneThing& other, ScenePlace place) {
  const bool across = place == ScenePlace::left || place == ScenePlace::right;
  const bool before = place == ScenePlace::left || place == ScenePlace::above;
  before ? put_side_by_side(rng, subject, other, across) : put_side_by_side(rng, other, subject, across);
}

// What the scene shows as one number, which a generator then scatters: all parts count alike, so that tests are made of
// parts that training has too.
SceneUse use_of(const Scene& scene) {
  std::uint64_t shown = static_cast<std::uint64_t>(scene.place);
  for (const SceneThing& thing : scene.things) {
    for (const auto part :
         {static_cast<int>(thing.shape), static_cast<int>(thing.colour), static_cast<int>(thing.size)}) {
      shown = shown * 8 + static_cast<std::uint64_t>(part) + 1;
    }
  }
  return Rng(shown).below(kUses) == 0 ? SceneUse::test : SceneUse::training;
}

Scene draw_any_scene(Rng& rng) {
  Scene scene;
  for (std::uint8_t& part : scene.ground) part = static_cast<std::uint8_t>(232 + rng.below(24));
  if (rng.below(6) == 0) {
    scene.things = {draw_thing(rng, any<SceneSize>(rng, kSceneSizes))};
    scene.place = any<ScenePlace>(rng, 5);
    put_alone(rng, scene.things[0], scene.place);
    return scene;
  }
  constexpr std::pair<SceneSize, SceneSize> kSizes[] = {{SceneSize::small, SceneSize::medium},
                                                        {SceneSize::small, SceneSize::large},
                                                        {SceneSize::medium, SceneSize::large}};
  const auto [smaller, larger] = kSizes[rng.below(3)];
  SceneThing subject = draw_thing(rng, smaller), other = draw_thing(rng, larger);
  scene.place = static_cast<ScenePlace>(static_cast<Index>(ScenePlace::left) + rng.below(4));
  put_together(rng, subject, other, scene.place);
  scene.things = {subject, other};
  return scene;
}

}  // namespace

Scene draw_scene(Rng& rng, SceneUse use) {
  while (true) {
    Scene scene = draw_any_scene(rng);
    if (use_of(scene) == use) return scene;
  }
}

}  // namespace heed
