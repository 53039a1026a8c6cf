#include "heed/tasks/sentence_layers.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "heed/base/check.h"
#include "heed/io/json.h"
#include "heed/io/open_checkpoint.h"
#include "heed/ops/activation.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/linear.h"
#include "heed/ops/normalise.h"
#include "heed/pretrained/config_fields.h"

namespace heed {
namespace {

// By PyTorch's names of the classes.
constexpr std::pair<std::string_view, Activation> kActivations[] = {{"Identity", Activation::identity},
                                                                    {"Tanh", Activation::tanh},
                                                                    {"ReLU", Activation::relu},
                                                                    {"GELU", Activation::gelu},
                                                                    {"SiLU", Activation::silu},
                                                                    {"Sigmoid", Activation::sigmoid},
                                                                    {"LeakyReLU", Activation::leaky_relu},
                                                                    {"ReLU6", Activation::relu6},
                                                                    {"Mish", Activation::mish}};

void check_width(const Tensor& vectors, Index width, const std::string& name) {
  HEED_CHECK(vectors.dim(1) == width, "{}: takes vectors of {} numbers, but those before it are of {}", name, width,
             vectors.dim(1));
}

Tensor matrix_of(const Checkpoint& file, std::string_view name) {
  Tensor weight = file.tensor(name).to(DType::f32);
  HEED_CHECK(weight.rank() == 2, "{}: {} must be [outputs, inputs], but is {}", file.name(), name,
             describe(weight.view()));
  return weight;
}

Tensor vector_of(const Checkpoint& file, std::string_view name, Index width) {
  Tensor vector = file.tensor(name).to(DType::f32);
  HEED_CHECK(vector.rank() == 1 && vector.dim(0) == width, "{}: {} must be [{}], but is {}", file.name(), name, width,
             describe(vector.view()));
  return vector;
}

Tensor product(const Tensor& vectors, const Tensor& weight, const Tensor& bias) {
  Tensor result = Tensor::empty(DType::f32, {vectors.dim(0), weight.dim(0)});
  linear(vectors.view(), weight, bias.view(), result.view());
  return result;
}

class DenseLayer final : public SentenceLayer {
 public:
  explicit DenseLayer(const std::filesystem::path& folder) : name_(folder.string()) {
    const Json config = read_json(folder / "config.json");
    for (std::string_view key : {"module_input_name", "module_output_name"}) {
      const auto of = find_field(config, {key});
      if (of && of->string() != "sentence_embedding") {
        of->refuse("must be sentence_embedding: heed has no other vectors");
      }
    }
    if (const auto function = find_field(config, {"activation_function"})) {
      const std::string_view type = function->string(), last = type.substr(type.rfind('.') + 1);
      const auto* const known = std::ranges::find(kActivations, last, [](const auto& row) { return row.first; });
      if (known == std::end(kActivations)) function->refuse("is an activation that heed has not");
      activation_ = known->second;
    }
    const Checkpoint file = open_checkpoint(folder);
    weight_ = matrix_of(file, "linear.weight");
    if (file.has("linear.bias")) bias_ = vector_of(file, "linear.bias", weight_.dim(0));
    has_residual_ = flag_or(config, {"use_residual"}, false);
    if (!has_residual_ || weight_.dim(0) == weight_.dim(1)) return;
    residual_ = matrix_of(file, "residual.weight");
    HEED_CHECK(residual_.dim(0) == weight_.dim(0) && residual_.dim(1) == weight_.dim(1),
               "{}: residual.weight must be [{}, {}], as linear.weight is, but is {}", file.name(), weight_.dim(0),
               weight_.dim(1), describe(residual_.view()));
  }

  Tensor apply(const Tensor& vectors) const override {
    check_width(vectors, weight_.dim(1), name_);
    const Tensor result = product(vectors, weight_, bias_);
    activate(activation_, result.view(), result.view());
    if (has_residual_) {
      add_to((residual_.is_empty() ? vectors : product(vectors, residual_, {})).view(), result.view());
    }
    return result;
  }

 private:
  std::string name_;  // of its folder, for errors
  Tensor weight_, bias_, residual_;
  bool has_residual_ = false;
  Activation activation_ = Activation::tanh;
};

class NormLayer final : public SentenceLayer {
 public:
  explicit NormLayer(const std::filesystem::path& folder) : name_(folder.string()) {
    const Index width = extent(read_json(folder / "config.json"), {"dimension"});
    const Checkpoint file = open_checkpoint(folder);
    gamma_ = vector_of(file, "norm.weight", width);
    beta_ = vector_of(file, "norm.bias", width);
  }

  Tensor apply(const Tensor& vectors) const override {
    constexpr double kEpsilon = 1e-5;
    check_width(vectors, gamma_.dim(0), name_);
    Tensor result = Tensor::empty(DType::f32, {vectors.dim(0), vectors.dim(1)});
    layer_norm(vectors.view(), gamma_.view(), beta_.view(), kEpsilon, result.view(), {}, {});
    return result;
  }

 private:
  std::string name_;  // of its folder, for errors
  Tensor gamma_, beta_;
};

class LengthOneLayer final : public SentenceLayer {
 public:
  Tensor apply(const Tensor& vectors) const override { return with_length_one(vectors); }
};

}  // namespace

std::shared_ptr<const SentenceLayer> read_dense_layer(const std::filesystem::path& folder) {
  return std::make_shared<DenseLayer>(folder);
}

std::shared_ptr<const SentenceLayer> read_norm_layer(const std::filesystem::path& folder) {
  return std::make_shared<NormLayer>(folder);
}

std::shared_ptr<const SentenceLayer> length_one_layer() { return std::make_shared<LengthOneLayer>(); }

Tensor with_length_one(const Tensor& vectors) {
  Tensor result = vectors.clone();
  const Index width = result.dim(1);
  for (Index row = 0; row < result.dim(0); ++row) {
    float* const vector = result.data<float>() + row * width;
    double sum = 0;
    for (Index i = 0; i < width; ++i) sum += static_cast<double>(vector[i]) * static_cast<double>(vector[i]);
    if (sum == 0) continue;
    const double length = std::sqrt(sum);
    for (Index i = 0; i < width; ++i) vector[i] = static_cast<float>(static_cast<double>(vector[i]) / length);
  }
  return result;
}

}  // namespace heed
