#include "heed/tasks/bench/bench_generation.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <span>
#include <tuple>
#include <utility>

#include "heed/autograd/operators.h"
#include "heed/base/check.h"
#include "heed/models/transformer.h"
#include "heed/ops/linear.h"
#include "heed/tasks/bench/noise_parameters.h"
#include "heed/tasks/bench/timing.h"

namespace heed {
namespace {

constexpr Index kPrompt = 512;  // tokens

struct Size {
  std::string_view name;
  Index width, heads, kv_heads, ffn_width, layers;
  bool tied;
};
// Those of llama2.c's stories110M and of TinyLlama.
constexpr Size kSizes[] = {{"llama-110m", 768, 12, 12, 2048, 12, true}, {"llama-1.1b", 2048, 32, 4, 5632, 22, false}};
constexpr std::tuple<std::string_view, DType, Precision> kTypes[] = {
    {"f32", DType::f32, Precision::f32}, {"bf16", DType::bf16, Precision::bf16}, {"int8", DType::i8, Precision::int8}};

// The rows of a model in some type: of a token, with what was read kept in f32 and in that type, and of a prompt.
struct RowNames {
  std::string token, narrow_token, prompt;

  RowNames(const Size& size, std::string_view type)
      : token(fmt::format("token/{}/{}", size.name, type)), prompt(fmt::format("prompt/{}/{}", size.name, type)) {
    if (type != "f32") narrow_token = fmt::format("{}/cache-{}", token, type);
  }
  std::vector<std::string> list() const {
    return narrow_token.empty() ? std::vector{token, prompt} : std::vector{token, narrow_token, prompt};
  }
};

TransformerConfig config_of(const Size& size) {
  TransformerConfig config;
  config.source_vocabulary = config.target_vocabulary = 32000;
  config.width = size.width, config.heads = size.heads, config.kv_heads = size.kv_heads;
  config.ffn_width = size.ffn_width;
  config.encoder_layers = 0, config.decoder_layers = size.layers;
  config.activation = Activation::silu, config.gated = true;
  config.norm = NormKind::rms;
  config.positions = PositionKind::none, config.max_length = 2048;
  config.attention = AttentionChoice("rotary");
  config.attention_bias = config.attention_out_bias = config.ffn_bias = false;
  config.separate_projections = true;
  config.embedding_scale = 1, config.tie_output = size.tied;
  config.dropout = config.attention_dropout = 0;
  return config;
}

TokenBatch tokens(Index length) {
  const Tensor ids = Tensor::empty(DType::i32, {1, length}), lengths = Tensor::empty(DType::i32, {1});
  for (Index i = 0; i < length; ++i) ids.at<std::int32_t>({0, i}) = static_cast<std::int32_t>(i * 61 % 32000);
  lengths.at<std::int32_t>({0}) = static_cast<std::int32_t>(length);
  return {ids, lengths};
}

class GenerationRun {
 public:
  GenerationRun(const GenerationBenchOptions& options, const BenchListener& listener)
      : options_(options), listener_(listener), limits_(report_, options.seconds, listener) {}

  BenchReport report() {
    const std::vector<std::string> names = generation_bench_names();
    HEED_CHECK(std::ranges::any_of(names, [&](const std::string& name) { return options_.filter.wants(name); }),
               "the filter matches the name of no row");
    limits_.write_head("generation", options_.version);
    for (const Size& size : kSizes) {
      for (const auto& [type_name, type, cache] : kTypes) measure(size, RowNames(size, type_name), type, cache);
    }
    return std::move(report_);
  }

 private:
  void measure(const Size& size, const RowNames& names, DType type, Precision cache) {
    const auto is_wanted = [&](const std::string& name) { return !name.empty() && options_.filter.wants(name); };
    if (std::ranges::none_of(names.list(), is_wanted)) return;
    NoiseParameters parameters(type);
    const Transformer model(parameters, config_of(size));
    const auto add_token = [&](const std::string& name, Precision kept) {
      if (is_wanted(name)) add(measure_token(name, model, parameters.list(), kept));
    };
    add_token(names.token, Precision::f32);
    add_token(names.narrow_token, cache);
    if (is_wanted(names.prompt)) add(measure_prompt(names.prompt, model, parameters.list()));
  }

  void add(BenchRow row) {
    listener_.row(row);
    report_.rows.push_back(std::move(row));
  }

  // A table of embeddings that is not the output's: a row of it is read.
  static bool is_looked_up(const Transformer& model, const NamedParameter& parameter) {
    return parameter.name == "embedding.weight" && !model.config().tie_output;
  }

  BenchRow measure_token(const std::string& name, const Transformer& model, const ParameterList& parameters,
                         Precision cache) {
    const Context context = Context::inference(workspace_);
    const std::vector<std::int32_t> next{7};
    // Every so many steps the text begins again, so that all are of about one length.
    constexpr Index kSteps = 64;
    Index steps = 0;
    std::unique_ptr<DecoderState> current = model.start(cache);
    model.admit(context, *current, tokens(kPrompt));
    const auto step = [&] {
      if (++steps % kSteps == 0) {
        current = model.start(cache);
        model.admit(context, *current, tokens(kPrompt));
      }
      model.step(context, *current, next);
    };
    BenchRow row{.name = name, .plan = "decode"};
    std::vector<std::span<const float>> weights;
    for (const NamedParameter& parameter : parameters) {
      if (is_looked_up(model, parameter)) continue;
      const Tensor& value = parameter.var.value();
      const Index bytes = value.size() * size_of(value.dtype());
      weights.emplace_back(value.view().as<float>(), static_cast<std::size_t>(bytes) / sizeof(float));
      row.bytes += static_cast<double>(bytes + parameter.var.scales().size() * 4);
      row.operations += value.rank() == 2 ? 2.0 * static_cast<double>(value.size()) : 0;
    }
    const auto read_weights = [&] {
      for (const std::span<const float> values : weights) read_memory(values);
    };
    write_times(time_beside(step, read_weights, options_.seconds), "reading its weights", 1, row);
    const TransformerConfig& c = model.config();
    const Index keys = c.kv_heads * c.decoder_layers * kPrompt, width = c.width / c.heads;
    const DType kept = kept_as(cache, DType::f32);
    const Index key_bytes = width * size_of(kept) + (kept == DType::i8 ? Index{sizeof(float)} : 0);
    row.bytes += 2.0 * static_cast<double>(keys * key_bytes);
    const BenchLimit limit = limits_.of(Limit::dram_read);
    row.peak = limit.name, row.unit = limit.unit;
    row.rate = row.bytes / row.seconds / kGiga;
    row.share_of_peak = row.share_of_limit = row.rate / limit.rate;
    return row;
  }

  BenchRow measure_prompt(const std::string& name, const Transformer& model, const ParameterList& parameters) {
    const Context context = Context::inference(workspace_);
    const SequenceBatch batch{.input = tokens(kPrompt).ids};
    // The same products by themselves, of f32: what the product library makes of them.
    std::vector<std::pair<Index, Index>> products;
    BenchRow row{.name = name};
    for (const NamedParameter& parameter : parameters) {
      const Tensor& value = parameter.var.value();
      if (value.rank() != 2 || parameter.name == "embedding.weight" || parameter.name == "generator.weight") continue;
      products.emplace_back(value.dim(0), value.dim(1));
      row.operations += 2.0 * static_cast<double>(value.size() * kPrompt);
    }
    const auto widest = std::ranges::max(products, {}, [](const auto& p) { return p.first * p.second; });
    const Tensor weights = Tensor::zeros(DType::f32, {widest.first, widest.second});
    std::vector<std::pair<Tensor, Tensor>> operands;
    for (const auto& [outputs, inputs] : products) {
      if (std::ranges::none_of(operands, [in = inputs, out = outputs](const auto& o) {
            return o.first.dim(1) == in && o.second.dim(1) == out;
          })) {
        operands.emplace_back(Tensor::zeros(DType::f32, {kPrompt, inputs}),
                              Tensor::zeros(DType::f32, {kPrompt, outputs}));
      }
    }
    const auto library = [&] {
      for (const auto& product : products) {
        const Index outputs = product.first, inputs = product.second;
        const auto found = std::ranges::find_if(operands, [in = inputs, out = outputs](const auto& o) {
          return o.first.dim(1) == in && o.second.dim(1) == out;
        });
        linear(found->first, Weight(make_view(weights.data<float>(), {outputs, inputs})), {}, found->second);
      }
    };
    const auto prompt = [&] { model.features(context, batch); };
    write_times(time_beside(prompt, library, options_.seconds), "its products", 1, row);
    const BenchLimit limit = limits_.of(Limit::multiply_add_f32);
    row.peak = limit.name, row.unit = limit.unit;
    row.rate = row.operations / row.seconds / kGiga;
    row.share_of_peak = row.share_of_limit = row.rate / limit.rate;
    return row;
  }

  const GenerationBenchOptions& options_;
  const BenchListener& listener_;
  BenchReport report_;
  MeasuredLimits limits_;
  Workspace workspace_;
};

}  // namespace

std::vector<std::string> generation_bench_names() {
  std::vector<std::string> names;
  for (const Size& size : kSizes) {
    for (const auto& type : kTypes) {
      for (std::string& name : RowNames(size, std::get<0>(type)).list()) names.push_back(std::move(name));
    }
  }
  return names;
}

BenchReport bench_generation(const GenerationBenchOptions& options, const BenchListener& listener) {
  return GenerationRun(options, listener).report();
}

}  // namespace heed
