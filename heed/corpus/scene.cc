#include "heed/corpus/scene.h"

#include <algorithm>
#include <cstdlib>

namespace heed {
namespace {

constexpr Index kMargin = 1, kGap = 3;  // pixels that stay free at the edge, and between two things
constexpr Index kUses = 16;

Index between(Rng& rng, Index least, Index most) { return least + rng.below(most - least + 1); }

// The sizes are far enough apart to be told, whatever their own play.
Index extent_of(Rng& rng, SceneSize size) {
  constexpr Index kLeast[] = {12, 18, 26};
  return kLeast[static_cast<int>(size)] + rng.below(3);
}

template <typename T>
T any(Rng& rng, Index count) {
  return static_cast<T>(rng.below(count));
}

SceneThing draw_thing(Rng& rng, SceneSize size) {
  SceneThing thing{any<SceneShape>(rng, kSceneShapes), any<SceneColour>(rng, kSceneColours), size};
  thing.box.width = thing.box.height = extent_of(rng, size);
  return thing;
}

void put_alone(Rng& rng, SceneThing& thing, ScenePlace place) {
  const Index extent = thing.box.width, room = kSceneSide - kMargin - extent, play = 6;
  if (place == ScenePlace::middle) {
    const Index middle = (kSceneSide - extent) / 2;
    thing.box.left = between(rng, middle - play / 2, middle + play / 2);
    thing.box.top = between(rng, middle - play / 2, middle + play / 2);
    return;
  }
  const Index near = between(rng, kMargin, kMargin + play), far = between(rng, room - play, room);
  const Index other_near = between(rng, kMargin, kMargin + play), other_far = between(rng, room - play, room);
  const bool left = place == ScenePlace::top_left || place == ScenePlace::bottom_left;
  const bool top = place == ScenePlace::top_left || place == ScenePlace::top_right;
  thing.box.left = left ? near : far;
  thing.box.top = top ? other_near : other_far;
}

// Puts one thing before the other along an axis, with room between them, and their middles nearly level on the other
// axis, so that nobody would call the one above the other where it is left of it.
void put_side_by_side(Rng& rng, SceneThing& first, SceneThing& second, bool across) {
  const auto start = [across](SceneThing& thing) -> Index& { return across ? thing.box.left : thing.box.top; };
  const auto level = [across](SceneThing& thing) -> Index& { return across ? thing.box.top : thing.box.left; };
  const Index a = first.box.width, b = second.box.width, end = kSceneSide - kMargin;
  start(first) = between(rng, kMargin, end - a - kGap - b);
  start(second) = between(rng, start(first) + a + kGap, end - b);
  const Index apart = start(second) + b / 2 - start(first) - a / 2, most = apart / 2;
  level(second) = between(rng, kMargin, end - b);
  const Index middle = level(second) + b / 2 - a / 2;
  level(first) = std::clamp(middle + between(rng, -most, most), kMargin, end - a);
}

void put_together(Rng& rng, SceneThing& subject, SceneThing& other, ScenePlace place) {
  const bool across = place == ScenePlace::left || place == ScenePlace::right;
  const bool before = place == ScenePlace::left || place == ScenePlace::above;
  before ? put_side_by_side(rng, subject, other, across) : put_side_by_side(rng, other, subject, across);
}

// FNV-1a over what the scene shows.
SceneUse use_of(const Scene& scene) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  const auto add = [&hash](auto part) { hash = (hash ^ static_cast<std::uint64_t>(part)) * 0x100000001b3u; };
  for (const SceneThing& thing : scene.things) add(thing.shape), add(thing.colour), add(thing.size);
  add(scene.place);
  return (hash >> 32) % kUses == 0 ? SceneUse::test : SceneUse::training;
}

Scene draw_any_scene(Rng& rng) {
  Scene scene;
  for (std::uint8_t& part : scene.ground) part = static_cast<std::uint8_t>(between(rng, 225, 255));
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
