// Scores of translations and alignments, by corpora.
#include <pybind11/stl.h>

#include <optional>
#include <string>
#include <vector>

#include "bindings.h"
#include "heed/metrics/alignment.h"
#include "heed/metrics/bleu.h"
#include "heed/metrics/chrf.h"
#include "heed/metrics/ter.h"

namespace heed::python {

namespace py = pybind11;

namespace {

using Lines = std::vector<std::string>;

py::dict bleu(const Lines& hypotheses, const std::vector<Lines>& references, const std::string& tokenizer,
              bool lowercase, int max_order, const std::string& smoothing, std::optional<double> smoothing_value,
              bool effective_order) {
  const BleuOptions options{.tokenizer = parse_bleu_tokenizer(tokenizer),
                            .lowercase = lowercase,
                            .max_order = max_order,
                            .smoothing = parse_bleu_smoothing(smoothing),
                            .smoothing_value = smoothing_value,
                            .effective_order = effective_order};
  BleuScore score;
  {
    const py::gil_scoped_release unlocked;
    score = corpus_bleu(hypotheses, references, options);
  }
  py::dict result;
  result["score"] = score.score, result["precisions"] = score.precisions;
  result["brevity_penalty"] = score.brevity_penalty, result["hypothesis_length"] = score.hypothesis_length;
  result["reference_length"] = score.reference_length, result["signature"] = score.signature;
  result["summary"] = score.summary();
  return result;
}

py::dict chrf(const Lines& hypotheses, const std::vector<Lines>& references, int char_order, int word_order, int beta,
              bool whitespace, bool lowercase, bool eps_smoothing) {
  ChrfScore score;
  {
    const py::gil_scoped_release unlocked;
    score = corpus_chrf(hypotheses, references, {char_order, word_order, beta, whitespace, lowercase, eps_smoothing});
  }
  py::dict result;
  result["score"] = score.score, result["name"] = score.name, result["signature"] = score.signature;
  result["summary"] = score.summary();
  return result;
}

py::dict ter(const Lines& hypotheses, const std::vector<Lines>& references, const TerOptions& options) {
  TerScore score;
  {
    const py::gil_scoped_release unlocked;
    score = corpus_ter(hypotheses, references, options);
  }
  py::dict result;
  result["score"] = score.score, result["edits"] = score.edits, result["reference_length"] = score.reference_length;
  result["signature"] = score.signature, result["summary"] = score.summary();
  return result;
}

py::dict aer(const Lines& alignments, const Lines& gold, bool one_based) {
  AlignmentScore score;
  {
    const py::gil_scoped_release unlocked;
    score = score_alignments(parse_alignments(alignments, {.name = "alignments"}),
                             parse_gold_alignments(gold, {.name = "gold", .one_based = one_based}));
  }
  py::dict result;
  result["error_rate"] = score.error_rate, result["precision"] = score.precision, result["recall"] = score.recall;
  result["f1"] = score.f1, result["links"] = score.links, result["summary"] = score.summary();
  return result;
}

}  // namespace

void add_metrics(py::module_& module) {
  module.def("bleu", &bleu);
  module.def("chrf", &chrf);
  module.def("ter", [](const Lines& hypotheses, const std::vector<Lines>& references, bool normalized,
                       bool no_punctuation, bool asian_support, bool case_sensitive) {
    return ter(hypotheses, references, {normalized, no_punctuation, asian_support, case_sensitive});
  });
  module.def("aer", &aer);
}

}  // namespace heed::python
