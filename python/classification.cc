// What a model of encoders makes of texts: classes and masked words. heed/models.py makes of it what Python users see.
#include <pybind11/stl.h>

#include <string>
#include <tuple>
#include <vector>

#include "bindings.h"
#include "ctrl_c.h"
#include "heed/tasks/classify.h"
#include "heed/tasks/fill.h"
#include "heed/tasks/model_folder.h"

namespace heed::python {
namespace {

namespace py = pybind11;

using Lines = std::vector<std::string>;
using Probabilities = std::vector<double>;

std::vector<Probabilities> classes_of_texts(const ModelFolder& folder, const Lines& texts) {
  std::vector<Probabilities> rows;
  for (Classified& text : classify(folder, texts, "heed.Model.classify: text", kBatchTokens, CtrlC())) {
    rows.push_back(std::move(text.probabilities));
  }
  return rows;
}

// For each text its tokens, (piece, probabilities).
std::vector<std::vector<std::tuple<std::string, Probabilities>>> classes_of_tokens(const ModelFolder& folder,
                                                                                   const Lines& texts) {
  std::vector<std::vector<std::tuple<std::string, Probabilities>>> all;
  for (std::vector<ClassifiedToken>& tokens :
       classify_tokens(folder, texts, "heed.Model.classify: text", kBatchTokens, CtrlC())) {
    auto& rows = all.emplace_back();
    for (ClassifiedToken& token : tokens) {
      rows.emplace_back(folder.source_vocabulary->piece(token.token), std::move(token.probabilities));
    }
  }
  return all;
}

// For each text its masks, each with candidates (piece, probability, text).
std::vector<std::vector<std::vector<std::tuple<std::string, double, std::string>>>> fill(const ModelFolder& folder,
                                                                                         const Lines& texts,
                                                                                         Index candidates) {
  const Vocabulary& vocabulary = *folder.source_vocabulary;
  std::vector<std::vector<std::vector<std::tuple<std::string, double, std::string>>>> all;
  for (const std::vector<MaskedWord>& masks :
       fill_masks(folder, texts, candidates, "heed.Model.fill: text", kBatchTokens, CtrlC())) {
    auto& of_text = all.emplace_back();
    for (const MaskedWord& mask : masks) {
      auto& of_mask = of_text.emplace_back();
      for (const auto& [token, probability] : mask.candidates) {
        of_mask.emplace_back(vocabulary.piece(token), probability, filled_text(vocabulary, mask, token));
      }
    }
  }
  return all;
}

}  // namespace

void add_classification(py::module_& module) {
  const py::call_guard<py::gil_scoped_release> unlocked;
  module.def("class_labels", &class_labels);
  module.def("classifies_tokens", &classifies_tokens);
  module.def("classes_of_texts", &classes_of_texts, unlocked);
  module.def("classes_of_tokens", &classes_of_tokens, unlocked);
  module.def("fill", &fill, unlocked);
}

}  // namespace heed::python
