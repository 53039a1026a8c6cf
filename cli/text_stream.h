// A text that is printed as it grows.
#pragma once

#include <string>

#include "heed/tasks/generate.h"

namespace heed::cli {

// What may still change, a character of which a part is missing, waits. A newline follows the text's end.
class TextStream {
 public:
  void show(const GeneratedPart& part);

 private:
  std::string printed_;
};

}  // namespace heed::cli
