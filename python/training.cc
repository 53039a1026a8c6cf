// Training, told to a Python function.
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <atomic>
#include <exception>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "bindings.h"
#include "fields.h"
#include "heed/base/check.h"
#include "heed/corpus/corpus.h"
#include "heed/tasks/train.h"
#include "heed/tasks/train_presets.h"

namespace heed::python {
namespace {

// Calls callback(event, {...}). What it raises, Ctrl-C and a true answer stop the run, which saves first.
class PythonMonitor : public TrainingMonitor {
 public:
  explicit PythonMonitor(py::object callback) : callback_(std::move(callback)) {}

  const std::atomic<bool>& stop() const { return stop_; }
  // Raises what stopped the run, where that was an exception.
  void rethrow() const {
    if (raised_) std::rethrow_exception(raised_);
  }

  void on_vocabulary(Index lines, Index most_pieces) override {
    using namespace py::literals;
    tell("vocabulary", [&] { return py::dict("lines"_a = lines, "most_pieces"_a = most_pieces); });
  }
  void on_start(const CorpusReport& r) override {
    using namespace py::literals;
    tell("start", [&] {
      return py::dict("sequences"_a = r.sequences, "dropped_empty"_a = r.dropped_empty,
                      "dropped_long"_a = r.dropped_long, "source_vocabulary"_a = r.source_vocabulary,
                      "target_vocabulary"_a = r.target_vocabulary, "parameters"_a = r.parameters,
                      "batches_per_epoch"_a = r.batches_per_epoch);
    });
  }
  void on_resume(Index update) override {
    using namespace py::literals;
    tell("resume", [&] { return py::dict("update"_a = update); });
  }
  void on_update(const UpdateReport& r) override {
    using namespace py::literals;
    tell("update", [&] {
      return py::dict("update"_a = r.update, "epoch"_a = r.epoch, "loss"_a = r.loss, "rate"_a = r.rate,
                      "gradient_norm"_a = r.gradient_norm, "tokens_per_second"_a = r.tokens_per_second,
                      "progress"_a = r.progress, "seconds_left"_a = r.seconds_left);
    });
  }
  void on_validation(const ValidationReport& r) override {
    using namespace py::literals;
    tell("validation", [&] {
      py::list samples;
      for (const SampleTranslation& s : r.samples) samples.append(py::make_tuple(s.source, s.reference, s.translation));
      return py::dict("update"_a = r.update, "epoch"_a = r.epoch, "loss"_a = r.loss, "bleu"_a = r.bleu,
                      "exact"_a = r.exact, "best"_a = r.best, "samples"_a = samples);
    });
  }
  void on_candidate(const Candidate& c) override {
    using namespace py::literals;
    tell("candidate", [&] { return py::dict("updates"_a = c.updates, "bleu"_a = c.bleu, "loss"_a = c.loss); });
  }
  void on_save(Index update) override {
    using namespace py::literals;
    tell("save", [&] { return py::dict("update"_a = update); });
  }

 private:
  // Never throws: training goes on to the place where it saves.
  template <typename Report>
  void tell(const char* event, const Report& report) {
    const py::gil_scoped_acquire lock;
    try {
      if (PyErr_CheckSignals() != 0) throw py::error_already_set();
      if (callback_.is_none() || raised_) return;
      const py::object answer = callback_(event, report());
      if (PyObject_IsTrue(answer.ptr()) == 1) stop_.store(true);
    } catch (const py::error_already_set&) {
      if (!raised_) raised_ = std::current_exception();
      stop_.store(true);
    }
  }

  py::object callback_;
  std::exception_ptr raised_;
  std::atomic<bool> stop_{false};
};

const char* name_of(TrainingStop stop) {
  switch (stop) {
    case TrainingStop::max_updates:
      return "max_updates";
    case TrainingStop::max_epochs:
      return "max_epochs";
    case TrainingStop::max_minutes:
      return "max_minutes";
    case TrainingStop::patience:
      return "patience";
    case TrainingStop::interrupted:
      return "interrupted";
    case TrainingStop::finished_before:
      return "finished_before";
  }
  return "";
}

constexpr const char* kTrain = "heed.train";

Task task_of(const TrainPaths& paths) {
  return paths.text.empty() && paths.valid.empty() ? Task::translation : Task::language_model;
}

// Takes what the options have of a new model.
TrainOptions options_of_new_model(const TrainPaths& paths, const std::string& model, const std::string& preset,
                                  py::dict& options) {
  TrainOptions all;
  HEED_CHECK(take_fields(options, all.low_rank).empty(), "{}: lora, lora_alpha and lora_targets go with start", kTrain);
  choose_model(all.model, model);
  all.task = task_of(paths);
  const py::dict given = take_fields(options, all);
  read_fields(kTrain, given, all);  // the preset asks for the task
  apply_preset(all, preset);
  read_fields(kTrain, given, all);
  if (all.task == Task::language_model) all.model.transformer.encoder_layers = 0;
  if (all.model.kind == ModelKind::transformer) {
    from_json(to_json(kTrain, options), all.model.transformer, Missing::keep_default);
  } else {
    from_json(to_json(kTrain, options), all.model.rnn, Missing::keep_default);
  }
  return all;
}

// Takes what the options have of a run that goes on from a model, whose vocabulary and shape stay.
TrainOptions options_from_model(const TrainPaths& paths, py::dict& options) {
  for (const char* name : {"tokenizer", "vocabulary_size", "shared_vocabulary"}) {
    HEED_CHECK(!options.contains(name), "{}: {} means nothing with start: the vocabulary is that model's", kTrain,
               name);
  }
  TrainOptions all;
  const py::dict factors = take_fields(options, all.low_rank);
  read_fields(kTrain, factors, all.low_rank);
  HEED_CHECK(all.low_rank.rank > 0 || factors.empty() || (factors.size() == 1 && factors.contains("lora")),
             "{}: lora_alpha and lora_targets go with lora", kTrain);
  apply_fine_tuning(all);
  all.task = task_of(paths);
  read_fields(kTrain, take_fields(options, all), all);
  for (const auto& [name, value] : options) {
    const auto field = name.cast<std::string>();
    HEED_CHECK(field == "dropout" || field == "attention_dropout" || field == "activation_dropout",
               "{}: {} means nothing with start: of the model that is gone on from only rates of dropout change",
               kTrain, field);
  }
  from_json(to_json(kTrain, options), all.model.transformer, Missing::keep_default);
  if (options.contains("dropout")) all.model.rnn.dropout = all.model.transformer.dropout;
  return all;
}

// Each task reads its own files.
void check_paths(const TrainPaths& p, Task task) {
  const std::pair<const char*, const std::string*> pairs[] = {{"source", &p.source},
                                                              {"target", &p.target},
                                                              {"valid_source", &p.valid_source},
                                                              {"valid_target", &p.valid_target}};
  const std::pair<const char*, const std::string*> documents[] = {{"text", &p.text}, {"valid", &p.valid}};
  const auto check = [&](const auto& needed, const auto& others) {
    for (const auto& [name, path] : needed) {
      HEED_CHECK(!path->empty(),
                 "{}: {} must be given: source, target, valid_source and valid_target, or text and valid", kTrain,
                 name);
    }
    for (const auto& [name, path] : others) {
      HEED_CHECK(path->empty(), "{}: {} means nothing where the task is {}", kTrain, name, enum_name(task));
    }
  };
  task == Task::language_model ? check(documents, pairs) : check(pairs, documents);
}

py::dict call_train(const TrainPaths& paths, const std::string& model, const std::string& preset, py::dict options,
                    const py::object& callback) {
  TrainLimits limits;
  read_fields(kTrain, take_fields(options, limits), limits);
  const TrainOptions all =
      paths.from.empty() ? options_of_new_model(paths, model, preset, options) : options_from_model(paths, options);
  check_paths(paths, all.task);
  PythonMonitor monitor(callback);
  TrainingResult result{};
  {
    const py::gil_scoped_release unlocked;
    result = train(paths, all, limits, monitor, monitor.stop());
  }
  monitor.rethrow();
  using namespace py::literals;
  return py::dict("stop"_a = name_of(result.stop), "updates"_a = result.updates, "epochs"_a = result.epochs,
                  "seconds"_a = result.seconds, "target_tokens_per_second"_a = result.target_tokens_per_second,
                  "bleu"_a = result.model.bleu, "loss"_a = result.model.loss);
}

}  // namespace

void add_training(py::module_& module) {
  module.def("train", [](const std::map<std::string, std::string>& paths, const std::string& model,
                         const std::string& preset, const py::dict& options, const py::object& callback) {
    return call_train({.source = paths.at("source"),
                       .target = paths.at("target"),
                       .valid_source = paths.at("valid_source"),
                       .valid_target = paths.at("valid_target"),
                       .text = paths.at("text"),
                       .valid = paths.at("valid"),
                       .folder = paths.at("folder"),
                       .from = paths.at("start")},
                      model, preset, options.attr("copy")(), callback);
  });
  module.def(
      "corpus",
      [](const std::filesystem::path& folder, Index pairs, std::uint64_t seed, Index validation, Index test) {
        write_corpus(generate_corpus({.pairs = pairs, .seed = seed, .validation = validation, .test = test}), folder);
      },
      py::arg("folder"), py::arg("pairs") = 50000, py::arg("seed") = 1, py::arg("validation") = 500,
      py::arg("test") = 500, py::call_guard<py::gil_scoped_release>(),
      "Writes heed's German-English corpus: train, valid and test .de, .en and .align (gold word alignments) in the "
      "folder. The same numbers give the same text.");
}

}  // namespace heed::python
