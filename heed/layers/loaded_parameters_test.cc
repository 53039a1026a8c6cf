#include "heed/layers/loaded_parameters.h"

#include <gtest/gtest.h>

#include <limits>

#include "heed/base/file.h"
#include "heed/layers/drawn_parameters.h"
#include "heed/layers/feed_forward.h"
#include "heed/layers/listed_parameters.h"
#include "heed/layers/saved_parameters.h"
#include "heed/testing/gradient_check.h"
#include "heed/testing/refusal.h"

namespace heed {
namespace {

using testing::random_tensor;
using testing::refusal;
using testing::same_bits;

class LoadedParametersTest : public ::testing::Test {
 protected:
  static FeedForward make(const ParameterScope& scope) {
    return FeedForward(scope, {.width = 4, .ffn_width = 6, .activation = Activation::gelu});
  }

  LoadedParametersTest() { make(listed_); }

  // The parameters of make, with what `change` does to them.
  template <typename Change>
  void write(Change change) const {
    std::map<std::string, Tensor> tensors;
    for (const auto& [name, var] : drawn_.list()) tensors[name] = var.value();
    change(tensors);
    write_safetensors(file_, {tensors.begin(), tensors.end()});
  }
  void write() const {
    write([](auto&) {});
  }
  std::string load() const {
    return refusal([&] { LoadedParameters loaded(file_, listed_.shapes()); });
  }
  std::string refused(const std::string& misfits) const { return file_.string() + ": " + misfits; }

  const std::filesystem::path file_ =
      std::filesystem::path(::testing::TempDir()) /
      (std::string("loaded_parameters_") + ::testing::UnitTest::GetInstance()->current_test_info()->name());
  ListedParameters listed_;
  DrawnParameters drawn_{Rng(1)};
  const FeedForward layer_ = make(drawn_);
};

TEST_F(LoadedParametersTest, AreThoseThatWereSaved) {
  save_parameters(file_, drawn_.list());
  LoadedParameters loaded(file_, listed_.shapes());
  const FeedForward layer = make(loaded);
  EXPECT_EQ(loaded.shapes(), drawn_.shapes());
  ASSERT_EQ(loaded.list().size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(loaded.list()[i].name, drawn_.list()[i].name);
    EXPECT_TRUE(same_bits(loaded.list()[i].var, drawn_.list()[i].var));
    EXPECT_TRUE(loaded.list()[i].var.requires_grad());
  }
  Workspace workspace;
  const Context context = Context::inference(workspace);
  const Var x(random_tensor(DType::f32, {3, 4}, 1));
  EXPECT_TRUE(same_bits(layer.forward(context, x), layer_.forward(context, x)));
}

TEST_F(LoadedParametersTest, AreWrittenToWithoutTheFile) {
  save_parameters(file_, drawn_.list());
  const std::string before = read_file(file_);
  LoadedParameters loaded(file_, listed_.shapes());
  make(loaded);
  for (const auto& [name, var] : loaded.list()) fill(var.value(), 3);
  EXPECT_EQ(loaded.list()[0].var.value().at<float>({1, 2}), 3);
  EXPECT_EQ(read_file(file_), before);
}

TEST_F(LoadedParametersTest, BlocksAreNotSaved) {
  const Var blocks = Var::narrow(Tensor::zeros(DType::i8, {2, 34}), {}, BlockType::q8_0);
  EXPECT_EQ(refusal([&] {
              save_parameters(file_, {{"w", blocks}});
            }),
            refused("w: Q8_0 [2, 32] has no place in this file"));
}

TEST_F(LoadedParametersTest, EveryNameThatDoesNotFitIsInOneError) {
  write([](auto& tensors) {
    tensors.erase("linear1.bias");
    tensors["linear1.weight"] = tensors["linear1.weight"].to(DType::f64);
    tensors["linear2.weight"] = Tensor::zeros(DType::f32, {6, 4});
    tensors["linear3.weight"] = Tensor::zeros(DType::f32, {1});
  });
  EXPECT_EQ(load(), refused("linear1.weight is f64 [6, 4], but the model needs f32 [6, 4]; has no tensor "
                            "linear1.bias; linear2.weight is f32 [6, 4], but the model needs f32 [4, 6]; the model "
                            "has no parameter linear3.weight"));
}

TEST_F(LoadedParametersTest, ManyNamesThatDoNotFitAreCounted) {
  write([](auto& tensors) {
    for (int i = 0; i < 9; ++i) tensors["x" + std::to_string(i)] = Tensor::zeros(DType::f32, {});
  });
  EXPECT_EQ(load(), refused("the model has no parameter x0; the model has no parameter x1; the model has no parameter "
                            "x2; the model has no parameter x3; the model has no parameter x4; and 4 more that do not "
                            "fit"));
}

TEST_F(LoadedParametersTest, NamesAreHeldToBeforeTensorsAreRead) {
  write([](auto& tensors) {
    tensors["linear1.bias"] = Tensor::from(std::vector<float>(6, std::numeric_limits<float>::quiet_NaN()), {6});
    tensors["x"] = Tensor::zeros(DType::f32, {1});
  });
  EXPECT_EQ(load(), refused("the model has no parameter x"));
}

TEST_F(LoadedParametersTest, AnElementThatIsNotFiniteIsNamed) {
  write([](auto& tensors) {
    tensors["linear2.weight"] = tensors["linear2.weight"].clone();
    tensors["linear2.weight"].template at<float>({1, 1}) = -std::numeric_limits<float>::infinity();
  });
  EXPECT_EQ(load(), refused("linear2.weight: every element must be finite, but element 7 is -inf"));
}

TEST_F(LoadedParametersTest, ALayerThatWasNotListedFindsNothing) {
  write();
  LoadedParameters loaded(file_, listed_.shapes());
  EXPECT_EQ(refusal([&] { const Linear other(ParameterScope(loaded) / "linear3", 4, 6); }),
            refused("has no tensor linear3.weight"));
  EXPECT_EQ(refusal([&] { const Linear other(ParameterScope(loaded) / "linear1", 6, 4); }),
            refused("linear1.weight is f32 [6, 4], but the model needs [4, 6]"));
}

TEST_F(LoadedParametersTest, ParametersThatAreThereAreSetAllOrNone) {
  write([](auto& tensors) { tensors.erase("linear2.bias"); });
  DrawnParameters other(Rng(2)), before(Rng(2));
  make(other), make(before);
  const Checkpoint incomplete = open_safetensors(file_);
  EXPECT_EQ(refusal([&] { read_parameters(incomplete, other.list()); }), refused("has no tensor linear2.bias"));
  for (std::size_t i = 0; i < 4; ++i) EXPECT_TRUE(same_bits(other.list()[i].var, before.list()[i].var));
  write();
  read_parameters(open_safetensors(file_), other.list());
  for (std::size_t i = 0; i < 4; ++i) EXPECT_TRUE(same_bits(other.list()[i].var, drawn_.list()[i].var));
}

}  // namespace
}  // namespace heed
