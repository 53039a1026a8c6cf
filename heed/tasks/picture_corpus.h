// A corpus of pictures with captions, drawn: nothing has to be downloaded.
//
//   write_picture_corpus({.pictures = 20000, .seed = 1}, "scenes");
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/progress.h"
#include "heed/corpus/scene_caption.h"

namespace heed {

inline constexpr Index kMostPictures = 1'000'000;  // of each part

struct PictureCorpusOptions {
  Index pictures = 20000;  // of train
  std::uint64_t seed = 1;
  Index validation = 500;
  Index test = 500;
};

// The files in the folder: of train, valid and test the list of pictures (.images, heed/tasks/picture_list.h); captions
// (.en, .de, .zh), a line for each; and for each language the places of words (.en.places), a line of JSON for each
// caption: [{"word": "circle", "begin": 12, "end": 18, "noun": true, "box": [left, top, width, height]}, ...], where
// begin and end count the caption's characters and the box pixels; and the pictures: of train and valid up to 1,024 in
// one file, side by side, of test a file each. Throws heed::Error where a count is not in [0, kMostPictures].
std::vector<std::filesystem::path> picture_corpus_files(const PictureCorpusOptions& options,
                                                        const std::filesystem::path& folder);

// Draws and writes the corpus. The same options give the same bytes, whatever the thread count; scene i of a part
// depends on the seed, the part and i alone. No caption of valid or test is one of train. The folder is made where it
// is missing; each file is replaced whole or not at all. Progress counts pictures. Throws
// heed::Error where a count is not in [0, kMostPictures], as write_file does, and where another process writes a corpus
// into the folder.
void write_picture_corpus(const PictureCorpusOptions& options, const std::filesystem::path& folder,
                          const Progress& progress = {});

// The places of a caption's words as a line of a .places file, and those of all captions, one a line. Throws
// heed::Error naming the file, and the line for what is none and for a word that its caption does not have there.
std::string places_to_text(const SceneCaption& caption);
std::vector<std::vector<PlacedWord>> read_places(const std::filesystem::path& file,
                                                 std::span<const std::string> captions);

}  // namespace heed
