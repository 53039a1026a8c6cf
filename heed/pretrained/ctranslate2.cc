#include "heed/pretrained/ctranslate2.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "heed/base/check.h"
#include "heed/base/file.h"
#include "heed/io/ctranslate2.h"
#include "heed/io/json.h"
#include "heed/pretrained/config_fields.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

constexpr Index kPositions = 2048;  // that the table of sinusoids is made for
constexpr std::string_view kUnknown = "<unk>";

// The value of a variable that is one number; `otherwise` where files of its time had none.
double scalar_or(const Checkpoint& file, const std::string& name, double otherwise) {
  if (!file.has(name)) return otherwise;
  const Tensor value = file.tensor(name);
  HEED_CHECK(value.size() == 1, "{}: {} must be one number, but is {}", file.name(), name, describe(value.view()));
  switch (value.dtype()) {
    case DType::i8:
      return value.data<std::int8_t>()[0];
    case DType::i32:
      return value.data<std::int32_t>()[0];
    case DType::f32:
      return value.data<float>()[0];
    default:
      fail("{}: {} must be a number of i8, i32 or f32, but is {}", file.name(), name, describe(value.view()));
  }
}

Index dimension(const Checkpoint& file, const std::string& name, int axis) {
  const auto found = file.tensors().find(name);
  HEED_CHECK(found != file.tensors().end(), "{}: has no variable {}", file.name(), name);
  HEED_CHECK(found->second.rank == 2, "{}: {} must be a matrix", file.name(), name);
  return found->second.shape[static_cast<std::size_t>(axis)];
}

Index layers_of(const Checkpoint& file, std::string_view side) {
  Index layers = 0;
  while (file.has(fmt::format("{}/layer_{}/self_attention/linear_0/weight", side, layers))) ++layers;
  HEED_CHECK(layers > 0, "{}: has no variable {}/layer_0/self_attention/linear_0/weight", file.name(), side);
  return layers;
}

Activation activation_of(const Checkpoint& file) {
  const double number = scalar_or(file, "encoder/activation", 0);
  if (number == 0) return Activation::relu;
  if (number == 1) return Activation::gelu_tanh;
  if (number == 2) return Activation::silu;
  if (number == 3) return Activation::gelu;
  fail("{}: encoder/activation {} is none that heed has", file.name(), number);
}

// Sines in the first half of a row and cosines in the second, of places counted from 1.
Tensor sinusoids(Index width) {
  const Tensor table = Tensor::empty(DType::f32, {kPositions, width});
  const Index half = width / 2;
  for (Index i = 0; i < half; ++i) {
    const double rate = std::exp(-std::log(10000.0) / static_cast<double>(half - 1) * static_cast<double>(i));
    for (Index p = 0; p < kPositions; ++p) {
      const double angle = static_cast<double>(p + 1) * rate;
      table.at<float>({p, i}) = static_cast<float>(std::sin(angle));
      table.at<float>({p, half + i}) = static_cast<float>(std::cos(angle));
    }
  }
  return table;
}

void add_norm(std::vector<TensorRule>& rules, const std::string& own, const std::string& theirs) {
  rules.push_back({own + ".weight", {theirs + "/gamma"}});
  rules.push_back({own + ".bias", {theirs + "/beta"}});
}

void add_linear(std::vector<TensorRule>& rules, const std::string& own_weight, const std::string& own_bias,
                const std::string& attention, const std::vector<int>& numbers) {
  TensorRule weight{own_weight, {}}, bias{own_bias, {}};
  for (int number : numbers) {
    weight.tensors.push_back(fmt::format("{}/linear_{}/weight", attention, number));
    bias.tensors.push_back(fmt::format("{}/linear_{}/bias", attention, number));
  }
  rules.push_back(weight);
  rules.push_back(bias);
}

// The embedding's variable, which newer files number.
std::string embeddings_of(const Checkpoint& file, const std::string& side) {
  const std::string numbered = side + "/embeddings_0/weight";
  return file.has(numbered) ? numbered : side + "/embeddings/weight";
}

std::int32_t id_in(const std::vector<std::string>& pieces, const std::string& piece) {
  const auto found = std::ranges::find(pieces, piece);
  return found == pieces.end() ? -1 : static_cast<std::int32_t>(found - pieces.begin());
}

}  // namespace

std::vector<std::string> ctranslate2_pieces(const fs::path& folder, std::string_view side) {
  for (const std::string& name : {fmt::format("{}_vocabulary", side), std::string("shared_vocabulary")}) {
    for (const char* ending : {".json", ".txt"}) {
      const fs::path path = folder / (name + ending);
      if (!file_exists(path)) continue;
      std::vector<std::string> pieces = read_ctranslate2_vocabulary(path);
      // Files may leave the last row's piece out.
      if (std::ranges::find(pieces, kUnknown) == pieces.end()) pieces.emplace_back(kUnknown);
      return pieces;
    }
  }
  fail("{}: has neither {}_vocabulary nor shared_vocabulary, as .json or .txt", folder.string(), side);
}

FamilyModel describe_ctranslate2(const fs::path& path, const Checkpoint& file) {
  const Json spec = file.metadata()["spec"];
  // The first two are from before specs said how many heads they have.
  const bool is_base = spec.string() == "TransformerBase", is_big = spec.string() == "TransformerBig";
  if (!is_base && !is_big && spec.string() != "TransformerSpec") {
    spec.refuse("must be TransformerSpec (TransformerBase, TransformerBig): an encoder and a decoder");
  }
  FamilyModel model;
  TransformerConfig& c = model.config;
  const std::string source = embeddings_of(file, "encoder"), target = embeddings_of(file, "decoder");
  c.source_vocabulary = dimension(file, source, 0);
  c.target_vocabulary = dimension(file, target, 0);
  c.width = dimension(file, source, 1);
  c.heads = static_cast<Index>(scalar_or(file, "encoder/num_heads", scalar_or(file, "num_heads", is_big ? 16 : 8)));
  c.encoder_layers = layers_of(file, "encoder");
  c.decoder_layers = layers_of(file, "decoder");
  c.ffn_width = dimension(file, "encoder/layer_0/ffn/linear_0/weight", 0);
  c.activation = activation_of(file);
  c.norm_place = scalar_or(file, "encoder/pre_norm", 1) != 0 ? NormPlace::pre : NormPlace::post;
  c.share_embeddings = c.tie_output = false;
  c.embedding_scale = scalar_or(file, "encoder/scale_embeddings", 1) != 0 ? 0 : 1;
  c.embedding_norm = file.has("encoder/layernorm_embedding/gamma");
  c.output_bias = file.has("decoder/projection/bias");
  c.positions = PositionKind::learned;
  c.max_length = kPositions;
  for (const char* unknown :
       {"encoder/layer_0/self_attention/relative_position_keys",
        "encoder/layer_0/self_attention/relative_attention_bias", "encoder/layer_0/ffn/linear_0_noact/weight"}) {
    HEED_CHECK(!file.has(unknown), "{}: has {}, which heed does not read from CTranslate2", file.name(), unknown);
  }

  const std::string table = "/position_encodings/encodings";
  for (const auto& [own, theirs] : {std::pair<std::string, std::string>{"source", "encoder"}, {"target", "decoder"}}) {
    if (file.has(theirs + table)) {
      c.max_length = std::min(c.max_length, dimension(file, theirs + table, 0));
      model.rules.push_back({own + "_positions.weight", {theirs + table}});
    } else {
      HEED_CHECK(c.width % 2 == 0, "{}: sinusoids need an even width, but it is {}", file.name(), c.width);
      model.rules.push_back({own + "_positions.weight", {}, {}, 0, [width = c.width] { return sinusoids(width); }});
    }
    model.rules.push_back({own + "_embedding.weight", {own == "source" ? source : target}});
    add_norm(model.rules, own + "_norm", theirs + "/layernorm_embedding");
    const std::string layer = theirs + ".layers.*", of_layer = theirs + "/layer_*", self = of_layer + "/self_attention";
    add_linear(model.rules, layer + ".self_attn.in_proj_weight", layer + ".self_attn.in_proj_bias", self, {0});
    add_linear(model.rules, layer + ".self_attn.out_proj.weight", layer + ".self_attn.out_proj.bias", self, {1});
    add_norm(model.rules, layer + ".norm1", self + "/layer_norm");
    const bool decoder = own == "target";
    if (decoder) {
      const std::string cross = of_layer + "/attention", ours = layer + ".multihead_attn";
      add_linear(model.rules, ours + ".in_proj_weight", ours + ".in_proj_bias", cross, {0, 1});
      add_linear(model.rules, ours + ".out_proj.weight", ours + ".out_proj.bias", cross, {2});
      add_norm(model.rules, layer + ".norm2", cross + "/layer_norm");
    }
    add_linear(model.rules, layer + ".linear1.weight", layer + ".linear1.bias", of_layer + "/ffn", {0});
    add_linear(model.rules, layer + ".linear2.weight", layer + ".linear2.bias", of_layer + "/ffn", {1});
    add_norm(model.rules, layer + (decoder ? ".norm3" : ".norm2"), of_layer + "/ffn/layer_norm");
    add_norm(model.rules, theirs + ".norm", theirs + "/layer_norm");
  }
  model.rules.push_back({"generator.weight", {"decoder/projection/weight"}});
  model.rules.push_back({"generator.bias", {"decoder/projection/bias"}});

  std::error_code error;
  const fs::path folder = fs::is_directory(path, error) ? path : path.parent_path();
  const std::vector<std::string> pieces = ctranslate2_pieces(folder, "target");
  HEED_CHECK(std::ssize(pieces) == c.target_vocabulary, "{}: its target vocabulary has {} pieces, but {} has {} rows",
             folder.string(), pieces.size(), target, c.target_vocabulary);
  Json config = Json::object();
  if (file_exists(folder / "config.json")) config = read_json(folder / "config.json");
  const auto token = [&](std::string_view name, const char* otherwise) {
    return id_in(pieces, find_field(config, {name}).value_or(otherwise).string());
  };
  model.begin = config.has("decoder_start_token") ? token("decoder_start_token", "<s>") : token("bos_token", "<s>");
  if (const std::int32_t end = token("eos_token", "</s>"); end >= 0) model.ends = {end};
  return model;
}

}  // namespace heed
