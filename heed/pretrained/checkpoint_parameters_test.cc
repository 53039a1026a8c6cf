#include "heed/pretrained/checkpoint_parameters.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <numeric>

#include "heed/io/gguf.h"
#include "heed/io/open_checkpoint.h"
#include "heed/io/safetensors.h"
#include "heed/testing/file_bytes.h"
#include "heed/testing/random_blocks.h"
#include "heed/testing/refusal.h"
#include "heed/testing/scratch_test.h"

namespace heed {
namespace {

using testing::refusal;

// first, first + 1, ... in a tensor of the shape.
Tensor counted(std::initializer_list<Index> shape, float first = 0) {
  const Tensor tensor = Tensor::empty(DType::f32, shape);
  std::iota(tensor.data<float>(), tensor.data<float>() + tensor.size(), first);
  return tensor;
}

std::vector<float> numbers(const Tensor& tensor) {
  const Tensor wide = tensor.to(DType::f32);
  return {wide.data<float>(), wide.data<float>() + wide.size()};
}

class CheckpointParametersTest : public testing::ScratchTest {
 protected:
  Checkpoint saved(const std::map<std::string, Tensor>& tensors) {
    std::map<std::string, ConstView> views;
    for (const auto& [name, tensor] : tensors) views.emplace(name, tensor.view());
    write_safetensors(folder_ / "model.safetensors", views);
    return open_checkpoint(folder_ / "model.safetensors");
  }
};

TEST_F(CheckpointParametersTest, WhatTheFileHoldsAsItIsReadIsTheFilesMemory) {
  const Checkpoint file = saved({{"model.a.weight", counted({3, 2})}, {"model.b", counted({2, 2}).to(DType::bf16)}});
  CheckpointParameters loaded(file, {{"mine.*", {"model.*"}}}, "", 1);
  const ParameterScope scope(loaded);
  const Var a = scope.weight("mine.a.weight", 3, 2, Initial::constant(0));
  EXPECT_EQ(a.value().view().data, file.tensor("model.a.weight").view().data);
  const Var b = scope.weight("mine.b", 2, 2, Initial::constant(0));
  EXPECT_EQ(b.dtype(), DType::bf16);
  EXPECT_EQ(b.value().view().data, file.tensor("model.b").view().data);
}

TEST_F(CheckpointParametersTest, WhatIsComputedIsTheFilesWhereItHasOne) {
  const TensorRule rule{.parameter = "positions", .tensors = {"model.table"}, .computed = [] {
                          return counted({3, 2}, 10);
                        }};
  const auto first_of = [&](const Checkpoint& file) {
    CheckpointParameters loaded(file, {rule}, "model.", 1);
    loaded.check_there(std::vector<ParameterShape>{{"positions", {3, 2}, true}});
    return numbers(ParameterScope(loaded).weight("positions", 3, 2, Initial::constant(0)).value())[0];
  };
  EXPECT_EQ(first_of(saved({{"model.table", counted({3, 2}, 5)}})), 5);
  EXPECT_EQ(first_of(saved({{"model.other", counted({3, 2}, 5)}})), 10);
}

TEST_F(CheckpointParametersTest, ATensorThatSeveralShareIsFoundUnderAnyOfTheirNames) {
  const Checkpoint file = saved({{"lm_head.weight", counted({3, 2})}});
  const TensorRule rule{.parameter = "embedding", .tensors = {"model.shared"}, .otherwise = {"model.other", "lm_head"}};
  CheckpointParameters loaded(file, {rule}, "model.", 1);
  EXPECT_TRUE(loaded.has("embedding.weight"));
  EXPECT_FALSE(loaded.has("embedding.bias"));
  EXPECT_FALSE(loaded.has("norm.weight")) << "no rule names it";
  const ParameterScope scope(loaded);
  EXPECT_EQ(numbers(scope.weight("embedding.weight", 3, 2, Initial::constant(0)).value()), numbers(counted({3, 2})));
}

TEST_F(CheckpointParametersTest, APathMayBeAWholeSide) {
  const Checkpoint file = saved({{"encoder.positions.weight", counted({2, 2})}, {"encoder.pe", counted({2})}});
  const CheckpointParameters loaded(file, {}, "", 1);
  const std::vector<std::string> side{"encoder"}, table{".pe"};
  EXPECT_NE(refusal([&] { loaded.check_used(side, table); }).find(": encoder.positions.weight"), std::string::npos);
}

TEST_F(CheckpointParametersTest, SeveralParametersMayShareATensorsRows) {
  const Checkpoint file = saved({{"both", counted({4, 2})}});
  CheckpointParameters loaded(file,
                              {{.parameter = "gate", .tensors = {"both"}, .rows = 2},
                               {.parameter = "up", .tensors = {"both"}, .first_row = 2, .rows = 2}},
                              "", 1);
  const ParameterScope scope(loaded);
  EXPECT_EQ(numbers(scope.weight("gate", 2, 2, Initial::constant(0)).value()), (std::vector<float>{0, 1, 2, 3}));
  EXPECT_EQ(numbers(scope.weight("up", 2, 2, Initial::constant(0)).value()), (std::vector<float>{4, 5, 6, 7}));
}

TEST_F(CheckpointParametersTest, ATensorThatSeveralMissIsNamedOnce) {
  const Checkpoint file = saved({{"other", counted({1})}});
  const CheckpointParameters loaded(file, {{"gate", {"both"}}, {"up", {"both"}}, {"down", {"down"}}}, "", 1);
  EXPECT_EQ(refusal([&] {
              loaded.check_there(std::vector<ParameterShape>{{"gate", {1}}, {"up", {1}}, {"down", {1}}});
            }),
            file.name() + ": has no tensor both, down, which a model of its configuration has");
}

TEST_F(CheckpointParametersTest, RowsOfATensorAreTheFilesMemory) {
  const Tensor blocks = testing::random_blocks(BlockType::q4_k, 4, 256, 1);
  const std::string bytes(blocks.data<char>(), static_cast<std::size_t>(blocks.size()));
  const Checkpoint of_blocks = parse_gguf(
      std::make_shared<MappedFile>(testing::GgufBytes().tensor("both", 12, {4, 256}, bytes).bytes(), "m.gguf"));
  const Checkpoint of_halves = saved({{"both", counted({4, 256}).to(DType::bf16)}});
  for (const Checkpoint* const file : {&of_blocks, &of_halves}) {
    CheckpointParameters loaded(*file,
                                {{.parameter = "gate", .tensors = {"both"}, .rows = 1},
                                 {.parameter = "up", .tensors = {"both"}, .first_row = 1, .rows = 3},
                                 {.parameter = "more", .tensors = {"both"}, .first_row = 2, .rows = 3}},
                                "", 1);
    const ParameterScope scope(loaded);
    const Var gate = scope.weight("gate", 1, 256, Initial::constant(0)),
              up = scope.weight("up", 3, 256, Initial::constant(0));
    const char* const begin = file->tensors().at("both").bytes.data();
    EXPECT_EQ(gate.value().view().as<char>(), begin);
    EXPECT_EQ(up.value().view().as<char>(), begin + file->tensors().at("both").bytes.size() / 4);
    EXPECT_EQ(refusal([&] { scope.weight("more", 3, 256, Initial::constant(0)); }),
              file->name() + ": both from row 2 on is [2, 256], but the model needs [3, 256]");
  }
}

TEST_F(CheckpointParametersTest, WhatARuleNamesNothingForIsZero) {
  const Checkpoint file = saved({{"something", counted({1})}});
  CheckpointParameters loaded(file, {{"bias", {""}}}, "", 1);
  EXPECT_EQ(numbers(ParameterScope(loaded).vector("bias", 2, Initial::constant(1)).value()),
            (std::vector<float>{0, 0}));
}

TEST_F(CheckpointParametersTest, WhatOnlyF32IsReadOfIsWidened) {
  const Checkpoint file = saved({{"norm", counted({4}).to(DType::bf16)}});
  CheckpointParameters loaded(file, {{"norm", {"norm"}}}, "", 1);
  const Var norm = ParameterScope(loaded).vector("norm", 4, Initial::constant(0));
  EXPECT_EQ(norm.dtype(), DType::f32);
  EXPECT_EQ(numbers(norm.value()), (std::vector<float>{0, 1, 2, 3}));
}

TEST_F(CheckpointParametersTest, BlocksOfAWeightAreTheFilesMemory) {
  constexpr std::uint32_t kQ8_0 = 8;
  const Tensor blocks = testing::random_blocks(BlockType::q8_0, 3, 64, 1);
  const std::string bytes(blocks.data<char>(), static_cast<std::size_t>(blocks.size()));
  const Checkpoint file = parse_gguf(
      std::make_shared<MappedFile>(testing::GgufBytes().tensor("w", kQ8_0, {3, 64}, bytes).bytes(), "m.gguf"));
  CheckpointParameters loaded(file, {{"a", {"w"}}, {"b", {"w"}}}, "", 1);
  const Var weight = ParameterScope(loaded).weight("a", 3, 64, Initial::constant(0));
  EXPECT_EQ(weight.blocks(), BlockType::q8_0);
  EXPECT_EQ(weight.value().data<char>(), file.tensors().at("w").bytes.data());
  EXPECT_EQ(weight.count(), 3 * 64);
  const Var matrix = ParameterScope(loaded).matrix("b", 3, 64, Initial::constant(0));
  EXPECT_EQ(matrix.dtype(), DType::f32);
  EXPECT_EQ(numbers(matrix.value()), numbers(file.tensor("w")));
}

TEST_F(CheckpointParametersTest, LayoutsAreThoseOfHeed) {
  const Checkpoint file = saved({{"t", counted({2, 3})},
                                 {"h", counted({6, 1})},
                                 {"n", counted({2})},
                                 {"q", counted({2, 2})},
                                 {"k", counted({1, 2}, 10)},
                                 {"bias", counted({2})},
                                 {"p", counted({4, 1})}});
  CheckpointParameters loaded(file,
                              {{"t", {"t"}, TensorLayout::transposed},
                               {"h", {"h"}, TensorLayout::heads_apart},
                               {"n", {"n"}, TensorLayout::plus_one},
                               {"qk", {"q", "k"}},
                               {"with_zeros", {"bias", ""}},
                               {"p", {"p"}, TensorLayout::as_it_is, /*first_row=*/2}},
                              "", /*heads=*/2);
  const ParameterScope scope(loaded);
  const Initial zero = Initial::constant(0);
  EXPECT_EQ(numbers(scope.weight("t", 3, 2, zero).value()), (std::vector<float>{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(numbers(scope.weight("h", 6, 1, zero).value()), (std::vector<float>{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(numbers(scope.vector("n", 2, zero).value()), (std::vector<float>{1, 2}));
  EXPECT_EQ(numbers(scope.weight("qk", 3, 2, zero).value()), (std::vector<float>{0, 1, 2, 3, 10, 11}));
  EXPECT_EQ(numbers(scope.vector("with_zeros", 4, zero).value()), (std::vector<float>{0, 1, 0, 0}));
  EXPECT_EQ(numbers(scope.matrix("p", 2, 1, zero).value()), (std::vector<float>{2, 3}));
}

TEST_F(CheckpointParametersTest, RowsOfSixteenBitsKeepTheirType) {
  const Checkpoint file = saved({{"q", counted({2, 3}).to(DType::f16)}, {"k", counted({1, 3}, 7).to(DType::f16)}});
  CheckpointParameters loaded(file, {{"qk", {"q", "k"}}, {"t", {"q"}, TensorLayout::transposed}}, "", 1);
  const ParameterScope scope(loaded);
  const Var qk = scope.weight("qk", 3, 3, Initial::constant(0));
  EXPECT_EQ(qk.dtype(), DType::f16);
  EXPECT_EQ(numbers(qk.value()), (std::vector<float>{0, 1, 2, 3, 4, 5, 7, 8, 9}));
  const Var t = scope.weight("t", 3, 2, Initial::constant(0));
  EXPECT_EQ(t.dtype(), DType::f16);
  EXPECT_EQ(numbers(t.value()), (std::vector<float>{0, 3, 1, 4, 2, 5}));
}

TEST_F(CheckpointParametersTest, TwoNamesOfOneTensorShareItsMemory) {
  const Checkpoint file = saved({{"shared", counted({5, 3})}});
  CheckpointParameters loaded(file, {{"source", {"shared"}}, {"target", {"shared"}}}, "", 1);
  const ParameterScope scope(loaded);
  const Var source = scope.matrix("source", 5, 3, Initial::constant(0));
  const Var target = scope.matrix("target", 5, 3, Initial::constant(0));
  EXPECT_EQ(source.value().data<float>(), target.value().data<float>());
}

TEST_F(CheckpointParametersTest, APrefixMayBeMissingOrThatOfAClassWithAnotherHead) {
  for (const std::string prefix : {"model.", "", "transformer."}) {
    const Checkpoint file = saved({{prefix + "a", counted({2})}, {prefix + "layers.0", counted({2})}});
    CheckpointParameters loaded(file, {{"mine", {"model.a"}}}, "model.", 1);
    EXPECT_EQ(numbers(ParameterScope(loaded).vector("mine", 2, Initial::constant(0)).value()),
              (std::vector<float>{0, 1}));
    const std::vector<std::string> parts{"model.layers"};
    EXPECT_EQ(
        refusal([&] { loaded.check_used(parts, {}); }),
        fmt::format("{}: has tensors that a model of its configuration has not: {}layers.0", file.name(), prefix));
  }
}

TEST_F(CheckpointParametersTest, NormsMayHaveGammaAndBeta) {
  const Checkpoint file = saved({{"a.LayerNorm.gamma", counted({2})}, {"a.LayerNorm.beta", counted({2}, 5)}});
  CheckpointParameters loaded(file, {{"mine", {"bert.a.LayerNorm"}}}, "bert.", 1);
  const ParameterScope norm = ParameterScope(loaded) / "mine";
  EXPECT_EQ(numbers(norm.vector("weight", 2, Initial::constant(0)).value()), (std::vector<float>{0, 1}));
  EXPECT_EQ(numbers(norm.vector("bias", 2, Initial::constant(0)).value()), (std::vector<float>{5, 6}));
}

TEST_F(CheckpointParametersTest, SaysWhatIsMissingWhatDoesNotFitAndWhatIsTooMuch) {
  const Checkpoint file = saved({{"layers.0.a", counted({2, 3})}, {"layers.0.more", counted({2})}});
  CheckpointParameters loaded(file, {{"a", {"layers.0.a"}}, {"b", {"layers.0.b"}}, {"c", {"layers.0.more"}}}, "", 1);
  const std::string name = file.name();
  EXPECT_EQ(refusal([&] {
              loaded.check_there(std::vector<ParameterShape>{{"a", {2, 3}}, {"b", {1}}});
            }),
            name + ": has no tensor layers.0.b, which a model of its configuration has");
  const ParameterScope scope(loaded);
  EXPECT_EQ(refusal([&] { scope.weight("a", 3, 2, Initial::constant(0)); }),
            name + ": layers.0.a is [2, 3], but the model needs [3, 2]");
  EXPECT_EQ(refusal([&] { scope.vector("none", 3, Initial::constant(0)); }),
            name + ": the family has no tensor for the parameter none");
  CheckpointParameters part(file, {{"a", {"layers.0.a"}}}, "", 1);
  ParameterScope(part).weight("a", 2, 3, Initial::constant(0));
  EXPECT_EQ(refusal([&] { part.check_used(std::vector<std::string>{"layers.*"}, {}); }),
            name + ": has tensors that a model of its configuration has not: layers.0.more");
  EXPECT_EQ(refusal([&] { part.check_used(std::vector<std::string>{"layers.*"}, std::vector<std::string>{".more"}); }),
            "no error");
}

}  // namespace
}  // namespace heed
