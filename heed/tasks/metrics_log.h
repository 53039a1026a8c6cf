// metrics.jsonl: one JSON object a line, beside the model.
#pragma once

#include <filesystem>

#include "heed/base/file_writer.h"
#include "heed/io/json.h"

namespace heed {

class MetricsLog {
 public:
  // Opens the log to go on after `update`: lines of later updates, and one cut short by a kill, are dropped, and so is
  // the validation of this one unless it is among those that the run keeps. Throws heed::Error.
  MetricsLog(const std::filesystem::path& file, Index update, bool validated);

  // Appends an object, which has a member "update". Throws heed::Error where it cannot be written.
  void write(const Json& object) { appender_.append(object.dump() + "\n"); }

 private:
  FileAppender appender_;
};

}  // namespace heed
