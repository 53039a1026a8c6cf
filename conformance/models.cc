#include "models.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "attention_maps.h"
#include "case.h"
#include "compare.h"
#include "heed/autograd/operators.h"
#include "heed/base/check.h"
#include "heed/decode/beam_search.h"
#include "heed/decode/prompted_search.h"
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
#include "model_case.h"
#include "token_ids.h"

namespace heed::conformance {
namespace {

namespace fs = std::filesystem;

using Ids = std::vector<std::int32_t>;

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
    const Ids stated = without_padding(item).ids;
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
    const Array got = computed(item, output_named(name), stated);
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
    if (name.ends_with("attentions")) return maps_of(item, name, like);
    if (name == "encoder_hidden") return rows_at(encoded(item).value(), item, "positions", like);
    if (!config.has_decoder()) return of_encoder(item, name, like);
    const SequenceBatch batch = sequences_of(item);
    const char* const key = config.has_encoder() ? "decoder_positions" : "positions";
    const Index first = config.has_encoder() ? 0 : without_padding(item).before;
    const Var features = model.features(context, batch);
    const Var hidden = config.logit_scale == 1 ? features : scale(context, features, 1 / config.logit_scale);
    if (name == "last_hidden_state") return rows_at(hidden.value(), item, key, like, first);
    if (config.encoder_heads.classifier != ClassifierKind::none) return of_classes(item, name, like, hidden, key);
    if (name == "logits") return rows_at(model.project(context, features).value(), item, key, like, first);
    throw Skip("the output " + name);
  }

  // The weights of all layers of a kind, [layers, heads, queries, keys], or, where the case has it, [layers, 1, heads,
  // queries, keys].
  Array maps_of(const Json& item, const std::string& name, const Array& like) {
    const TransformerConfig& config = opened_.model->config();
    const bool of_encoder = name == "encoder_attentions" || (name == "attentions" && !config.has_decoder());
    AttentionMaps maps(name == "cross_attentions" ? AttentionKind::cross
                       : of_encoder               ? AttentionKind::encoder
                                                  : AttentionKind::decoder);
    if (config.has_decoder()) {
      opened_.model->features(Context::inference(workspace_, &maps), sequences_of(item));
    } else {
      encoded(item, &maps);
    }
    const Tensor all = maps.stacked();
    Extents shape{all.dim(0), all.dim(1), all.dim(2), all.dim(3)};
    if (like.shape.size() == 5) shape.insert(shape.begin() + 1, 1);
    return with_shape(all, shape);
  }

  SequenceBatch sequences_of(const Json& item) const {
    SequenceBatch batch;
    const Ids ids = decoder_input(item);
    batch.input = Tensor::from(ids, {1, std::ssize(ids)});
    if (opened_.model->config().has_encoder()) batch.source = source_of(item);
    return batch;
  }

  // Of a model with an encoder the source behind the begin token, where the case has no other.
  Ids decoder_input(const Json& item) const {
    const TransformerConfig& config = opened_.model->config();
    if (!config.has_encoder()) {
      const Tokens tokens = without_padding(item);
      if (tokens.before > 0 && config.positions != PositionKind::none) {
        throw Skip("positions that count the padding before a text");
      }
      return tokens.ids;
    }
    if (item.has("decoder_input_ids") || !item.has("input_ids")) return token_ids(item["decoder_input_ids"]);
    Ids ids = without_padding(item).ids;
    ids.insert(ids.begin(), opened_.family.begin);
    ids.pop_back();
    return ids;
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
    const Tokens tokens = without_padding(item);
    if (tokens.before > 0) throw Skip("padding before a source");
    const Ids ids = token_ids(item["input_ids"]), length{static_cast<std::int32_t>(tokens.ids.size())};
    return {Tensor::from(ids, {1, std::ssize(ids)}), Tensor::from(length, {1})};
  }

  Var encoded(const Json& item, AttentionObserver* observer = nullptr) {
    Tensor types;
    if (item.has("token_type_ids")) {
      const Ids ids = token_ids(item["token_type_ids"]);
      // A tokenizer may say that all are of the one type, which a model without any leaves out.
      const bool tells_apart = opened_.model->config().token_types > 0 || std::ranges::count(ids, 0) != std::ssize(ids);
      if (tells_apart) types = Tensor::from(ids, {1, std::ssize(ids)});
    }
    return opened_.model->encode(Context::inference(workspace_, observer), source_of(item), types);
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
    return of_classes(item, name, like, hidden, "positions");
  }

  Array of_classes(const Json& item, const std::string& name, const Array& like, const Var& hidden,
                   const char* positions) {
    const Context context = Context::inference(workspace_);
    const Tensor logits = opened_.model->heads().class_logits(context, hidden).value();
    const bool of_spans = opened_.model->config().encoder_heads.classifier == ClassifierKind::spans;
    if (of_spans && (name == "start_logits" || name == "end_logits")) {
      return of_sequence(one_of_two(logits, name == "end_logits", item, positions), like);
    }
    if (name != "logits" && name != "seq_relationship_logits") throw Skip("the output " + name);
    if (logits.rank() == 3) return rows_at(logits, item, positions, like);
    return of_sequence(logits, like);
  }

  // --- Generation ----------------------------------------------------------------------------------------------------

  struct Generation {
    Ids prompt;  // of the decoder: what it is given, with the padding before it, and what it begins with
    Ids generated;
    bool ended = false;
  };

  Generation generate(const Json& item) {
    const Transformer& model = *opened_.model;
    const Json how = item["generate"];
    SpecialTokens special{.begin = opened_.family.begin,
                          .ends = opened_.family.ends,
                          .never = opened_.family.never,
                          .first = opened_.family.first};
    if (how.has("ignore_eos") && how["ignore_eos"].boolean()) special.ends.clear();
    if (how.has("ban")) {
      for (const std::int32_t id : token_ids(how["ban"])) special.never.push_back(id);
    }
    if (how.has("decoder_start"))
      special.begin = static_cast<std::int32_t>(how["decoder_start"].integer(0, kLargestId));
    Generation made;
    Ids read = model.has_source() ? Ids{special.begin} : without_padding(item).ids;
    made.prompt = model.has_source() ? read : token_ids(item["input_ids"]);
    if (model.has_source() && item.has("decoder_input_ids")) made.prompt = read = token_ids(item["decoder_input_ids"]);
    HEED_CHECK(!read.empty(), "{}: has no token to begin with", item.where());
    const TokenBatch admitted = model.has_source() ? source_of(item) : batch_of(Ids(read.begin(), read.end() - 1));
    Index most = how.has("max_new") ? how["max_new"].integer(1, kLargestId)
                                    : how["max_length"].integer(1, kLargestId) - std::ssize(made.prompt);
    most = std::min(most, model.max_steps(std::ssize(read) - 1));
    HEED_CHECK(most >= 1, "{}: leaves no room for a token", how.where());
    std::unique_ptr<Search> search = search_of(how, special, read, most);
    if (model.has_source()) search = std::make_unique<PromptedSearch>(read, std::move(search));
    Searches searches;
    searches.push_back(std::move(search));
    const Hypothesis best = decode(model, admitted, std::move(searches), workspace_)[0][0];
    made.generated = best.tokens;
    made.ended = best.end >= 0;
    if (made.ended) made.generated.push_back(best.end);
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
    BeamOptions options{.beam = how["num_beams"].integer(1, kWidestBeam), .early_stopping = false, .complete = false};
    if (how.has("length_penalty")) options.length_penalty = how["length_penalty"].number();
    if (how.has("early_stopping")) options.early_stopping = how["early_stopping"].boolean();
    auto search = std::make_unique<BeamSearch>(options, special, prompt.back(), most);
    if (how.has("repetition_penalty")) search->penalise_repetition(how["repetition_penalty"].number(), prompt);
    return search;
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
  const bool has_text = std::ranges::any_of(
      cases["cases"].items(), [](const Json& item) { return item.has("text") || item["expect"].has("text"); });
  // Numbers can be compared without the tokenizer.
  std::shared_ptr<const Vocabulary> vocabulary;
  std::string refused;
  try {
    if (has_text) vocabulary = open_vocabularies(model).source;
  } catch (const Error& error) {
    refused = error.what();
  }
  if (!refused.empty()) report.add(name + ": opens its tokenizer", [&] { return refused; });
  std::optional<ModelCases> runner;
  report.add(name + ": opens", [&] {
    runner.emplace(folder, cases, open_pretrained(model, longest(cases)), type, vocabulary);
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
