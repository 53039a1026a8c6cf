#include "heed/tasks/picture_corpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "heed/base/check.h"
#include "heed/base/file.h"
#include "heed/base/file_lock.h"
#include "heed/base/file_writer.h"
#include "heed/base/parallel.h"
#include "heed/base/printable.h"
#include "heed/base/text_lines.h"
#include "heed/image/image.h"
#include "heed/io/json.h"
#include "heed/tasks/scene_picture.h"
#include "heed/unicode/unicode.h"

namespace heed {
namespace {

constexpr Index kSheetSide = 32, kSheet = kSheetSide * kSheetSide;  // pictures

struct CorpusPart {
  std::string name;
  Index count;
  SceneUse use;
  Index in_file;  // pictures

  Index files() const { return ceil_div(count, in_file); }
  std::string file(Index index) const { return fmt::format("{}-{:04}.png", name, index + 1); }
};

std::vector<CorpusPart> parts_of(const PictureCorpusOptions& options) {
  const std::vector<CorpusPart> parts{{"train", options.pictures, SceneUse::training, kSheet},
                                      {"valid", options.validation, SceneUse::test, kSheet},
                                      {"test", options.test, SceneUse::test, 1}};
  for (const CorpusPart& part : parts) {
    HEED_CHECK(part.count >= 0 && part.count <= kMostPictures,
               "a corpus of pictures: {} must have 0 to {} pictures, but is to have {}", part.name, kMostPictures,
               part.count);
  }
  return parts;
}

// Valid and test draw from streams of their own, so that neither depends on how many the others have.
std::vector<Scene> draw_scenes(const CorpusPart& part, std::uint64_t seed, Index first, Index count) {
  const std::uint64_t stream = part.name == "train" ? 0 : part.name == "valid" ? 1 : 2;
  std::vector<Scene> scenes(static_cast<std::size_t>(count));
  parallel_for(count, 64, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      Rng rng(seed, stream << 32 | static_cast<std::uint64_t>(first + i));
      scenes[static_cast<std::size_t>(i)] = draw_scene(rng, part.use);
    }
  });
  return scenes;
}

struct Place {
  Index left, top;
};

Place place_on_sheet(Index index) { return {index % kSheetSide * kSceneSide, index / kSheetSide * kSceneSide}; }

Image draw_sheet(const std::vector<Scene>& scenes) {
  const Index count = std::ssize(scenes), columns = std::min(count, kSheetSide);
  const Index rows = ceil_div(count, kSheetSide);
  Image sheet{rows * kSceneSide, columns * kSceneSide, {}};
  sheet.pixels.assign(static_cast<std::size_t>(sheet.height * sheet.width * 3), 255);
  parallel_for(count, 16, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const Image picture = draw_scene_picture(scenes[static_cast<std::size_t>(i)]);
      const auto [left, top] = place_on_sheet(i);
      for (Index y = 0; y < kSceneSide; ++y) {
        std::copy_n(picture.at(y, 0), kSceneSide * 3, sheet.pixels.data() + ((top + y) * sheet.width + left) * 3);
      }
    }
  });
  return sheet;
}

// What is written of one part, line by line.
class PartWriter {
 public:
  PartWriter(const CorpusPart& part, const std::filesystem::path& folder) : part_(part), folder_(folder) {}

  void add(Index file, const std::vector<Scene>& scenes) {
    write_file(folder_ / part_.file(file), png_bytes(draw_sheet(scenes)));
    for (Index i = 0; i < std::ssize(scenes); ++i) {
      const auto [left, top] = place_on_sheet(i);
      images_ += part_.file(file);
      if (part_.in_file > 1) images_ += fmt::format("\t{}\t{}\t{}\t{}", left, top, kSceneSide, kSceneSide);
      images_ += '\n';
      for (const auto& [name, language] : kSceneLanguageNames) {
        const SceneCaption caption = describe_scene(scenes[static_cast<std::size_t>(i)], language);
        captions_[std::string(name)] += caption.text + '\n';
        places_[std::string(name)] += places_to_text(caption) + '\n';
      }
    }
  }

  void finish() {
    for (const auto& [name, unused] : kSceneLanguageNames) {
      write_file(folder_ / fmt::format("{}.{}", part_.name, name), captions_[std::string(name)]);
      write_file(folder_ / fmt::format("{}.{}.places", part_.name, name), places_[std::string(name)]);
    }
    write_file(folder_ / fmt::format("{}.images", part_.name), images_);
  }

 private:
  const CorpusPart& part_;
  const std::filesystem::path& folder_;
  std::string images_;
  std::map<std::string, std::string> captions_, places_;  // by language
};

PlacedWord placed_word(const Json& item, const std::u32string& caption, const std::string& line) {
  constexpr Index kMost = 1 << 24;
  const std::vector<Index> box = item["box"].integer_list(0, kMost);
  if (box.size() != 4) item["box"].refuse("must be left, top, width and height");
  const Index begin = item["begin"].integer(0, kMost), end = item["end"].integer(begin + 1, kMost);
  const std::string text = item["word"].string();
  const bool is_there = end <= std::ssize(caption) &&
                        caption.compare(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin),
                                        decode_utf8(text, line)) == 0;
  HEED_CHECK(is_there, "{}: the caption's characters {} to {} are not '{}'", line, begin, end, printable(text, 80));
  return {text, begin, end, item["noun"].boolean(), {box[0], box[1], box[2], box[3]}};
}

}  // namespace

std::vector<std::filesystem::path> picture_corpus_files(const PictureCorpusOptions& options,
                                                        const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const CorpusPart& part : parts_of(options)) {
    files.push_back(folder / fmt::format("{}.images", part.name));
    for (const auto& [name, unused] : kSceneLanguageNames) {
      files.push_back(folder / fmt::format("{}.{}", part.name, name));
      files.push_back(folder / fmt::format("{}.{}.places", part.name, name));
    }
    for (Index file = 0; file < part.files(); ++file) files.push_back(folder / part.file(file));
  }
  return files;
}

void write_picture_corpus(const PictureCorpusOptions& options, const std::filesystem::path& folder,
                          const Progress& progress) {
  const std::vector<CorpusPart> parts = parts_of(options);
  make_folder(folder);
  const FileLock lock(folder / ".lock");  // two corpora in one folder would mix their files
  Index drawn = 0;
  for (const CorpusPart& part : parts) {
    PartWriter writer(part, folder);
    for (Index file = 0; file < part.files(); ++file) {
      const Index first = file * part.in_file, count = std::min(part.in_file, part.count - first);
      writer.add(file, draw_scenes(part, options.seed, first, count));
      drawn += count;
      if (progress) progress(drawn);
    }
    writer.finish();
  }
}

std::string places_to_text(const SceneCaption& caption) {
  Json list = Json::array();
  for (const PlacedWord& word : caption.words) {
    const SceneBox& box = word.box;
    list.append(Json::object({{"word", word.text},
                              {"begin", word.begin},
                              {"end", word.end},
                              {"noun", word.noun},
                              {"box", Json::array_of(std::vector{box.left, box.top, box.width, box.height})}}));
  }
  return list.dump();
}

std::vector<std::vector<PlacedWord>> read_places(const std::filesystem::path& file,
                                                 std::span<const std::string> captions) {
  const std::vector<std::string> lines = read_text_lines(file);
  HEED_CHECK(lines.size() == captions.size(), "{} has {} lines, but there are {} captions", text_name(file),
             lines.size(), captions.size());
  std::vector<std::vector<PlacedWord>> places;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string line = fmt::format("{}:{}", text_name(file), i + 1);
    const std::u32string caption = decode_utf8(captions[i], fmt::format("{}: the caption", line));
    std::vector<PlacedWord>& words = places.emplace_back();
    for (const Json& item : Json::parse(lines[i], line).items()) words.push_back(placed_word(item, caption, line));
  }
  return places;
}

}  // namespace heed
