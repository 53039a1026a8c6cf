#include "models.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "case.h"
#include "compare.h"
#include "heed/base/check.h"
#include "heed/decode/beam_search.h"
#include "heed/decode/sampler.h"
#include "heed/image/image.h"
#include "heed/io/npy.h"
#include "heed/layers/given_parameters.h"
#include "heed/layers/listed_parameters.h"
#include "heed/pretrained/pixel_values.h"
#include "heed/pretrained/pretrained_model.h"
#include "heed/sound/log_mel.h"
#include "heed/sound/wave.h"
#include "heed/tasks/pretrained_vocabulary.h"
#include "token_ids.h"

namespace heed::conformance {
namespace {

namespace fs = std::filesystem;

using Ids = std::vector<std::int32_t>;

// The tokens that are not padding, which stands behind them.
Ids without_padding(const Json& item) {
  Ids ids = token_ids(item["input_ids"]);
  if (!item.has("attention_mask")) return ids;
  const std::vector<Index> mask = item["attention_mask"].integer_list(0, 1);
  const auto end = std::ranges::find(mask, 0);
  if (mask.size() != ids.size() || std::find(end, mask.end(), 1) != mask.end()) {
    item["attention_mask"].refuse("must be ones for the tokens and then zeros for padding");
  }
  ids.resize(static_cast<std::size_t>(end - mask.begin()));
  return ids;
}

// One sequence as it stands in the case, with its padding.
TokenBatch batch_of(const Json& item) {
  const Ids ids = token_ids(item["input_ids"]);
  const Ids length{static_cast<std::int32_t>(without_padding(item).size())};
  return {Tensor::from(ids, {1, std::ssize(ids)}), Tensor::from(length, {1})};
}

TokenBatch batch_of(const Ids& ids) {
  return {Tensor::from(ids, {1, std::ssize(ids)}), Tensor::from(Ids{static_cast<std::int32_t>(ids.size())}, {1})};
}

// A sequence's rows [1, L, W] at the positions, as the array [positions, W] or, where the case has it, [1, positions,
// W].
Array rows_at(const Tensor& rows, const Json& item, std::string_view key, const Array& like) {
  std::vector<Index> positions;
  if (item.has(key)) {
    positions = item[key].integer_list(0, rows.dim(1) - 1);
  } else {
    for (Index i = 0; i < rows.dim(1); ++i) positions.push_back(i);
  }
  const Tensor chosen = rows.reshape({rows.dim(1), rows.dim(2)}).gather_rows(positions);
  Extents shape{std::ssize(positions), rows.dim(2)};
  if (like.shape.size() == 3) shape.insert(shape.begin(), 1);
  return with_shape(chosen, shape);
}

// A sequence's numbers [1, W], as [W] where the case has it.
Array of_sequence(const Tensor& numbers, const Array& like) {
  const Index width = numbers.dim(1);
  return with_shape(numbers, like.shape.size() == 1 ? Extents{width} : Extents{1, width});
}

// Column 0 or 1 of [1, L, 2], as [1, L].
Tensor one_of_two(const Tensor& logits, bool second) {
  const Tensor column = Tensor::empty(DType::f32, {1, logits.dim(1)});
  for (Index i = 0; i < logits.dim(1); ++i) column.at<float>({0, i}) = logits.at<float>({0, i, second ? 1 : 0});
  return column;
}

// Rounds the model's weights.
void narrow(PretrainedModel& opened, WeightType type) {
  const TransformerConfig config = opened.model->config();
  ListedParameters listed;
  const Transformer named(listed, config);
  opened.parameters = with_weights(opened.parameters, listed.shapes(), type, "the model");
  GivenParameters given(opened.parameters, "the model");
  opened.model = std::make_unique<Transformer>(given, config);
}

// Which share of the numbers' spread the errors may be that rounded weights bring: each product on the way to the
// output adds one of the size of its weights' own, in a direction of its own, so that they grow with the root of how
// many there are. Rounding to bf16 brings at most 2^-9 of a weight; to int8, steps of 1/127 of a row's largest, about
// four times its root mean square, 1/110 of that by root mean square.
double share_of(const TransformerConfig& config, WeightType type) {
  const Index products = 4 * config.encoder_layers + 6 * config.decoder_layers + 2;
  const double of_weight = type == WeightType::bf16 ? 1.0 / 512 : 1.0 / 110;
  return of_weight * std::sqrt(static_cast<double>(products));
}

class ModelCases {
 public:
  // `vocabulary` where the model has one.
  ModelCases(const fs::path& folder, const Json& cases, PretrainedModel opened, WeightType type,
             std::shared_ptr<const Vocabulary> vocabulary)
      : folder_(folder),
        tolerance_(cases["tolerance"]),
        opened_(std::move(opened)),
        type_(type),
        vocabulary_(std::move(vocabulary)) {
    if (type != WeightType::f32) narrow(opened_, type);
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
    if (!item.has("text") || vocabulary_ == nullptr) return "";
    const Ids stated = token_ids(item["input_ids"]);
    const std::string text = item["text"].string();
    const bool same = vocabulary_->encode(text) == stated || vocabulary_->encode_special(text).ids == stated;
    return same ? "" : "the text has other ids";
  }

  double tolerance(const std::string& output, std::string_view kind) const {
    const Json of_output = tolerance_.has(output) ? tolerance_[output] : tolerance_;
    return of_output[kind].number();
  }

  std::string compare(const Json& item, const std::string& name, const Json& expected) {
    if (item.has("generate")) {
      if (type_ != WeightType::f32) throw Skip("what rounded weights generate");
      return compare_generated(item, name, expected);
    }
    const Array stated = read_npy_array(folder_ / expected.string());
    const Array got = computed(item, name, stated);
    if (type_ != WeightType::f32) return inexact_difference(got, stated, share_of(opened_.model->config(), type_));
    return difference(got, stated, tolerance(name, "rtol"), tolerance(name, "atol"));
  }

  Array computed(const Json& item, const std::string& name, const Array& like) {
    const Transformer& model = *opened_.model;
    const TransformerConfig& config = model.config();
    const Context context = Context::inference(workspace_);
    if (name == "pixel_values" || name == "input_features") {
      const Tensor signal = source_of(item).signal;
      return with_shape(signal, like.shape);
    }
    if (name == "encoder_hidden") return rows_at(encoded(item).value(), item, "positions", like);
    if (!config.has_decoder()) return of_encoder(item, name, like);
    SequenceBatch batch;
    const Ids ids = config.has_encoder() ? token_ids(item["decoder_input_ids"]) : without_padding(item);
    batch.input = Tensor::from(ids, {1, std::ssize(ids)});
    if (config.has_encoder()) batch.source = source_of(item);
    const char* const key = config.has_encoder() ? "decoder_positions" : "positions";
    if (name == "logits") return rows_at(model.logits(context, batch).value(), item, key, like);
    if (name == "last_hidden_state") return rows_at(model.features(context, batch).value(), item, key, like);
    throw Skip("the output " + name);
  }

  // What the encoder reads: a sequence, or a picture or sound, as an array or as a file.
  TokenBatch source_of(const Json& item) const {
    const SignalOptions& signal = opened_.model->config().signal;
    if (item.has("picture")) {
      const Image image = read_image(folder_ / item["picture"].string());
      return {.signal = pixel_values(image, read_pixel_options(folder_), signal)};
    }
    if (item.has("wave")) {
      const Wave wave = resampled(read_wave(folder_ / item["wave"].string()), kLogMelRate);
      return {.signal = log_mel(wave.samples, {.bands = signal.channels, .frames = signal.frames})};
    }
    for (const char* array : {"pixel_values", "input_features"}) {
      if (item.has(array)) return {.signal = read_npy(folder_ / item[array].string())};
    }
    return batch_of(item);
  }

  Var encoded(const Json& item) {
    Tensor types;
    if (item.has("token_type_ids")) {
      const Ids ids = token_ids(item["token_type_ids"]);
      types = Tensor::from(ids, {1, std::ssize(ids)});
    }
    return opened_.model->encode(Context::inference(workspace_), source_of(item), types);
  }

  // `logits` are those of the classes, or, in a model without any, of masked words.
  Array of_encoder(const Json& item, const std::string& name, const Array& like) {
    const EncoderHeads& heads = opened_.model->heads();
    const ClassifierKind classifier = opened_.model->config().encoder_heads.classifier;
    const Context context = Context::inference(workspace_);
    const Var hidden = encoded(item);
    const bool has_classes = classifier != ClassifierKind::none;
    if (name == "last_hidden_state") return rows_at(hidden.value(), item, "positions", like);
    if (name == "pooler_output") return of_sequence(heads.pooled(context, hidden).value(), like);
    if (name == "prediction_logits" || (name == "logits" && !has_classes)) {
      return rows_at(heads.masked_word_logits(context, hidden).value(), item, "positions", like);
    }
    const Tensor logits = heads.class_logits(context, hidden).value();
    if (classifier == ClassifierKind::spans && (name == "start_logits" || name == "end_logits")) {
      return of_sequence(one_of_two(logits, name == "end_logits"), like);
    }
    const bool of_pair = name == "seq_relationship_logits" || name == "sop_logits";
    if (name != "logits" && !of_pair) throw Skip("the output " + name);
    if (logits.rank() == 3) return rows_at(logits, item, "positions", like);
    return of_sequence(logits, like);
  }

  // --- Generation ----------------------------------------------------------------------------------------------------

  struct Generation {
    Ids prompt;     // of the decoder: what it is given, and what it begins with
    Ids generated;  // without the end token
    bool ended = false;
  };

  Generation generate(const Json& item) {
    const Transformer& model = *opened_.model;
    const Json how = item["generate"];
    SpecialTokens special{opened_.family.begin, opened_.family.ends, {}};
    if (how.has("ignore_eos") && how["ignore_eos"].boolean()) special.ends.clear();
    if (how.has("ban")) special.never = token_ids(how["ban"]);
    if (how.has("decoder_start"))
      special.begin = static_cast<std::int32_t>(how["decoder_start"].integer(0, kLargestId));
    Generation made;
    made.prompt = model.has_source() ? Ids{special.begin} : without_padding(item);
    HEED_CHECK(!made.prompt.empty(), "{}: must not be empty", item["input_ids"].where());
    const TokenBatch admitted =
        model.has_source() ? source_of(item) : batch_of(Ids(made.prompt.begin(), made.prompt.end() - 1));
    Index most = how.has("max_new") ? how["max_new"].integer(1, kLargestId)
                                    : how["max_length"].integer(1, kLargestId) - std::ssize(made.prompt);
    most = std::min(most, model.max_steps(std::ssize(made.prompt) - 1));
    HEED_CHECK(most >= 1, "{}: leaves no room for a token", how.where());
    Searches searches;
    searches.push_back(search_of(how, special, made.prompt, most));
    const Hypothesis best = decode(model, admitted, std::move(searches), workspace_)[0][0];
    made.generated = best.tokens;
    made.ended = best.token_scores.size() > best.tokens.size();
    if (made.ended && special.ends.size() == 1) made.generated.push_back(special.ends.front());
    return made;
  }

  static std::unique_ptr<Search> search_of(const Json& how, const SpecialTokens& special, const Ids& prompt,
                                           Index most) {
    const std::string method = how["method"].string();
    if (method == "greedy") {
      SamplingOptions options{.temperature = 0};
      if (how.has("repetition_penalty")) options.repetition_penalty = how["repetition_penalty"].number();
      return std::make_unique<Sampler>(options, special, prompt, 0, most);
    }
    if (method != "beam") how["method"].refuse("must be greedy or beam");
    if (how.has("repetition_penalty") && how["repetition_penalty"].number() != 1) {
      throw Skip("a beam search with a repetition penalty");
    }
    BeamOptions options{.beam = how["num_beams"].integer(1, kWidestBeam), .early_stopping = false, .complete = false};
    if (how.has("length_penalty")) options.length_penalty = how["length_penalty"].number();
    if (how.has("early_stopping")) options.early_stopping = how["early_stopping"].boolean();
    return std::make_unique<BeamSearch>(options, special, prompt.back(), most);
  }

  std::string compare_generated(const Json& item, const std::string& name, const Json& expected) {
    const Generation made = generate(item);
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
    if (name == "text" && vocabulary_ != nullptr) {
      if (opened_.model->has_source()) got.insert(got.begin(), made.prompt.begin(), made.prompt.end());
      const std::string text = vocabulary_->decode(got), stated = expected.string();
      const bool same = text == stated || vocabulary_->decode(got, Specials::keep) == stated || spelled(got) == stated;
      return same ? "" : fmt::format("is \"{}\", but must be \"{}\"", text, stated);
    }
    throw Skip("the output " + name);
  }

  // The pieces one after the other, with a space for each "▁": what programs write that have no decoder.
  std::string spelled(const Ids& ids) const {
    constexpr std::string_view kSpace = "▁";
    std::string text;
    for (std::int32_t id : ids) text += vocabulary_->piece(id);
    for (std::size_t at = text.find(kSpace); at != std::string::npos; at = text.find(kSpace, at)) {
      text.replace(at, kSpace.size(), " ");
    }
    return text.substr(std::min(text.find_first_not_of(' '), text.size()));
  }

  fs::path folder_;
  Json tolerance_;
  PretrainedModel opened_;
  WeightType type_;
  std::shared_ptr<const Vocabulary> vocabulary_;
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

void run_cases(const fs::path& folder, const fs::path& model, WeightType type, Report& report) {
  const Json cases = read_json(folder / "cases.json");
  const std::string name = model == folder ? folder.filename().string() : model.filename().string();
  std::optional<ModelCases> runner;
  report.add(name + ": opens", [&] {
    const bool has_text = std::ranges::any_of(
        cases["cases"].items(), [](const Json& item) { return item.has("text") || item["expect"].has("text"); });
    runner.emplace(folder, cases, open_pretrained(model, longest(cases)), type,
                   has_text ? open_vocabularies(model).source : nullptr);
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

void run_model_cases(const fs::path& folder, WeightType type, Report& report) {
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
