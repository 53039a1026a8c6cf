// How good a model's captions are, and whether it looks at what it names.
//
//   const CaptionScore score = score_captions(
//       model, images, references, read_places("test.en.places", references));
//   score.exact_share(), score.noun_share();
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "heed/corpus/scene_caption.h"
#include "heed/tasks/caption.h"
#include "heed/viz/picture_attention.h"

namespace heed {

// Which weights of cross-attention tell where a word looks, as heed/tasks/align.h has it for words: of one layer, the
// last where none is given; of one head, or the mean of all; at the step that produces the word.
struct CaptionLook {
  std::optional<Index> layer{}, head{};
};

struct CaptionScore {
  Index captions = 0, exact = 0;  // greedy captions that are the reference to the letter
  Index nouns = 0, found = 0;     // nouns whose most attended patch has its middle in the thing that they name

  double exact_share() const { return captions == 0 ? 0 : static_cast<double>(exact) / static_cast<double>(captions); }
  double noun_share() const { return nouns == 0 ? 0 : static_cast<double>(found) / static_cast<double>(nouns); }
};

// The share of each token's attention to each patch, for words of a caption: the weights of the pieces that spell the
// characters [begin, end) of the text, blanks not counted, each as much as of it they have. The class token is left
// out. `trace` is trace_caption's for the ids of `text`. Throws heed::Error for a layer or head that is none of the
// model's, where the vocabulary's pieces do not spell the text, and where that has no visible character from `begin` to
// `end`.
PatchMap map_of_characters(const ModelFolder& folder, const AttentionTrace& trace, const std::string& text, Index begin,
                           Index end, const CaptionLook& look = {});

// Captions the pictures, greedily, and compares them with the references; where there are places, the model is also led
// through each reference, to see where its nouns attend. Throws heed::Error where the numbers differ, and as Captioner
// and trace_caption do.
CaptionScore score_captions(const ModelFolder& folder, std::span<const Image> images,
                            std::span<const std::string> references,
                            std::span<const std::vector<PlacedWord>> places = {}, const CaptionLook& look = {});

}  // namespace heed
