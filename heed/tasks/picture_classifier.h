// The class of a picture, and where the model looked.
//
//   const PictureClassifier classifier("vit-base-patch16-224");
//   const Classified classified = classifier.classify(read_image("cat.jpg"));
//   classifier.labels()[classified.likeliest()];
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "heed/image/image.h"
#include "heed/pretrained/pixel_values.h"
#include "heed/pretrained/pretrained_model.h"
#include "heed/tasks/classify.h"
#include "heed/viz/head_choice.h"
#include "heed/viz/picture_attention.h"

namespace heed {

// Which weights picture_maps gives: of one layer, the last where none is given; of some heads, or their mean.
struct PictureMapChoice {
  std::optional<Index> layer{};
  HeadChoice heads{};
};

class PictureClassifier {
 public:
  // Throws heed::Error as open_pretrained does, and for a model that sees no pictures.
  explicit PictureClassifier(const std::filesystem::path& folder);

  bool has_classes() const;
  // The names of the classes, in the order of Classified::probabilities. Throws heed::Error where the model has none.
  const std::vector<std::string>& labels() const;
  // Throws heed::Error where the model has no classes, and as pixel_values does.
  Classified classify(const Image& image) const;
  // What the first token, which the class is told by, attends to among the patches. Throws heed::Error for a layer or
  // a head that is none of the model's.
  std::vector<PatchMap> attention(const Image& image, const PictureMapChoice& choice) const;

 private:
  PretrainedModel opened_;
  PixelOptions pixels_;
};

}  // namespace heed
