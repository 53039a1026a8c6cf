#include "models.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "case.h"
#include "compare.h"
#include "generation.h"
#include "heed/io/npy.h"
#include "heed/tasks/pretrained_vocabulary.h"
#include "model_case.h"
#include "model_outputs.h"
#include "rounded_model.h"
#include "token_ids.h"

namespace heed::conformance {
namespace {

namespace fs = std::filesystem;

using Ids = std::vector<std::int32_t>;

class ModelCases {
 public:
  // `vocabularies` where the model has some.
  ModelCases(const fs::path& folder, const Json& cases, PretrainedModel opened, Precision type,
             Vocabularies vocabularies)
      : folder_(folder),
        tolerance_(cases["tolerance"]),
        times_(type == Precision::int8 ? 2 : 1),
        opened_(type == Precision::f32 ? std::move(opened) : with_weights(opened, type)),
        outputs_(folder, opened_),
        vocabularies_(std::move(vocabularies)) {
    if (type == Precision::f32) return;
    twin_ = plainly_rounded(opened, type);
    twin_outputs_.emplace(folder, *twin_);
  }

  std::string run(const Json& item) {
    std::string wrong = compare_text(item);
    for (const auto& [name, expected] : item["expect"].members()) {
      const std::string differs = compare(item, name, expected);
      if (!differs.empty()) wrong += fmt::format("{}{} {}", wrong.empty() ? "" : "; ", name, differs);
    }
    return wrong;
  }

 private:
  // The text is that of the ids, with the special tokens of the model's template or without.
  std::string compare_text(const Json& item) const {
    if (!item.has("text") || vocabularies_.source == nullptr) return "";
    const Ids stated = without_padding(item).ids;
    const std::string text = item["text"].string();
    const Vocabulary& vocabulary = *vocabularies_.source;
    const bool same = vocabulary.encode(text) == stated || vocabulary.encode_special(text).ids == stated;
    return same ? "" : "the text has other ids";
  }

  double tolerance(const std::string& output, std::string_view kind) const {
    const Json of_output = tolerance_.has(output) ? tolerance_[output] : tolerance_;
    return of_output[kind].number();
  }

  std::string compare(const Json& item, const std::string& name, const Json& expected) {
    if (item.has("generate")) {
      if (twin_) throw Skip("what rounded weights generate");
      return compare_generated(item, name, expected);
    }
    const Array stated = read_npy_array(folder_ / expected.string());
    const std::string output = output_named(name);
    const Array got = outputs_.of(item, output, stated);
    const Array wanted = twin_ ? twin_outputs_->of(item, output, stated) : stated;
    return difference(got, wanted, times_ * tolerance(name, "rtol"), times_ * tolerance(name, "atol"));
  }

  std::string compare_generated(const Json& item, const std::string& name, const Json& expected) {
    const Generation made = generate(item, folder_, opened_, workspace_);
    if (name == "ends_with_eos") {
      return made.ended == expected.boolean() ? "" : fmt::format("is {}, but must be {}", made.ended, !made.ended);
    }
    Ids got = made.generated;
    if (name == "ids") got.insert(got.begin(), made.prompt.begin(), made.prompt.end());
    if (name == "ids" || name == "new_ids") {
      const Ids stated = token_ids(expected);
      if (got == stated) return "";
      const auto at = std::ranges::mismatch(got, stated).in1 - got.begin();
      return fmt::format("differ at {} of {} (stated: {})", at, got.size(), stated.size());
    }
    if (name == "text" && vocabularies_.target != nullptr) {
      if (opened_.model->has_source()) got.insert(got.begin(), made.prompt.begin(), made.prompt.end());
      const Vocabulary& vocabulary = *vocabularies_.target;
      const std::string text = vocabulary.decode(got), stated = expected.string();
      const bool same = text == stated || vocabulary.decode(got, Specials::keep) == stated || spelled(got) == stated;
      return same ? "" : fmt::format("is \"{}\", but must be \"{}\"", text, stated);
    }
    throw Skip("the output " + name);
  }

  // The pieces one after the other, with a space for each "▁": what programs write that have no decoder.
  std::string spelled(const Ids& ids) const {
    constexpr std::string_view kSpace = "▁";
    std::string text;
    for (std::int32_t id : ids) text += vocabularies_.target->piece(id);
    for (std::size_t at = text.find(kSpace); at != std::string::npos; at = text.find(kSpace, at)) {
      text.replace(at, kSpace.size(), " ");
    }
    return text.substr(std::min(text.find_first_not_of(' '), text.size()));
  }

  fs::path folder_;
  Json tolerance_;
  double times_;  // of the tolerance: with int8, activations may be whole numbers of 24 bits, a rounding of their own
  PretrainedModel opened_;
  ModelOutputs outputs_;
  // Of rounded weights: what their outputs must be.
  std::optional<PretrainedModel> twin_;
  std::optional<ModelOutputs> twin_outputs_;
  Vocabularies vocabularies_;
  Workspace workspace_;
};

// The most tokens that a case asks for: files say how many a model was trained with, which may be fewer.
Index longest(const Json& cases) {
  Index most = 0;
  for (const Json& item : cases["cases"].items()) {
    Index length = item.has("input_ids") ? item["input_ids"].size() : 0;
    if (item.has("generate")) {
      const Json how = item["generate"];
      length = how.has("max_new") ? length + how["max_new"].integer(1, kLargestId)
                                  : how["max_length"].integer(1, kLargestId);
    }
    most = std::max(most, length);
  }
  return most;
}

void run_cases(const fs::path& folder, const fs::path& model, Precision type, Report& report) {
  const Json cases = read_json(folder / "cases.json");
  const std::string name = model == folder ? folder.filename().string() : model.filename().string();
  const bool has_text = std::ranges::any_of(
      cases["cases"].items(), [](const Json& item) { return item.has("text") || item["expect"].has("text"); });
  // Numbers can be compared without the tokenizer.
  Vocabularies vocabularies;
  std::string refused;
  try {
    if (has_text) vocabularies = open_vocabularies(model);
  } catch (const Error& error) {
    refused = error.what();
  }
  if (!refused.empty()) report.add(name + ": opens its tokenizer", [&] { return refused; });
  std::optional<ModelCases> runner;
  report.add(name + ": opens", [&] {
    runner.emplace(folder, cases, open_pretrained(model, longest(cases)), type, vocabularies);
    return std::string();
  });
  if (!runner) return;
  std::map<std::string, int> times;
  for (const Json& item : cases["cases"].items()) {
    const std::string of_case = item["name"].string();
    const int time = ++times[of_case];
    report.add(fmt::format("{}: {}{}", name, of_case, time > 1 ? fmt::format(" ({})", time) : ""),
               [&] { return runner->run(item); });
  }
}

}  // namespace

void run_model_cases(const fs::path& folder, Precision type, Report& report) {
  std::vector<fs::path> folders;
  if (fs::exists(folder / "cases.json")) folders.push_back(folder);
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_directory() && fs::exists(entry.path() / "cases.json")) folders.push_back(entry.path());
  }
  std::ranges::sort(folders);
  for (const fs::path& one : folders) {
    std::vector<fs::path> models{one};
    for (const auto& entry : fs::directory_iterator(one)) {
      if (entry.path().extension() == ".gguf") models.push_back(entry.path());
    }
    std::ranges::sort(models);
    for (const fs::path& model : models) run_cases(one, model, type, report);
  }
}

}  // namespace heed::conformance
