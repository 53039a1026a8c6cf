// What `heed align` writes: links or weights, one sentence pair after the other, whole or not at all.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "heed/base/file_writer.h"
#include "heed/io/json.h"
#include "heed/tasks/align.h"

namespace heed::cli {

struct AlignedPair {
  Index line;
  std::string_view source, target;
  const AlignmentLinks& links;
  const SoftAlignment& forward;   // [target, source]
  const SoftAlignment* backward;  // of a model of the other direction, [source, target]; or none
};

class AlignmentOutput {
 public:
  // Format: links, tsv or json. Writes to the file at `path`; where that is empty, to standard output if it `prints`,
  // and nothing otherwise. A tsv lists the weights from `least` up.
  AlignmentOutput(const std::string& path, std::string format, bool prints, double least);

  void write(const AlignedPair& pair);
  // Puts the file in its place, or prints what was gathered. Without it nothing is written.
  void commit();

 private:
  std::string format_;
  bool prints_;
  double least_;
  std::optional<FileWriter> file_;
  std::string text_;  // not yet in the file, or to be printed
};

// {"name": "AER", "score": 7.1, "precision": ...}, in percent.
Json alignment_score_to_json(const AlignmentScore& score);

}  // namespace heed::cli
