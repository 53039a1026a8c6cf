#include "heed/tasks/picture_corpus.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "heed/base/file.h"
#include "heed/base/file_writer.h"
#include "heed/base/text_lines.h"
#include "heed/tasks/picture_list.h"
#include "heed/tasks/scene_picture.h"
#include "heed/testing/refusal.h"

namespace heed {
namespace {

namespace fs = std::filesystem;
using testing::refusal;

fs::path scratch(const char* name) {
  const fs::path folder = fs::path(::testing::TempDir()) / "heed_picture_corpus_test" / name;
  fs::remove_all(folder);
  make_folder(folder);
  return folder;
}

Scene scene_number(Index i) {
  Rng rng(5, static_cast<std::uint64_t>(i));
  return draw_scene(rng, SceneUse::training);
}

// How far a pixel is from the ground, over the three colours.
int distance(const Image& image, const Scene& scene, Index y, Index x) {
  int sum = 0;
  for (std::size_t c = 0; c < 3; ++c) sum += std::abs(int{image.at(y, x)[c]} - int{scene.ground[c]});
  return sum;
}

TEST(ScenePicture, EachThingFillsItsBoxAndNothingElseIsDrawn) {
  for (Index i = 0; i < 100; ++i) {
    const Scene scene = scene_number(i);
    const Image image = draw_scene_picture(scene);
    for (const SceneThing& thing : scene.things) {
      const SceneBox& box = thing.box;
      const auto drawn = [&](Index y, Index x) { return distance(image, scene, y, x) > 30; };
      bool left = false, right = false, top = false, bottom = false;
      for (Index y = box.top; y < box.top + box.height; ++y) {
        left = left || drawn(y, box.left), right = right || drawn(y, box.left + box.width - 1);
      }
      for (Index x = box.left; x < box.left + box.width; ++x) {
        top = top || drawn(box.top, x), bottom = bottom || drawn(box.top + box.height - 1, x);
      }
      EXPECT_TRUE(left && right && top && bottom) << "scene " << i;
      EXPECT_TRUE(drawn(box.top + box.height / 2, box.left + box.width / 2)) << "scene " << i;
    }
    for (Index y = 0; y < kSceneSide; ++y) {
      for (Index x = 0; x < kSceneSide; ++x) {
        const bool inside = std::ranges::any_of(scene.things, [&](const SceneThing& thing) {
          const SceneBox& box = thing.box;
          return x >= box.left && x < box.left + box.width && y >= box.top && y < box.top + box.height;
        });
        if (!inside) {
          ASSERT_EQ(distance(image, scene, y, x), 0) << "scene " << i;
        }
      }
    }
  }
}

TEST(PictureCorpus, HoldsTheScenesOfItsSeedWhereItsListSays) {
  const fs::path folder = scratch("corpus");
  const PictureCorpusOptions options{.pictures = 40, .seed = 5, .validation = 3, .test = 2};
  write_picture_corpus(options, folder);
  for (const fs::path& file : picture_corpus_files(options, folder)) EXPECT_TRUE(file_exists(file)) << file;
  const PictureList train = read_picture_list(folder / "train.images");
  const std::vector<std::string> german = read_text_lines(folder / "train.de");
  const auto places = read_places(folder / "train.de.places", german);
  ASSERT_EQ(train.images.size(), 40u);
  ASSERT_EQ(german.size(), 40u);
  ASSERT_EQ(places.size(), 40u);
  for (std::size_t i = 0; i < 40; ++i) {
    const Scene scene = scene_number(static_cast<Index>(i));
    const SceneCaption caption = describe_scene(scene, SceneLanguage::german);
    EXPECT_EQ(train.images[i], draw_scene_picture(scene)) << i;
    EXPECT_EQ(german[i], caption.text);
    EXPECT_EQ(places[i], caption.words);
  }
  EXPECT_EQ(read_picture_list(folder / "test.images").images[1], read_image(folder / "test-0002.png"));

  // Other parts do not depend on how many pictures train has.
  const std::string test = read_file(folder / "test.zh"), picture = read_file(folder / "valid-0001.png");
  const fs::path other = scratch("other");
  write_picture_corpus({.pictures = 7, .seed = 5, .validation = 3, .test = 2}, other);
  EXPECT_EQ(read_file(other / "test.zh"), test);
  EXPECT_EQ(read_file(other / "valid-0001.png"), picture);
  EXPECT_EQ(read_file(other / "train.en"),
            read_file(folder / "train.en").substr(0, read_file(other / "train.en").size()));
}

TEST(PictureList, WhatIsNoPictureIsNamedWithItsLine) {
  const fs::path folder = scratch("list");
  write_picture_corpus({.pictures = 4, .seed = 1, .validation = 0, .test = 1}, folder);
  const fs::path list = folder / "list";
  const auto refused = [&](const std::string& lines) {
    write_file(list, lines);
    const std::string error = refusal([&] { read_picture_list(list); });
    return error.starts_with(list.string()) ? error.substr(list.string().size()) : error;
  };
  const std::string first = "test-0001.png\n";
  EXPECT_EQ(refused(""), ": is empty: it lists no picture");
  for (const char* bad : {"", "train-0001.png\t0\t0\t64", "train-0001.png\t0\t0\t64\t0",
                          "train-0001.png\t-1\t0\t64\t64", "train-0001.png\t0\tx\t64\t64", "\t0\t0\t64\t64"}) {
    EXPECT_TRUE(refused(first + bad + "\n").starts_with(":2: a line must be")) << bad;
  }
  EXPECT_EQ(refused(first + "train-0001.png\t200\t0\t64\t64\n"),
            ":2: the part is not within the picture, which has 256 x 64 pixels");
  EXPECT_EQ(refused(first + "train-0001.png\t0\t1\t64\t9223372036854775807\n"),
            ":2: the part is not within the picture, which has 256 x 64 pixels");
  EXPECT_EQ(refused(first + "train-0001.png\n"),
            ":2: the picture has 256 x 64 pixels, but the first of the list has 64 x 64");
  EXPECT_NE(refused("nowhere.png\n").find("nowhere.png"), std::string::npos);
}

TEST(PictureCorpus, PlacesThatAreNoneAreNamedWithTheirLine) {
  const fs::path file = scratch("places") / "x.places";
  const std::vector<std::string> captions{"a", "ä circle"};
  const std::string good = R"([{"word":"a","begin":0,"end":1,"noun":true,"box":[1,2,3,4]}])";
  write_file(file, good + "\n[]\n");
  EXPECT_EQ(read_places(file, captions)[0], (std::vector<PlacedWord>{{"a", 0, 1, true, {1, 2, 3, 4}}}));
  EXPECT_TRUE(read_places(file, captions)[1].empty());
  EXPECT_EQ(refusal([&] {
              read_places(file, {captions.data(), 1});
            }),
            file.string() + " has 2 lines, but there are 1 captions");
  for (const char* bad : {"{}x", "[1]", R"([{"word":"","begin":1,"end":1,"noun":true,"box":[1,2,3,4]}])",
                          R"([{"word":"ä","begin":0,"end":1,"noun":true,"box":[1,2,3]}])",
                          R"([{"word":"ä","begin":0,"end":1,"noun":1,"box":[1,2,3,4]}])", R"([{"word":"ä"}])"}) {
    write_file(file, good + "\n" + bad + "\n");
    EXPECT_TRUE(refusal([&] { read_places(file, captions); }).starts_with(file.string() + ":2")) << bad;
  }
}

// Those of another language, or with an end that no caption has, would all look at the first patch.
TEST(PictureCorpus, PlacesMustBeThoseOfTheirCaptions) {
  const fs::path file = scratch("others") / "x.places";
  const std::vector<std::string> captions{"ein Kreis"};
  const auto refused = [&](const char* word, int begin, int end) {
    write_file(file,
               fmt::format(R"([{{"word":"{}","begin":{},"end":{},"noun":true,"box":[1,2,3,4]}}])", word, begin, end));
    return refusal([&] { read_places(file, captions); });
  };
  EXPECT_EQ(refused("Kreis", 4, 9), "no error");
  EXPECT_EQ(refused("circle", 2, 8), file.string() + ":1: the caption's characters 2 to 8 are not 'circle'");
  EXPECT_EQ(refused("Kreis", 4, 16777216),
            file.string() + ":1: the caption's characters 4 to 16777216 are not 'Kreis'");
  EXPECT_EQ(refused("Kreis", 99, 104), file.string() + ":1: the caption's characters 99 to 104 are not 'Kreis'");
}

}  // namespace
}  // namespace heed
