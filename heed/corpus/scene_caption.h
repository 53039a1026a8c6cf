// What is to be seen in a scene, in English, German and Chinese, and which of its words are where.
//
//   describe_scene(scene, SceneLanguage::english).text;    // "a small red circle left of a blue square"
//   describe_scene(scene, SceneLanguage::german).text;     // "ein kleiner roter Kreis links von einem blauen Quadrat"
//   describe_scene(scene, SceneLanguage::chinese).text;    // "蓝色正方形左边的小红圆"
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heed/corpus/scene.h"

namespace heed {

enum class SceneLanguage { english, german, chinese };
inline constexpr std::pair<std::string_view, SceneLanguage> kSceneLanguageNames[] = {
    {"en", SceneLanguage::english}, {"de", SceneLanguage::german}, {"zh", SceneLanguage::chinese}};
inline std::span<const std::pair<std::string_view, SceneLanguage>> enum_names(SceneLanguage) {
  return kSceneLanguageNames;
}

// A word that names a thing or tells its size or colour.
struct PlacedWord {
  std::string text;
  Index begin = 0, end = 0;  // of the caption, in characters (code points)
  bool noun = false;         // it names the thing
  SceneBox box{};            // where the thing is
  friend bool operator==(const PlacedWord&, const PlacedWord&) = default;
};

struct SceneCaption {
  std::string text;
  std::vector<PlacedWord> words;  // in the caption's order
};

SceneCaption describe_scene(const Scene& scene, SceneLanguage language);

}  // namespace heed
