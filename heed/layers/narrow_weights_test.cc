// Layers whose weights a file has in bf16, f16 or int8.
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <limits>

#include "heed/autograd/operators.h"
#include "heed/layers/drawn_parameters.h"
#include "heed/layers/embedding.h"
#include "heed/layers/feed_forward.h"
#include "heed/layers/listed_parameters.h"
#include "heed/layers/loaded_parameters.h"
#include "heed/layers/multihead_attention.h"
#include "heed/layers/recurrent.h"
#include "heed/layers/saved_parameters.h"
#include "heed/ops/tile_product.h"
#include "heed/tensor/quantise_rows.h"
#include "heed/testing/gradient_check.h"
#include "heed/testing/refusal.h"

namespace heed {
namespace {

using testing::random_tensor;
using testing::refusal;
using testing::same_bits;

constexpr DType kNarrow[] = {DType::bf16, DType::f16, DType::i8};

// Makes a layer and returns what it does with some input.
using Use = std::function<std::vector<Tensor>(const ParameterScope&, const Context&)>;

class NarrowWeightsTest : public ::testing::Test {
 protected:
  using Tensors = std::map<std::string, Tensor>;

  // What `use` asks for, drawn.
  void draw(const Use& use) {
    DrawnParameters drawn(Rng(1));
    use(drawn, context_);
    wanted_ = drawn.shapes(), drawn_ = drawn.list();
  }
  // The drawn parameters with weights in this type, and the same in f32.
  std::array<Tensors, 2> twins(DType dtype) const {
    Tensors narrow, wide;
    for (std::size_t i = 0; i < drawn_.size(); ++i) {
      const auto& [name, var] = drawn_[i];
      narrow[name] = wide[name] = var.value();
      if (!wanted_[i].is_weight) continue;
      Tensor scales;
      if (dtype == DType::i8) {
        narrow[name] = Tensor::empty(DType::i8, {var.dim(0), var.dim(1)});
        narrow[scales_of(name)] = scales = Tensor::empty(DType::f32, {var.dim(0)});
        quantise_rows(var.value().view(), narrow[name], scales);
      } else {
        narrow[name] = var.value().to(dtype);
      }
      wide[name] = Tensor::empty(DType::f32, {var.dim(0), var.dim(1)});
      widen_rows({narrow[name].view(), scales.view()}, 0, var.dim(0), wide[name].data<float>());
    }
    return {narrow, wide};
  }
  void write(const Tensors& tensors) const { write_safetensors(file_, {tensors.begin(), tensors.end()}); }

  std::vector<Tensor> results(const Tensors& tensors, const Use& use) {
    write(tensors);
    LoadedParameters loaded(file_, wanted_);
    return use(loaded, context_);
  }
  // Of a file, in which `change` changes an int8 weight of a linear map.
  template <typename Change>
  std::string refused(Change change) {
    draw([](const ParameterScope& scope, const Context&) {
      return std::vector{Linear(scope / "map", 3, 2).weight().value()};
    });
    Tensors tensors = twins(DType::i8)[0];
    change(tensors);
    write(tensors);
    const std::string message = refusal([&] { LoadedParameters loaded(file_, wanted_); });
    EXPECT_TRUE(message.starts_with(file_.string() + ": ")) << message;
    return message.substr(file_.string().size() + 2);
  }

  const std::filesystem::path file_ =
      std::filesystem::path(::testing::TempDir()) /
      (std::string("narrow_weights_") + ::testing::UnitTest::GetInstance()->current_test_info()->name());
  Workspace workspace_;
  const Context context_ = Context::inference(workspace_);
  std::vector<ParameterShape> wanted_;
  ParameterList drawn_;
};

// The layers that read narrow weights, each with whatever else reads them.
std::vector<std::pair<std::string, Use>> layers() {
  std::vector<std::pair<std::string, Use>> all;
  all.emplace_back("a feed-forward network", [](const ParameterScope& scope, const Context& context) {
    const FeedForward layer(scope, {.width = 12, .ffn_width = 40, .gated = true});
    return std::vector{layer.forward(context, Var(random_tensor(DType::f32, {2, 3, 12}, 1))).value()};
  });
  all.emplace_back("an embedding, and the output that shares it",
                   [](const ParameterScope& scope, const Context& context) {
                     const Embedding layer(scope, 9, 12, 3.5);
                     const Var x = layer.forward(context, Tensor::from<std::int32_t>({1, 8, 0, 1}, {2, 2}));
                     return std::vector{x.value(), linear(context, x, layer.weight(), {}).value()};
                   });
  all.emplace_back(
      "attention with its own and with other keys", [](const ParameterScope& scope, const Context& context) {
        const MultiheadAttention layer(
            scope, AttentionKind::decoder,
            {.embed_dim = 12, .num_heads = 6, .num_kv_heads = 2, .attention = AttentionChoice("rotary")});
        const Var x(random_tensor(DType::f32, {2, 3, 12}, 1)), memory(random_tensor(DType::f32, {2, 5, 12}, 2));
        std::vector<Tensor> results{layer.forward(context, x, Mask::causal()).value(),
                                    layer.forward(context, x, memory, memory).out.value()};
        const auto cache = layer.make_memory(DType::f32);
        layer.admit(context, x, std::array<Index, 2>{3, 2}, *cache);
        results.push_back(layer.step(context, Var(random_tensor(DType::f32, {2, 1, 12}, 3)), *cache).value());
        return results;
      });
  all.emplace_back("attention with separate projections", [](const ParameterScope& scope, const Context& context) {
    const MultiheadAttention layer(scope, AttentionKind::cross,
                                   {.embed_dim = 12, .num_heads = 2, .kdim = 5, .vdim = 7});
    const Var x(random_tensor(DType::f32, {2, 3, 12}, 1));
    return std::vector{layer
                           .forward(context, x, Var(random_tensor(DType::f32, {2, 4, 5}, 2)),
                                    Var(random_tensor(DType::f32, {2, 4, 7}, 3)))
                           .out.value()};
  });
  for (const auto& [name, cell] : kCellKindNames) {
    all.emplace_back(name, [cell = cell](const ParameterScope& scope, const Context& context) {
      const Recurrent layer(scope, {.cell = cell, .inputs = 5, .hidden = 6, .layers = 2, .direction = Direction::both});
      return std::vector{layer.forward(context, Var(random_tensor(DType::f32, {2, 4, 5}, 1)), {}).states.value()};
    });
  }
  return all;
}

// Products in whole numbers, where the processor has them, and those by AMX's tiles.
bool rounds_otherwise(DType dtype) {
  const AffineMap map{Weight(Tensor::zeros(dtype, {1, 1}).view()), {}};
  return dtype == DType::i8 || are_of_tiles({&map, 1});
}

TEST_F(NarrowWeightsTest, ALayerDoesWhatItsWidenedTwinDoesToTheBitOrToARounding) {
  for (const auto& [name, use] : layers()) {
    draw(use);
    for (DType dtype : kNarrow) {
      SCOPED_TRACE(std::string(name) + " in " + std::string(name_of(dtype)));
      const auto [narrow, wide] = twins(dtype);
      const std::vector<Tensor> results_narrow = results(narrow, use), results_wide = results(wide, use);
      ASSERT_EQ(results_narrow.size(), results_wide.size());
      for (std::size_t i = 0; i < results_wide.size(); ++i) {
        const double tolerance = rounds_otherwise(dtype) ? 1e-6 : 0;
        EXPECT_LE(testing::largest_difference(results_narrow[i], results_wide[i]), tolerance) << i;
      }
    }
  }
}

TEST_F(NarrowWeightsTest, EveryMatrixThatLayersMultiplyWithMayBeNarrowAndNothingElse) {
  for (const auto& [name, use] : layers()) {
    draw(use);
    for (const ParameterShape& parameter : wanted_) {
      EXPECT_EQ(parameter.is_weight, parameter.shape.size() == 2) << name << ": " << parameter.name;
    }
  }
}

TEST_F(NarrowWeightsTest, AreInMemoryAsInTheFileAndAreSavedAsTheyAre) {
  const Use use = layers()[0].second;
  draw(use);
  for (DType dtype : kNarrow) {
    const Tensors narrow = twins(dtype)[0];
    write(narrow);
    LoadedParameters loaded(file_, wanted_);
    use(loaded, context_);
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
      const auto& [name, var] = loaded.list()[i];
      EXPECT_TRUE(same_bits(var, narrow.at(name).view())) << name;
      EXPECT_EQ(var.requires_grad(), !wanted_[i].is_weight) << name;
    }
    save_parameters(file_, loaded.list());
    const Tensors saved = read_safetensors(file_);
    ASSERT_EQ(saved.size(), narrow.size());
    for (const auto& [name, tensor] : narrow) EXPECT_TRUE(same_bits(saved.at(name).view(), tensor.view())) << name;
  }
}

TEST_F(NarrowWeightsTest, AreNotTrained) {
  for (const auto& [name, layer] : layers()) {
    const Use& use = layer;
    draw(use);
    write(twins(DType::bf16)[0]);
    LoadedParameters loaded(file_, wanted_);
    Tape tape;
    const std::string message = refusal([&] { use(loaded, {.tape = &tape, .workspace = workspace_}); });
    EXPECT_NE(message.find(": a narrow weight is for inference, and has no gradient: to train, it must be f32, but it "
                           "is bf16 ["),
              std::string::npos)
        << name << ": " << message;
  }
}

TEST_F(NarrowWeightsTest, AreNotReadIntoParametersThatAreTrained) {
  draw(layers()[0].second);
  write(twins(DType::f16)[0]);
  const Checkpoint file = open_safetensors(file_);
  EXPECT_NE(refusal([&] {
              read_parameters(file, drawn_);
            }).find("linear1.weight is f16 [40, 12], but the model needs f32 [40, 12]"),
            std::string::npos);
}

TEST_F(NarrowWeightsTest, ScalesThatDoNotFitAreNamed) {
  EXPECT_EQ(refused([](Tensors& tensors) { tensors.erase("map.weight.scales"); }), "has no tensor map.weight.scales");
  EXPECT_EQ(refused([](Tensors& tensors) { tensors["map.weight.scales"] = Tensor::zeros(DType::f32, {3}); }),
            "map.weight.scales is f32 [3], but the model needs f32 [2]");
  EXPECT_EQ(refused([](Tensors& tensors) {
              tensors["map.weight.scales"] = Tensor::zeros(DType::f32, {2, 1});
            }),
            "map.weight.scales is f32 [2, 1], but the model needs f32 [2]");
  EXPECT_EQ(refused([](Tensors& tensors) { tensors["map.weight.scales"] = Tensor::zeros(DType::bf16, {2}); }),
            "map.weight.scales is bf16 [2], but the model needs f32 [2]");
  EXPECT_EQ(refused([](Tensors& tensors) {
              tensors["map.weight.scales"].at<float>({1}) = std::numeric_limits<float>::quiet_NaN();
            }),
            "map.weight.scales: every element must be finite, but element 1 is nan");
  EXPECT_EQ(refused([](Tensors& tensors) {
              tensors["map.weight"] = Tensor::zeros(DType::f16, {2, 3});
            }),
            "the model has no parameter map.weight.scales");
}

TEST_F(NarrowWeightsTest, TensorsThatMustBeF32AreNamed) {
  EXPECT_EQ(refused([](Tensors& tensors) { tensors["map.bias"] = tensors["map.bias"].to(DType::bf16); }),
            "map.bias is bf16 [2], but the model needs f32 [2]");
  EXPECT_EQ(refused([](Tensors& tensors) { tensors["map.bias"] = Tensor::zeros(DType::i8, {2}); }),
            "map.bias is i8 [2], but the model needs f32 [2]");
  EXPECT_EQ(refused([](Tensors& tensors) {
              tensors["map.weight"] = Tensor::zeros(DType::i8, {3, 2});
            }),
            "map.weight is i8 [3, 2], but the model needs i8 [2, 3]");
  EXPECT_EQ(refused([](Tensors& tensors) {
              tensors["map.weight"] = Tensor::from<Float16>({{0}, {0}, {0}, {0}, {0x7C00}, {0}}, {2, 3});
              tensors.erase("map.weight.scales");
            }),
            "map.weight: every element must be finite, but element 4 is inf");
}

}  // namespace
}  // namespace heed
