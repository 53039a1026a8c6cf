// Models that see and that hear. heed/senses.py makes of it what Python users see.
#include <pybind11/numpy.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "bindings.h"
#include "ctrl_c.h"
#include "heed/base/check.h"
#include "heed/tasks/picture_classifier.h"
#include "heed/tasks/transcribe.h"
#include "heed/viz/picture_attention.h"

namespace heed::python {
namespace {

namespace py = pybind11;

using Pixels = py::array_t<std::uint8_t, py::array::c_style>;
using Samples = py::array_t<float, py::array::c_style>;

Image image_of(const Pixels& pixels) {
  return {pixels.shape(0), pixels.shape(1), {pixels.data(), pixels.data() + pixels.size()}};
}

void add_picture_classifier(py::module_& module) {
  py::class_<PictureClassifier>(module, "PictureClassifier")
      .def(py::init<const std::filesystem::path&>(), py::call_guard<py::gil_scoped_release>())
      .def("labels", &PictureClassifier::labels)
      .def("classify",
           [](const PictureClassifier& classifier, const Pixels& pixels) {
             const Image image = image_of(pixels);
             const py::gil_scoped_release unlocked;
             return classifier.classify(image).probabilities;
           })
      .def("attention",
           [](const PictureClassifier& classifier, const Pixels& pixels, std::optional<Index> layer) {
             const Image image = image_of(pixels);
             AttentionTrace trace;
             {
               const py::gil_scoped_release unlocked;
               trace = classifier.attention(image);
             }
             const Index chosen = layer.value_or(std::ssize(trace.maps) - 1);
             HEED_CHECK(chosen >= 0 && chosen < std::ssize(trace.maps),
                        "there is no layer {}: the model has {}, counted from 0", chosen, trace.maps.size());
             const AttentionTrace::Map& map = trace.maps[static_cast<std::size_t>(chosen)];
             py::list arrays;
             for (const PatchMap& patches : patch_maps(trace, map, {.mean = false})) {
               arrays.append(py::array_t<double>({patches.rows, patches.columns}, patches.weights.data()));
             }
             return arrays;
           })
      .def("trace", [](const PictureClassifier& classifier, const Pixels& pixels, bool scores, bool embeddings) {
        const Image image = image_of(pixels);
        const py::gil_scoped_release unlocked;
        return std::make_shared<AttentionTrace>(classifier.trace(image, {.scores = scores, .embeddings = embeddings}));
      });
  module.def("read_image", [](const std::filesystem::path& path) {
    Image image;
    {
      const py::gil_scoped_release unlocked;
      image = read_image(path);
    }
    return Pixels({image.height, image.width, Index{3}}, image.pixels.data());
  });
}

// (text, language, [(word, begin, end)]).
using Transcript = std::tuple<std::string, std::string, std::vector<std::tuple<std::string, double, double>>>;

Transcript transcribe(const Transcriber& transcriber, const Wave& wave, const TranscriptionOptions& options) {
  const py::gil_scoped_release unlocked;
  const Transcription heard = transcriber.transcribe(wave, options, CtrlC());
  Transcript result{heard.text, heard.language, {}};
  for (const TimedWord& word : heard.words) std::get<2>(result).emplace_back(word.text, word.begin, word.end);
  return result;
}

void add_transcriber(py::module_& module) {
  py::class_<Transcriber>(module, "Transcriber")
      .def(py::init<const std::filesystem::path&>(), py::call_guard<py::gil_scoped_release>())
      .def("transcribe",
           [](const Transcriber& transcriber, const Samples& samples, Index rate, const std::string& language,
              const std::string& task, Index beam, bool words) {
             const Wave wave{.rate = rate, .samples = {samples.data(), samples.data() + samples.size()}};
             return transcribe(transcriber, wave, {.language = language, .task = task, .beam = beam, .words = words});
           })
      .def("trace", [](const Transcriber& transcriber, const Samples& samples, Index rate, const std::string& language,
                       const std::string& task, bool scores, bool embeddings) {
        const Wave wave{.rate = rate, .samples = {samples.data(), samples.data() + samples.size()}};
        const py::gil_scoped_release unlocked;
        return std::make_shared<AttentionTrace>(transcriber.trace(wave, {.language = language, .task = task},
                                                                  {.scores = scores, .embeddings = embeddings}));
      });
  module.def("read_wave", [](const std::filesystem::path& path) {
    Wave wave;
    {
      const py::gil_scoped_release unlocked;
      wave = read_wave(path);
    }
    return py::make_tuple(Samples(static_cast<py::ssize_t>(wave.samples.size()), wave.samples.data()), wave.rate);
  });
}

}  // namespace

void add_senses(py::module_& module) {
  add_picture_classifier(module);
  add_transcriber(module);
}

}  // namespace heed::python
