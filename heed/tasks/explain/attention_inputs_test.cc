#include "heed/tasks/explain/attention_inputs.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "heed/io/npy.h"
#include "heed/ops/attention/attention.h"
#include "heed/testing/gradient_check.h"
#include "heed/testing/refusal.h"
#include "heed/testing/scratch_test.h"

namespace heed {
namespace {

// A folder with q.npy, k.npy, v.npy and mask.npy as a test wants them.
class AttentionArraysTest : public testing::ScratchTest {
 protected:
  std::filesystem::path save(const char* name, const Tensor& tensor) const {
    write_npy(folder_ / name, tensor.view());
    return folder_ / name;
  }
  // Random arrays of these shapes.
  AttentionArrays save_all(std::initializer_list<Index> q, std::initializer_list<Index> k,
                           std::initializer_list<Index> v, DType dtype = DType::f32) const {
    return {.q = saved("q", testing::random_tensor(DType::f32, q, 1).to(dtype)),
            .k = saved("k", testing::random_tensor(DType::f32, k, 2).to(dtype)),
            .v = saved("v", testing::random_tensor(DType::f32, v, 3).to(dtype))};
  }
  NamedArray saved(const std::string& name, const Tensor& tensor) const {
    const std::string file = save((name + ".npy").c_str(), tensor).string();
    return read_array("--" + name, file);
  }
  static std::string refusal(const AttentionArrays& arrays) {
    return testing::refusal([&] { attention_inputs(arrays); });
  }
};

void expect_names(const std::string& message, std::initializer_list<const char*> parts) {
  for (const char* part : parts) EXPECT_NE(message.find(part), std::string::npos) << part << " in: " << message;
}

TEST_F(AttentionArraysTest, LeadingAxesAreAdded) {
  const AttentionInputs matrices = attention_inputs(save_all({2, 3}, {4, 3}, {4, 5}));
  EXPECT_EQ(describe(matrices.q.view()), "f64 [1, 1, 2, 3]");
  const AttentionInputs heads = attention_inputs(save_all({6, 2, 3}, {2, 4, 3}, {2, 4, 5}));
  EXPECT_EQ(describe(heads.q.view()), "f64 [1, 6, 2, 3]");
  EXPECT_EQ(describe(heads.v.view()), "f64 [1, 2, 4, 5]");
  const AttentionInputs batches = attention_inputs(save_all({2, 1, 2, 3}, {2, 1, 4, 3}, {2, 1, 4, 5}));
  EXPECT_EQ(describe(batches.k.view()), "f64 [2, 1, 4, 3]");
}

TEST_F(AttentionArraysTest, TheUsersArraysGiveTheOperatorsWeights) {
  const AttentionArrays files = save_all({3, 4}, {5, 4}, {5, 2});
  const Explanation walk = explain_attention(attention_inputs(files));
  const Tensor q = files.q.tensor.reshape({1, 1, 3, 4}), k = files.k.tensor.reshape({1, 1, 5, 4});
  const Tensor v = files.v.tensor.reshape({1, 1, 5, 2});
  const Tensor weights = Tensor::zeros(DType::f32, {1, 1, 3, 5}), out = Tensor::zeros(DType::f32, {1, 1, 3, 2});
  Workspace workspace;
  attention(q, k, v, {}, {.out = out, .weights = weights}, workspace);
  const auto largest = [](const LabelledMatrix& seen, const Tensor& f32) {
    return testing::largest_difference(make_view(seen.values.data(), {seen.rows(), seen.columns()}),
                                       f32.reshape({seen.rows(), seen.columns()}).view());
  };
  EXPECT_LT(largest(walk.step("weights").matrices[0], weights), 1e-6);
  EXPECT_LT(largest(walk.step("output").matrices[0], out), 1e-6);
}

TEST_F(AttentionArraysTest, ColumnsAreSplitIntoHeads) {
  AttentionArrays files = save_all({2, 6}, {4, 6}, {4, 2}, DType::f64);
  files.heads = 2;
  const AttentionInputs problem = attention_inputs(files);
  EXPECT_EQ(describe(problem.q.view()), "f64 [1, 2, 2, 3]");
  EXPECT_EQ(problem.q.at<double>({0, 1, 1, 0}), files.q.tensor.at<double>({1, 3}));
  EXPECT_TRUE(problem.heads_of_one_matrix);
  EXPECT_EQ(explain_attention(problem).step("concatenation").matrices[0].columns(), 2);
}

TEST_F(AttentionArraysTest, WholeAndHalfNumbersAreNumbers) {
  const AttentionArrays files{.q = saved("q", Tensor::from(std::vector<std::int64_t>{1, 0, 1, 0, 1, 1}, {2, 3})),
                              .k = saved("k", Tensor::from(std::vector<std::int32_t>{1, 1, 0, 0, 1, 1}, {2, 3})),
                              .v = saved("v", Tensor::from(std::vector<float>{1, 2, 3, 4}, {2, 2}).to(DType::f16))};
  const Explanation walk = explain_attention(attention_inputs(files));
  EXPECT_EQ(walk.step("scores").matrices[0].values, (std::vector<double>{1, 1, 1, 2}));
  EXPECT_EQ(walk.step("output").matrices[0].value(0, 1), 3);
}

TEST_F(AttentionArraysTest, ErrorsNameTheFilesAndTheirShapes) {
  expect_names(refusal(save_all({2, 3}, {4, 2}, {4, 5})), {"same width", "q.npy is f32 [2, 3]", "k.npy is f32 [4, 2]"});
  expect_names(refusal(save_all({2, 3}, {4, 3}, {3, 5})), {"a value for each key", "k.npy is f32 [4, 3]", "v.npy"});
  expect_names(refusal(save_all({2, 3}, {1, 4, 3}, {4, 5})), {"number of axes", "q.npy", "k.npy", "v.npy"});
  expect_names(refusal(save_all({3, 2, 3}, {2, 4, 3}, {2, 4, 5})), {"multiple", "q.npy is f32 [3, 2, 3]", "k.npy"});
  expect_names(refusal(save_all({2, 2, 3}, {2, 4, 3}, {1, 4, 5})), {"same heads", "k.npy", "v.npy"});
  expect_names(refusal(save_all({2, 1, 2, 3}, {1, 1, 4, 3}, {2, 1, 4, 5})), {"batches", "q.npy is f32 [2, 1, 2, 3]"});
  expect_names(refusal(save_all({3}, {3}, {3})), {"q.npy", "must be [L, D]", "f32 [3]"});
  expect_names(refusal(save_all({0, 3}, {4, 3}, {4, 5})), {"q.npy", "no numbers", "f32 [0, 3]"});
  AttentionArrays files = save_all({2, 3}, {4, 3}, {4, 5});
  files.heads = 2;
  expect_names(refusal(files), {"q.npy", "multiple of 2 heads", "f64 [2, 3]"});
  files = save_all({1, 2, 4}, {1, 4, 4}, {1, 4, 4});
  files.heads = 2;
  expect_names(refusal(files), {"q.npy", "only a matrix", "f64 [1, 2, 4]"});
  expect_names(testing::refusal([&] { read_array("--k", (folder_ / "missing.npy").string()); }), {"missing.npy"});
  files.k = saved("k", Tensor::zeros(DType::boolean, {2, 3}));
  expect_names(refusal(files), {"k.npy", "must hold numbers", "boolean [2, 3]"});
}

TEST_F(AttentionArraysTest, AMaskIsTrueWhereAQueryMayAttend) {
  const Tensor mask = Tensor::zeros(DType::boolean, {2, 2});
  mask.at<bool>({0, 0}) = mask.at<bool>({1, 0}) = mask.at<bool>({1, 1}) = true;
  AttentionInputs causal = two_by_two_inputs();
  causal.causal = true;
  const std::vector<double> expected = explain_attention(causal).step("weights").matrices[0].values;
  for (const NamedArray& given : {saved("mask", mask), read_array("--mask", "[[1, 0], [1, 1]]"),
                                  read_array("--mask", "[[true, false], [true, true]]")}) {
    const AttentionInputs problem = attention_inputs({.mask = given});
    EXPECT_EQ(explain_attention(problem).step("weights").matrices[0].values, expected);
  }
}

TEST_F(AttentionArraysTest, ARowOfAMaskIsForEveryQuery) {
  const AttentionInputs problem = attention_inputs({.mask = read_array("--mask", "[1, 0]")});
  EXPECT_EQ(explain_attention(problem).step("weights").matrices[0].values, (std::vector<double>{1, 0, 1, 0}));
}

TEST_F(AttentionArraysTest, AMaskThatDoesNotFitIsRefused) {
  const auto refusal_of = [&](const Tensor& mask) {
    return testing::refusal([&] { attention_inputs({.mask = saved("mask", mask)}); });
  };
  expect_names(refusal_of(Tensor::zeros(DType::boolean, {2, 3})), {"mask.npy", "[2, 2]", "boolean [2, 3]"});
  expect_names(refusal_of(Tensor::zeros(DType::boolean, {3, 2, 2})), {"mask.npy", "boolean [3, 2, 2]"});
  expect_names(refusal_of(Tensor::zeros(DType::boolean, {2})), {"mask.npy", "boolean [2]"});
  expect_names(testing::refusal([] { attention_inputs({.mask = read_array("--mask", "[[1, 2], [0, 1]]")}); }),
               {"--mask", "1 (or true)", "but has 2"});
}

TEST_F(AttentionArraysTest, FewerHeadsOfKeysAreShared) {
  AttentionArrays arrays = save_all({3, 8}, {5, 4}, {5, 4});
  arrays.heads = 4, arrays.key_heads = 2;
  const AttentionInputs problem = attention_inputs(arrays);
  EXPECT_EQ(describe(problem.q.view()), "f64 [1, 4, 3, 2]");
  EXPECT_EQ(describe(problem.k.view()), "f64 [1, 2, 5, 2]");
  arrays.key_heads = 3;
  expect_names(refusal(arrays), {"multiple", "4 and 3"});
}

TEST_F(AttentionArraysTest, RowsAreProjected) {
  AttentionArrays arrays{.x = read_array("--x", "[[1, 0, 1], [0, 1, 1]]"),
                         .w_q = read_array("--w-q", "[[1, 0], [0, 1], [1, 1]]"),
                         .w_k = read_array("--w-k", "[[1, 1], [0, 1], [1, 0]]"),
                         .w_v = read_array("--w-v", "[[1, 2], [3, 4], [5, 6]]")};
  const AttentionInputs problem = attention_inputs(arrays);
  EXPECT_EQ(problem.q.at<double>({0, 0, 0, 0}), 2);   // 1 + 1
  EXPECT_EQ(problem.v.at<double>({0, 0, 1, 1}), 10);  // 4 + 6
  arrays.memory = read_array("--memory", "[[1, 1, 1]]");
  EXPECT_EQ(describe(attention_inputs(arrays).k.view()), "f64 [1, 1, 1, 2]");
  arrays.w_k = read_array("--w-k", "[[1, 1], [0, 1]]");
  expect_names(refusal(arrays), {"W_K", "the memory", "[2, 2]", "[1, 3]"});
}

TEST_F(AttentionArraysTest, TheVectorOfAdditiveScoresIsAsWideAsAQuery) {
  EXPECT_EQ(attention_inputs({.additive_vector = read_array("--v-a", "[1, 2, 3]")}).additive_vector.size(), 3);
  expect_names(refusal({.additive_vector = read_array("--v-a", "[1, 2]")}), {"--v-a", "3 numbers"});
}

}  // namespace
}  // namespace heed
