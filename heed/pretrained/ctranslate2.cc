#include "heed/pretrained/ctranslate2.h"

#include <fmt/format.h>

#include <algorithm>

#include "heed/base/check.h"
#include "heed/base/file.h"
#include "heed/base/printable.h"
#include "heed/io/json.h"
#include "heed/pretrained/config_fields.h"
#include "heed/pretrained/ctranslate2_tokens.h"
#include "heed/pretrained/sinusoids.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

constexpr Index kPositions = 2048;  // that the table of sinusoids is made for

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
    case DType::f16:
    case DType::bf16:
      return value.to(DType::f32).data<float>()[0];
    default:
      fail("{}: {} must be a number, but is {}", file.name(), name, describe(value.view()));
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

// An option of both sides, which files of before revision 5 say of the whole model.
double side_or_model(const Checkpoint& file, const std::string& side, const std::string& name, double otherwise) {
  return scalar_or(file, side + "/" + name, scalar_or(file, name, otherwise));
}

Activation stored_activation(const Checkpoint& file) {
  static constexpr Activation kByNumber[] = {Activation::relu,   Activation::gelu_tanh,    Activation::silu,
                                             Activation::gelu,   Activation::gelu_sigmoid, Activation::tanh,
                                             Activation::sigmoid};
  const double number = side_or_model(file, "encoder", "activation", 0);
  for (std::size_t n = 0; n < std::size(kByNumber); ++n) {
    if (number == static_cast<double>(n)) return kByNumber[n];
  }
  fail("{}: encoder/activation {} is none that heed has", file.name(), number);
}

// What embeddings are multiplied by, in heed's words: 0 is the root of the width. A flag, of int8, says whether it is
// that; another number is the factor itself.
double embedding_scale_of(const Checkpoint& file) {
  for (const std::string name : {"encoder/scale_embeddings", "encoder/embeddings/multiply_by_sqrt_depth"}) {
    if (!file.has(name)) continue;
    const double said = scalar_or(file, name, 1);
    return file.tensor(name).dtype() != DType::i8 ? said : said != 0 ? 0 : 1;
  }
  return 0;
}

// Whether heed reads a layer's variable, `name` without the layer: "ffn/linear_0/weight".
bool is_of_layer(std::string_view name) {
  static constexpr std::string_view kParts[] = {"self_attention/linear_0",
                                                "self_attention/linear_1",
                                                "self_attention/layer_norm",
                                                "attention/linear_0",
                                                "attention/linear_1",
                                                "attention/linear_2",
                                                "attention/layer_norm",
                                                "ffn/linear_0",
                                                "ffn/linear_0_noact",
                                                "ffn/linear_1",
                                                "ffn/layer_norm"};
  static constexpr std::string_view kNumbers[] = {"weight", "bias", "gamma", "beta"};
  const std::size_t end = std::min(name.rfind('/'), name.size());
  return std::ranges::count(kParts, name.substr(0, end)) > 0 &&
         std::ranges::count(kNumbers, name.substr(std::min(end + 1, name.size()))) > 0;
}

// Throws heed::Error for variables that would make another model.
void check_known(const Checkpoint& file) {
  const auto refuse = [&](std::string_view name) {
    fail("{}: has {}, which heed does not read from CTranslate2", file.name(), printable(name));
  };
  for (const auto& [name, variable] : file.tensors()) {
    const std::string_view below = std::string_view(name).substr(std::min(name.find('/') + 1, name.size()));
    const std::size_t slash = below.find('/');
    if (below.starts_with("layer_") && !below.starts_with("layer_norm") && slash != below.npos &&
        !is_of_layer(below.substr(slash + 1))) {
      refuse(name);
    }
  }
  for (const char* name : {"encoder/embeddings_1/weight", "decoder/project_in/weight"}) {
    if (file.has(name)) refuse(name);
  }
  for (const char* name : {"decoder/alibi", "decoder/scale_outputs", "decoder/sliding_window", "encoder/sliding_window",
                           "encoder/multi_query_attention"}) {
    if (scalar_or(file, name, 0) != 0) refuse(name);
  }
  // Encoder and decoder are of one build in heed.
  for (const std::string name : {"num_heads", "pre_norm", "activation", "scale_embeddings"}) {
    const double of_encoder = side_or_model(file, "encoder", name, -1),
                 of_decoder = side_or_model(file, "decoder", name, -1);
    HEED_CHECK(of_encoder < 0 || of_decoder < 0 || of_encoder == of_decoder,
               "{}: decoder/{} is {}, but must be the encoder's {}", file.name(), name, of_decoder, of_encoder);
  }
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

}  // namespace

FamilyModel describe_ctranslate2(const fs::path& path, const Checkpoint& file) {
  const Json spec = file.metadata()["spec"];
  // All but the last are from before specs said how many heads they have, and the first files had none.
  const bool is_base = spec.string().empty() || spec.string() == "TransformerBase";
  const bool is_big = spec.string() == "TransformerBig";
  if (!is_base && !is_big && spec.string() != "TransformerSpec") {
    spec.refuse("must be TransformerSpec (TransformerBase, TransformerBig): an encoder and a decoder");
  }
  check_known(file);
  FamilyModel model;
  TransformerConfig& c = model.config;
  const std::string source = embeddings_of(file, "encoder"), target = embeddings_of(file, "decoder");
  c.source_vocabulary = dimension(file, source, 0);
  c.target_vocabulary = dimension(file, target, 0);
  c.width = dimension(file, source, 1);
  c.heads = static_cast<Index>(side_or_model(file, "encoder", "num_heads", is_big ? 16 : 8));
  c.encoder_layers = layers_of(file, "encoder");
  c.decoder_layers = layers_of(file, "decoder");
  c.ffn_width = dimension(file, "encoder/layer_0/ffn/linear_0/weight", 0);
  c.activation = stored_activation(file);
  c.norm_place = side_or_model(file, "encoder", "pre_norm", 1) != 0 ? NormPlace::pre : NormPlace::post;
  c.final_norm = final_norm_of(file.has("encoder/layer_norm/gamma"), file.has("decoder/layer_norm/gamma"));
  c.norm = file.has("encoder/layer_0/ffn/layer_norm/beta") ? NormKind::layer : NormKind::rms;
  c.norm_epsilon = c.norm == NormKind::layer ? 1e-5 : 1e-6;
  c.gated = file.has("encoder/layer_0/ffn/linear_0_noact/weight");
  const bool bias_inside = file.has("encoder/layer_0/self_attention/linear_0/bias");
  c.attention_out_bias = file.has("encoder/layer_0/self_attention/linear_1/bias");
  c.attention_bias = bias_inside || c.attention_out_bias;
  c.ffn_bias = file.has("encoder/layer_0/ffn/linear_0/bias");
  c.share_embeddings = c.tie_output = false;
  c.embedding_scale = embedding_scale_of(file);
  c.embedding_norm = file.has("encoder/layernorm_embedding/gamma");
  c.zero_start = scalar_or(file, "decoder/start_from_zero_embedding", 0) != 0;
  c.output_bias = file.has("decoder/projection/bias");
  c.positions = PositionKind::learned;
  c.max_length = kPositions;

  const std::string table = "/position_encodings/encodings";
  for (const auto& [own, theirs] : {std::pair<std::string, std::string>{"source", "encoder"}, {"target", "decoder"}}) {
    if (file.has(theirs + table)) {
      c.max_length = std::min(c.max_length, dimension(file, theirs + table, 0));
      model.rules.push_back({own + "_positions.weight", {theirs + table}});
    } else {
      HEED_CHECK(c.width % 2 == 0, "{}: sinusoids need an even width, but it is {}", file.name(), c.width);
      // Of places counted from 1.
      model.rules.push_back({own + "_positions.weight", {}, {}, 0, [width = c.width] {
                               return sines_and_cosines(1, kPositions, width, width / 2 - 1);
                             }});
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
    const std::string activated = layer + (c.gated ? ".linear_gate" : ".linear1");
    add_linear(model.rules, activated + ".weight", activated + ".bias", of_layer + "/ffn", {0});
    for (const char* part : {"weight", "bias"}) {
      if (!c.gated) break;
      model.rules.push_back({fmt::format("{}.linear1.{}", layer, part), {of_layer + "/ffn/linear_0_noact/" + part}});
    }
    add_linear(model.rules, layer + ".linear2.weight", layer + ".linear2.bias", of_layer + "/ffn", {1});
    add_norm(model.rules, layer + (decoder ? ".norm3" : ".norm2"), of_layer + "/ffn/layer_norm");
    add_norm(model.rules, theirs + ".norm", theirs + "/layer_norm");
  }
  if (c.attention_bias && !bias_inside) {
    for (TensorRule& rule : model.rules) {
      if (rule.parameter.ends_with(".in_proj_bias")) std::ranges::fill(rule.tensors, "");
    }
  }
  model.rules.push_back({"generator.weight", {"decoder/projection/weight"}});
  model.rules.push_back({"generator.bias", {"decoder/projection/bias"}});

  std::error_code error;
  const fs::path folder = fs::is_directory(path, error) ? path : path.parent_path();
  const Ctranslate2Tokens tokens = read_ctranslate2_tokens(folder, file);
  const std::vector<std::string> pieces = ctranslate2_pieces(folder, "target", tokens.unknown);
  HEED_CHECK(std::ssize(pieces) == c.target_vocabulary, "{}: its target vocabulary has {} pieces, but {} has {} rows",
             folder.string(), pieces.size(), target, c.target_vocabulary);
  Json config = Json::object();
  if (file_exists(folder / "config.json")) config = read_json(folder / "config.json");
  c.norm_epsilon = number_or(config, {"layer_norm_epsilon"}, c.norm_epsilon);
  if (tokens.start) model.begin = ctranslate2_id(pieces, *tokens.start, tokens.unknown);
  model.ends = {ctranslate2_id(pieces, tokens.end, tokens.unknown)};
  return model;
}

}  // namespace heed
