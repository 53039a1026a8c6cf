#include "align_output.h"

#include <fmt/format.h>

#include "heed/corpus/corpus.h"
#include "output.h"

namespace heed::cli {
namespace {

constexpr std::size_t kBuffer = 1 << 20;

Json to_json(const SoftAlignment& soft) {
  Json rows = Json::array();
  for (Index row = 0; row < soft.target; ++row) {
    Json weights = Json::array();
    for (Index column = 0; column < soft.source; ++column) weights.append(soft.weight(row, column));
    rows.append(std::move(weights));
  }
  return rows;
}

std::string json_line(const AlignedPair& pair) {
  Json links = Json::array();
  for (const AlignmentLink& link : pair.links) links.append(Json::array_of(std::vector{link.source, link.target}));
  Json json = Json::object({{"line", pair.line},
                            {"source", Json::array_of(alignment_tokens(pair.source))},
                            {"target", Json::array_of(alignment_tokens(pair.target))},
                            {"links", std::move(links)},
                            {"weights", to_json(pair.forward)}});
  if (pair.backward != nullptr) json.set("reverse_weights", to_json(*pair.backward));
  return json.dump() + '\n';
}

std::string tsv_lines(const AlignedPair& pair, double least) {
  std::string lines;
  for (Index s = 0; s < pair.forward.source; ++s) {
    for (Index t = 0; t < pair.forward.target; ++t) {
      const double weight = pair.forward.weight(t, s);
      const double reverse = pair.backward == nullptr ? 0 : pair.backward->weight(s, t);
      if (std::max(weight, reverse) < least) continue;
      lines += fmt::format("{}\t{}\t{}\t{:.6f}", pair.line, s, t, weight);
      lines += pair.backward == nullptr ? "\n" : fmt::format("\t{:.6f}\n", reverse);
    }
  }
  return lines;
}

}  // namespace

AlignmentOutput::AlignmentOutput(const std::string& path, std::string format, bool prints, double least)
    : format_(std::move(format)), prints_(prints), least_(least) {
  if (!path.empty()) file_.emplace(path);
}

void AlignmentOutput::write(const AlignedPair& pair) {
  if (!file_ && !prints_) return;
  if (format_ == "json") {
    text_ += json_line(pair);
  } else if (format_ == "tsv") {
    text_ += tsv_lines(pair, least_);
  } else {
    text_ += format_alignment(pair.links) + '\n';
  }
  if (file_ && text_.size() > kBuffer) file_->write(text_), text_.clear();
}

void AlignmentOutput::commit() {
  if (file_) {
    file_->write(text_);
    file_->commit();
  } else if (prints_) {
    print(text_);
  }
}

Json alignment_score_to_json(const AlignmentScore& score) {
  return Json::object({{"name", "AER"},
                       {"score", 100 * score.error_rate},
                       {"precision", 100 * score.precision},
                       {"recall", 100 * score.recall},
                       {"f1", 100 * score.f1},
                       {"links", score.links},
                       {"sure", score.sure},
                       {"in_sure", score.in_sure},
                       {"in_possible", score.in_possible}});
}

}  // namespace heed::cli
