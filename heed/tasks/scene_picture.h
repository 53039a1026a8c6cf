// Scenes (heed/corpus/scene.h) as pictures.
//
//   Rng rng(1);
//   const Image image = draw_scene_picture(draw_scene(rng, SceneUse::training));
#pragma once

#include "heed/corpus/scene.h"
#include "heed/image/image.h"

namespace heed {

// Of kSceneSide pixels each way. Each thing just fills its box.
Image draw_scene_picture(const Scene& scene);

}  // namespace heed
