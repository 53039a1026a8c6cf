#include "heed/io/llama2c.h"

#include <gtest/gtest.h>

#include <vector>

#include "heed/testing/file_bytes.h"
#include "heed/testing/refusal.h"

namespace heed {
namespace {

using testing::bytes_of;
using testing::refusal;

// dim 4, hidden_dim 6, 2 layers, 2 heads over 1 (so keys have 2 rows), vocabulary 5, 3 positions.
constexpr int kDim = 4, kHidden = 6, kLayers = 2, kHeads = 2, kKeyHeads = 1, kVocabulary = 5, kPositions = 3;

std::string header(int vocabulary = kVocabulary) {
  return bytes_of(std::vector<std::int32_t>{kDim, kHidden, kLayers, kHeads, kKeyHeads, vocabulary, kPositions});
}

// `count` numbers, each its own, counted on through a file.
class Numbers {
 public:
  std::string take(int count) {
    std::vector<float> numbers;
    for (int i = 0; i < count; ++i) numbers.push_back(static_cast<float>(next_++));
    return bytes_of(numbers);
  }

 private:
  int next_ = 0;
};

std::string version_0(bool shared, Numbers numbers = {}) {
  std::string bytes = header(shared ? kVocabulary : -kVocabulary);
  for (int count : {kVocabulary * kDim, kLayers * kDim, kLayers * kDim * kDim, kLayers * 2 * kDim, kLayers * 2 * kDim,
                    kLayers * kDim * kDim, kLayers * kDim, kLayers * kHidden * kDim, kLayers * kDim * kHidden,
                    kLayers * kHidden * kDim, kDim, 2 * kPositions * kDim / kHeads / 2}) {
    bytes += numbers.take(count);
  }
  return shared ? bytes : bytes + numbers.take(kVocabulary * kDim);
}

std::string marked(int version, bool shared, const std::string& more = "") {
  std::string bytes =
      bytes_of(std::uint32_t{0x616b3432}) + bytes_of(std::int32_t{version}) + header() + (shared ? '\1' : '\0') + more;
  bytes.resize(256, '\0');
  return bytes;
}

std::string version_1(bool shared, Numbers numbers = {}) {
  const int counts = 2 * kLayers * kDim + kDim + kVocabulary * kDim + kLayers * (2 * kDim * kDim + 4 * kDim) +
                     kLayers * 3 * kHidden * kDim + (shared ? 0 : kVocabulary * kDim);
  return marked(1, shared) + numbers.take(counts);
}

// Each matrix: the integers 0 to 126 over and over, and scales 1, 2, 3, ... of groups of two.
std::string version_2() {
  Numbers numbers;
  std::string bytes = marked(2, true, bytes_of(std::int32_t{2})) + numbers.take(2 * kLayers * kDim + kDim);
  const auto matrix = [&](int size, int count) {
    for (int n = 0; n < count; ++n) {
      for (int i = 0; i < size; ++i) bytes += static_cast<char>(i % 127);
      for (int i = 0; i < size / 2; ++i) bytes += bytes_of(static_cast<float>(i + 1));
    }
  };
  matrix(kVocabulary * kDim, 1);
  matrix(kDim * kDim, kLayers);
  matrix(2 * kDim, 2 * kLayers);
  matrix(kDim * kDim, kLayers);
  matrix(kHidden * kDim, 3 * kLayers);
  return bytes;
}

Checkpoint llama2c_of(const std::string& bytes) { return parse_llama2c(std::make_shared<MappedFile>(bytes, "m.bin")); }
std::string refused_llama2c(const std::string& bytes) {
  return refusal([&] { llama2c_of(bytes); });
}

TEST(Llama2c, VersionZeroIsInItsOrder) {
  const Checkpoint file = llama2c_of(version_0(true));
  EXPECT_EQ(file.format(), CheckpointFormat::llama2c);
  EXPECT_EQ(file.metadata().dump(),
            R"({"version":0,"dim":4,"hidden_dim":6,"n_layers":2,"n_heads":2,"n_kv_heads":1,"vocab_size":5,)"
            R"("max_seq_len":3,"shared_classifier":true,"group_size":0})");
  EXPECT_EQ(file.tensors().size(), 2u + 2u * 9u);
  EXPECT_EQ(describe(file.tensor("tok_embeddings.weight").view()), "f32 [5, 4]");
  EXPECT_EQ(describe(file.tensor("layers.1.attention.wk.weight").view()), "f32 [2, 4]");
  EXPECT_EQ(describe(file.tensor("layers.1.feed_forward.w2.weight").view()), "f32 [4, 6]");
  const auto first = [&](const char* name) { return file.tensor(name).data<float>()[0]; };
  EXPECT_EQ(first("tok_embeddings.weight"), 0);
  EXPECT_EQ(first("layers.0.attention_norm.weight"), 20);
  EXPECT_EQ(first("layers.1.attention_norm.weight"), 24);
  EXPECT_EQ(first("layers.0.attention.wq.weight"), 28);
  EXPECT_EQ(first("layers.1.attention.wk.weight"), 68);
  EXPECT_EQ(first("layers.0.attention.wv.weight"), 76);
  EXPECT_EQ(first("layers.0.attention.wo.weight"), 92);
  EXPECT_EQ(first("layers.0.ffn_norm.weight"), 124);
  EXPECT_EQ(first("layers.0.feed_forward.w1.weight"), 132);
  EXPECT_EQ(first("layers.0.feed_forward.w2.weight"), 180);
  EXPECT_EQ(first("layers.0.feed_forward.w3.weight"), 228);
  EXPECT_EQ(first("norm.weight"), 276);
}

TEST(Llama2c, AnOutputOfItsOwnIsBehindTheRotaryTables) {
  const Checkpoint file = llama2c_of(version_0(false));
  EXPECT_FALSE(file.metadata()["shared_classifier"].boolean());
  EXPECT_EQ(file.metadata()["vocab_size"].integer(), 5);
  EXPECT_EQ(file.tensor("output.weight").at<float>({0, 0}), 276 + 4 + 6);
}

TEST(Llama2c, VersionOneHasItsNormsFirst) {
  for (bool shared : {true, false}) {
    const Checkpoint file = llama2c_of(version_1(shared));
    EXPECT_EQ(file.metadata()["version"].integer(), 1);
    EXPECT_EQ(file.has("output.weight"), !shared);
    EXPECT_EQ(file.tensor("layers.1.ffn_norm.weight").at<float>({0}), 12);
    EXPECT_EQ(file.tensor("norm.weight").at<float>({0}), 16);
    EXPECT_EQ(file.tensor("tok_embeddings.weight").at<float>({0, 0}), 20);
    EXPECT_EQ(file.tensor("layers.0.attention.wq.weight").at<float>({0, 0}), 40);
  }
}

TEST(Llama2c, VersionTwoTimesItsScales) {
  const Checkpoint file = llama2c_of(version_2());
  EXPECT_EQ(file.metadata()["group_size"].integer(), 2);
  const Tensor w = file.tensor("layers.1.feed_forward.w3.weight");
  EXPECT_EQ(describe(w.view()), "f32 [6, 4]");
  for (Index i = 0; i < w.size(); ++i) EXPECT_EQ(w.data<float>()[i], static_cast<float>(i * (i / 2 + 1)));
  EXPECT_EQ(file.tensor("norm.weight").at<float>({0}), 16);
  EXPECT_EQ(refused_llama2c(marked(2, true, bytes_of(std::int32_t{0}))),
            "m.bin: a group must be of 1 to 16777216 numbers, but is of 0");
}

TEST(Llama2c, LooksLikeNothingElse) {
  for (const std::string& bytes : {version_0(true), version_0(false), version_1(true), version_2()}) {
    EXPECT_TRUE(looks_like_llama2c(bytes));
  }
  for (const std::string& bytes : {std::string(), std::string(100, '\0'), std::string(100, 'x'), header().substr(0, 27),
                                   bytes_of(std::vector<std::int32_t>{7, 0, 5, 1, 1, 1, 1})}) {
    EXPECT_FALSE(looks_like_llama2c(bytes));
  }
}

TEST(Llama2cHostile, FilesOfAnotherLength) {
  for (const std::string& bytes : {version_0(true), version_0(false), version_1(true), version_2()}) {
    for (std::size_t size = 0; size < bytes.size(); ++size)
      EXPECT_THROW(llama2c_of(bytes.substr(0, size)), Error) << size;
    EXPECT_EQ(refused_llama2c(bytes + "x"), "m.bin: 1 bytes are left behind a model of these extents");
  }
  EXPECT_EQ(refused_llama2c(version_0(true).substr(0, 100)),
            "m.bin: cut short: tok_embeddings.weight at byte 28 takes 80 bytes, but 72 are left");
}

TEST(Llama2cHostile, ExtentsThatDoNotGoTogether) {
  const auto with = [](std::size_t which, std::int32_t value) {
    std::string bytes = version_0(true);
    bytes.replace(4 * which, 4, bytes_of(value));
    return refused_llama2c(bytes);
  };
  for (std::size_t which = 0; which < 7; ++which) {
    for (std::int32_t value : {0, -1, 1 << 30}) EXPECT_NE(with(which, value), "no error") << which << " " << value;
  }
  EXPECT_EQ(with(3, 3),
            "m.bin: no model has these extents: dim 4, hidden_dim 6, 2 layers, 3 heads, 1 for keys, vocabulary 5, 3 "
            "positions");
  EXPECT_EQ(refused_llama2c(marked(3, true)),
            "m.bin: the version of a llama2.c file with a magic must be 1 or 2, but is 3");
}

std::string piece(float score, const std::string& text) {
  return bytes_of(score) + bytes_of(static_cast<std::int32_t>(text.size())) + text;
}

TEST(Llama2cVocabulary, HasPiecesAndScores) {
  const std::string bytes = bytes_of(std::int32_t{5}) + piece(0, "<unk>") + piece(-1.5f, "") + piece(-2, " a");
  const Llama2cVocabulary vocabulary = parse_llama2c_vocabulary(bytes, "tok.bin");
  EXPECT_EQ(vocabulary.pieces, (std::vector<std::string>{"<unk>", "", " a"}));
  EXPECT_EQ(vocabulary.scores, (std::vector<float>{0, -1.5f, -2}));
  EXPECT_EQ(vocabulary.longest, 5);
}

TEST(Llama2cVocabulary, PiecesThatDoNotLieInTheFileAreErrors) {
  const std::string bytes = bytes_of(std::int32_t{5}) + piece(0, "<unk>");
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THROW(parse_llama2c_vocabulary(bytes.substr(0, size), "tok.bin"), Error) << size;
  }
  EXPECT_EQ(refusal([&] { parse_llama2c_vocabulary(bytes.substr(0, 4), "tok.bin"); }), "tok.bin: no pieces");
  EXPECT_EQ(refusal([&] { parse_llama2c_vocabulary(bytes + piece(0, "sixsix"), "tok.bin"); }),
            "tok.bin: the piece at byte 25 must be of 0 to 5 bytes, as the file says of the longest, but is of 6");
}

}  // namespace
}  // namespace heed
