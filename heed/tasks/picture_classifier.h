// The class of a picture, and where the model looked.
//
//   const PictureClassifier classifier("vit-base-patch16-224");
//   const Classified classified = classifier.classify(read_image("cat.jpg"));
//   classifier.labels()[classified.likeliest()];
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "heed/image/image.h"
#include "heed/observe/recorder.h"
#include "heed/observe/trace.h"
#include "heed/pretrained/pixel_values.h"
#include "heed/tasks/classify.h"
#include "heed/tasks/model_folder.h"

namespace heed {

class PictureClassifier {
 public:
  // Throws heed::Error as load_bare_model does, and for a model that does not see pictures or captions them.
  explicit PictureClassifier(const std::filesystem::path& folder);

  bool has_classes() const;
  // The names of the classes, in the order of Classified::probabilities. Throws heed::Error where the model has none.
  const std::vector<std::string>& labels() const;
  // Throws heed::Error where the model has no classes, and as pixel_values does.
  Classified classify(const Image& image) const;
  // What each token and patch attends to, in every layer, over the picture; its text is the likeliest class, where the
  // model has some. The class is told by the first token.
  AttentionTrace trace(const Image& image, const TraceParts& parts = {}) const;
  // The maps of trace alone, without the picture and its class.
  AttentionTrace attention(const Image& image) const;

 private:
  BareModel opened_;
  PixelOptions pixels_;
};

}  // namespace heed
