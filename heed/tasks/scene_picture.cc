#include "heed/tasks/scene_picture.h"

#include <cmath>
#include <numbers>

#include "heed/viz/shapes.h"

namespace heed {
namespace {

Colour colour_of(SceneColour colour) {
  static constexpr Colour kColours[] = {{0.86, 0.12, 0.14}, {0.12, 0.32, 0.85}, {0.10, 0.60, 0.22},
                                        {0.97, 0.79, 0.08}, {0.08, 0.08, 0.09}, {0.55, 0.18, 0.68}};
  return kColours[static_cast<int>(colour)];
}

// Corners in the unit square, y downwards.
std::vector<Point> unit_corners(SceneShape shape) {
  switch (shape) {
    case SceneShape::circle:
      return {};
    case SceneShape::square:
      return {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
    case SceneShape::triangle:
      return {{0.5, 0}, {1, 1}, {0, 1}};
    case SceneShape::diamond:
      return {{0.5, 0}, {1, 0.5}, {0.5, 1}, {0, 0.5}};
    case SceneShape::cross: {
      constexpr double a = 0.33, b = 1 - a;  // the arms' edges
      return {{a, 0}, {b, 0}, {b, a}, {1, a}, {1, b}, {b, b}, {b, 1}, {a, 1}, {a, b}, {0, b}, {0, a}, {a, a}};
    }
    case SceneShape::star:
      break;
  }
  // Five points on a circle and five dents, stretched to fill the square.
  constexpr double kDent = 0.42;
  const double widest = std::sin(0.4 * std::numbers::pi), lowest = std::cos(0.2 * std::numbers::pi);
  std::vector<Point> star;
  for (int i = 0; i < 10; ++i) {
    const double radius = i % 2 == 0 ? 1 : kDent, angle = i * std::numbers::pi / 5;
    star.push_back({(radius * std::sin(angle) + widest) / (2 * widest), (1 - radius * std::cos(angle)) / (1 + lowest)});
  }
  return star;
}

FilledShape shape_of(const SceneThing& thing) {
  const Box box{static_cast<double>(thing.box.left), static_cast<double>(thing.box.top),
                static_cast<double>(thing.box.width), static_cast<double>(thing.box.height)};
  FilledShape shape{.colour = colour_of(thing.colour)};
  if (thing.shape == SceneShape::circle) shape.ellipse = box;
  for (const Point& corner : unit_corners(thing.shape)) {
    shape.corners.push_back({box.x + corner.x * box.width, box.y + corner.y * box.height});
  }
  return shape;
}

}  // namespace

Image draw_scene_picture(const Scene& scene) {
  std::vector<FilledShape> shapes;
  for (const SceneThing& thing : scene.things) shapes.push_back(shape_of(thing));
  const auto part = [&](std::size_t i) { return scene.ground[i] / 255.0; };
  return draw_shapes(kSceneSide, kSceneSide, {part(0), part(1), part(2)}, shapes);
}

}  // namespace heed
