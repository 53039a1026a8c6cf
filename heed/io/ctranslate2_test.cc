#include "heed/io/ctranslate2.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <limits>
#include <vector>

#include "heed/base/file.h"
#include "heed/base/file_writer.h"
#include "heed/testing/file_bytes.h"
#include "heed/testing/refusal.h"

namespace heed {
namespace {

using testing::bytes_of;
using testing::Ctranslate2Bytes;
using testing::refusal;
using testing::six_floats;

// The format's numbers of types.
struct BinaryType {
  static constexpr std::uint8_t f32 = 0, i8 = 1, i16 = 2, i32 = 3, f16 = 4, bf16 = 5;
};

Checkpoint ctranslate2_of(const std::string& bytes) {
  return parse_ctranslate2(std::make_shared<MappedFile>(bytes, "m.bin"));
}
Checkpoint ctranslate2_of(const Ctranslate2Bytes& file) { return ctranslate2_of(file.bytes()); }

template <typename File>
std::string refused_ctranslate2(const File& file) {
  return refusal([&] { ctranslate2_of(file); });
}

std::string integers() { return bytes_of(std::vector<std::int8_t>{127, -64, 0, 100, -127, 1}); }

TEST(Ctranslate2, HasItsVariables) {
  const Checkpoint file =
      ctranslate2_of(Ctranslate2Bytes()
                         .variable("a/bias", {6}, BinaryType::f32, six_floats())
                         .variable("a/half", {1}, BinaryType::f16, bytes_of(std::uint16_t{0x3C00}))
                         .variable("a/brain", {1}, BinaryType::bf16, bytes_of(std::uint16_t{0x3F80}))
                         .variable("heads", {}, BinaryType::i16, bytes_of(std::int16_t{8}))
                         .variable("flag", {}, BinaryType::i8, "\1")
                         .variable("ids", {2}, BinaryType::i32, bytes_of(std::vector<std::int32_t>{5, -6})));
  EXPECT_EQ(file.format(), CheckpointFormat::ctranslate2);
  EXPECT_EQ(file.metadata().dump(), R"({"binary_version":6,"spec":"TransformerSpec","spec_revision":7})");
  EXPECT_EQ(file.tensors().size(), 6u);
  EXPECT_EQ(file.tensor("a/bias").at<float>({5}), 6);
  EXPECT_EQ(file.tensor("a/half").dtype(), DType::f16);
  EXPECT_EQ(file.tensor("a/brain").dtype(), DType::bf16);
  EXPECT_EQ(file.tensor("heads").at<std::int32_t>({}), 8);
  EXPECT_EQ(file.tensor("flag").at<std::int8_t>({}), 1);
  EXPECT_EQ(file.tensor("ids").at<std::int32_t>({1}), -6);
}

TEST(Ctranslate2, AWeightOfInt8HasTheReciprocalScalesOfItsRows) {
  const Checkpoint file =
      ctranslate2_of(Ctranslate2Bytes()
                         .variable("w/weight", {2, 3}, BinaryType::i8, integers())
                         .variable("w/weight_scale", {2}, BinaryType::f32, bytes_of(std::vector<float>{4, 0.5f})));
  ASSERT_EQ(file.tensors().size(), 1u);
  EXPECT_EQ(file.tensors().at("w/weight").dtype(), DType::i8);
  const Tensor values = file.tensor("w/weight"), scales = file.scales("w/weight");
  EXPECT_EQ(values.at<std::int8_t>({1, 1}), -127);
  ASSERT_EQ(describe(scales.view()), "f32 [2]");
  EXPECT_EQ(scales.at<float>({0}), 0.25f);
  EXPECT_EQ(scales.at<float>({1}), 2);
}

TEST(Ctranslate2, WeightsWithOneScaleBecomeF32) {
  const std::string shorts = bytes_of(std::vector<std::int16_t>{1000, -500});
  const Checkpoint file = ctranslate2_of(Ctranslate2Bytes()
                                             .variable("a/weight", {1, 2}, BinaryType::i16, shorts)
                                             .variable("a/weight_scale", {}, BinaryType::f32, bytes_of(500.0f))
                                             .variable("b/weight", {1, 2}, BinaryType::i16, shorts)
                                             .variable("c/weight", {2, 3}, BinaryType::i8, integers())
                                             .variable("c/weight_scale", {1}, BinaryType::f32, bytes_of(2.0f)));
  EXPECT_EQ(file.tensor("a/weight").at<float>({0, 1}), -1);
  EXPECT_EQ(file.tensor("b/weight").at<float>({0, 0}), 1000 * (1 / 1000.0f));  // what all were divided by
  EXPECT_EQ(describe(file.tensor("c/weight").view()), "f32 [2, 3]");
  EXPECT_EQ(file.tensor("c/weight").at<float>({1, 1}), -63.5f);
  EXPECT_TRUE(file.scales("c/weight").is_empty());
}

TEST(Ctranslate2, AnAliasIsTheTensorThatItStandsFor) {
  const Checkpoint file =
      ctranslate2_of(Ctranslate2Bytes()
                         .variable("a/weight", {2, 3}, BinaryType::i8, integers())
                         .variable("a/weight_scale", {2}, BinaryType::f32, bytes_of(std::vector<float>{4, 0.5f}))
                         .alias("b/weight", "a/weight"));
  const Tensor one = file.tensor("a/weight"), other = file.tensor("b/weight");
  EXPECT_EQ(one.data<char>(), other.data<char>());  // int8 lies aligned wherever it lies
  EXPECT_EQ(file.scales("b/weight").at<float>({1}), 2);
}

TEST(Ctranslate2, FilesOfEveryVersionAreRead) {
  for (std::uint32_t version = 1; version <= 6; ++version) {
    Ctranslate2Bytes bytes(version);
    const bool typed = version >= 4;
    bytes.variable("b", {2, 3}, typed ? BinaryType::f32 : 4, six_floats())
        .variable("flag", {}, typed ? BinaryType::i8 : 1, "\2");
    if (version >= 3) bytes.alias("c", "b");
    const Checkpoint file = ctranslate2_of(bytes);
    EXPECT_EQ(file.metadata()["binary_version"].integer(), version);
    EXPECT_EQ(file.metadata()["spec"].string(), version == 1 ? "" : "TransformerSpec");
    EXPECT_EQ(file.tensor("b").at<float>({1, 2}), 6);
    EXPECT_EQ(file.tensor("flag").at<std::int8_t>({}), 2);
    EXPECT_EQ(file.has("c"), version >= 3);
    EXPECT_TRUE(looks_like_ctranslate2(bytes.bytes())) << version;
  }
  EXPECT_TRUE(looks_like_ctranslate2(Ctranslate2Bytes(2, "").variable("b", {6}, 4, six_floats()).bytes()));
  EXPECT_EQ(refused_ctranslate2(Ctranslate2Bytes(7)),
            "m.bin: the version of a CTranslate2 file must be from 1 to 6, but is 7");
  EXPECT_EQ(refused_ctranslate2(Ctranslate2Bytes(0)),
            "m.bin: the version of a CTranslate2 file must be from 1 to 6, but is 0");
}

TEST(Ctranslate2, NamesOfTheFirstRevisionAreThoseOfToday) {
  const Ctranslate2Bytes first =
      Ctranslate2Bytes(2, "TransformerBase", 1)
          .variable("transformer/encoder/w_embs:0", {2, 3}, 1, integers())
          .variable("transformer/encoder/w_embs_scale:0", {2}, 4, bytes_of(std::vector<float>{4, 0.5f}))
          .variable("transformer/encoder/LayerNorm/gamma:0", {6}, 4, six_floats())
          .variable("transformer/encoder/layer_0/multi_head/conv1d/kernel:0", {6}, 4, six_floats())
          .variable("transformer/decoder/layer_3/masked_multi_head/conv1d_1/kernel:0", {6}, 4, six_floats())
          .variable("transformer/decoder/layer_3/multi_head/conv1d_2/bias:0", {6}, 4, six_floats())
          .variable("transformer/decoder/dense/kernel:0", {6}, 4, six_floats());
  const Checkpoint file = ctranslate2_of(first);
  std::vector<std::string> names;
  for (const auto& item : file.tensors()) names.push_back(item.first);
  EXPECT_EQ(names, (std::vector<std::string>{
                       "decoder/layer_3/attention/linear_2/bias", "decoder/layer_3/self_attention/linear_1/weight",
                       "decoder/projection/weight", "encoder/embeddings/weight",
                       "encoder/layer_0/self_attention/linear_0/weight", "encoder/layer_norm/gamma"}));
  EXPECT_EQ(file.scales("encoder/embeddings/weight").at<float>({1}), 2) << "a weight by its name of today";
  const auto kept = [](const char* spec, std::uint32_t revision) {
    return ctranslate2_of(Ctranslate2Bytes(2, spec, revision).variable("dense:0", {6}, 4, six_floats())).has("dense:0");
  };
  EXPECT_TRUE(kept("TransformerBase", 2));
  EXPECT_TRUE(kept("TransformerDecoderSpec", 1));
  EXPECT_FALSE(kept("", 1));
}

TEST(Ctranslate2, OtherBeginningsAreNone) {
  for (const std::string& bytes :
       {std::string(), std::string("GGUF\3\0\0\0", 8), std::string(100, '\0'), "PK\3\4" + std::string(100, 'x'),
        bytes_of(std::vector<std::int32_t>{2, 1, 1, 1, 1, 256, 16, 0, 0, 0})}) {
    EXPECT_FALSE(looks_like_ctranslate2(bytes)) << bytes;
  }
}

TEST(Ctranslate2Hostile, EveryPrefixIsAnError) {
  const std::string bytes = Ctranslate2Bytes()
                                .variable("w/weight", {2, 3}, BinaryType::i8, integers())
                                .variable("w/weight_scale", {2}, BinaryType::f32, bytes_of(std::vector<float>{4, 0.5f}))
                                .alias("v", "w/weight")
                                .bytes();
  EXPECT_NO_THROW(ctranslate2_of(bytes));
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_THROW(ctranslate2_of(bytes.substr(0, size)), Error) << size;
  EXPECT_EQ(refused_ctranslate2(bytes + "xx"), "m.bin: the last 2 bytes belong to nothing");
}

TEST(Ctranslate2Hostile, CorruptFilesAreErrorsOrValid) {
  const std::string bytes = Ctranslate2Bytes()
                                .variable("w/weight", {2, 3}, BinaryType::i8, integers())
                                .variable("w/weight_scale", {2}, BinaryType::f32, bytes_of(std::vector<float>{4, 0.5f}))
                                .alias("v", "w/weight")
                                .bytes();
  int valid = 0;
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string corrupt = bytes;
      corrupt[at] = static_cast<char>(corrupt[at] ^ (1 << bit));
      try {
        const Checkpoint file = ctranslate2_of(corrupt);
        for (const auto& item : file.tensors()) file.tensor(item.first), file.scales(item.first);
        ++valid;
      } catch (const Error&) {
      }
    }
  }
  EXPECT_GT(valid, 0);
}

TEST(Ctranslate2Hostile, Variables) {
  EXPECT_EQ(refused_ctranslate2(Ctranslate2Bytes().variable("b", {2, 3}, BinaryType::f32, six_floats() + "four")),
            "m.bin: b: f32 [2, 3] takes 24 bytes, but the file says 28");
  EXPECT_EQ(refused_ctranslate2(Ctranslate2Bytes(3).variable("b", {2, 4}, 4, six_floats())),
            "m.bin: b: f32 [2, 4] takes 32 bytes, but the file says 24");
  EXPECT_EQ(refused_ctranslate2(Ctranslate2Bytes().variable("b", {6}, 6, six_floats())),
            "m.bin: b: the type must be from 0 to 5, but is 6");
  EXPECT_EQ(refused_ctranslate2(Ctranslate2Bytes(2).variable("b", {3}, 8, six_floats())),
            "m.bin: b: a number must be 1, 2 or 4 bytes wide, but is 8");
  EXPECT_EQ(refused_ctranslate2(Ctranslate2Bytes().variable("b", {1, 1, 1, 1, 6}, BinaryType::f32, six_floats())),
            "m.bin: b: the rank must be at most 4, but is 5");
  EXPECT_EQ(refused_ctranslate2(
                Ctranslate2Bytes().variable("b", {4294967295, 4294967295, 4294967295}, BinaryType::f32, six_floats())),
            "m.bin: b: the shape [4294967295, 4294967295, 4294967295] is too large");
  EXPECT_EQ(refused_ctranslate2(Ctranslate2Bytes()
                                    .variable("b", {6}, BinaryType::f32, six_floats())
                                    .variable("b", {6}, BinaryType::f32, six_floats())),
            "m.bin: b is there twice");
  EXPECT_EQ(refused_ctranslate2(Ctranslate2Bytes().variable("", {6}, BinaryType::f32, six_floats())),
            "m.bin: the name of a variable before byte 33 must be a text that ends with its only zero");
  EXPECT_EQ(
      refused_ctranslate2(Ctranslate2Bytes().variable(std::string_view("a\0b", 3), {6}, BinaryType::f32, six_floats())),
      "m.bin: the name of a variable before byte 36 must be a text that ends with its only zero");
}

TEST(Ctranslate2Hostile, CountsThatNoFileHolds) {
  const std::string head = bytes_of(std::uint32_t{6}) + Ctranslate2Bytes::string("S") + bytes_of(std::uint32_t{1});
  EXPECT_EQ(
      refused_ctranslate2(head + bytes_of(~std::uint32_t{0})),
      "m.bin: cut short: 4294967295 variables are said to be at byte 16, of 10 bytes or more each, but 0 are left");
  EXPECT_EQ(refused_ctranslate2(head + bytes_of(std::uint32_t{0}) + bytes_of(~std::uint32_t{0})),
            "m.bin: cut short: 4294967295 aliases are said to be at byte 20, of 8 bytes or more each, but 0 are left");
  EXPECT_EQ(refused_ctranslate2(head + bytes_of(std::uint32_t{300000}) + std::string(3000000, '\0')),
            "m.bin: 300000 variables, more than 262144");
}

TEST(Ctranslate2Hostile, Scales) {
  const auto with = [](const std::vector<Index>& shape, std::uint8_t type, const std::string& scales) {
    return Ctranslate2Bytes()
        .variable("w/weight", {2, 3}, BinaryType::i8, integers())
        .variable("w/weight_scale", shape, type, scales);
  };
  EXPECT_EQ(refused_ctranslate2(Ctranslate2Bytes().variable("w/weight", {2, 3}, BinaryType::i8, integers())),
            "m.bin: w/weight: is int8, but there is no w/weight_scale");
  EXPECT_EQ(refused_ctranslate2(with({3}, BinaryType::f32, bytes_of(std::vector<float>{1, 2, 3}))),
            "m.bin: w/weight: i8 [2, 3] must have a scale f32 of all, or, in int8, one of each row, but has 3 of f32");
  EXPECT_EQ(refused_ctranslate2(with({2}, BinaryType::f16, "abcd")),
            "m.bin: w/weight: i8 [2, 3] must have a scale f32 of all, or, in int8, one of each row, but has 2 of f16");
  const Checkpoint zero = ctranslate2_of(with({2}, BinaryType::f32, bytes_of(std::vector<float>{4, 0})));
  EXPECT_EQ(refusal([&] { zero.scales("w/weight"); }),
            "m.bin: w/weight: every scale must be other than zero and finite, but scale 1 is 0");
  const Checkpoint nan = ctranslate2_of(with({1}, BinaryType::f32, bytes_of(std::numeric_limits<float>::quiet_NaN())));
  EXPECT_EQ(refusal([&] { nan.tensor("w/weight"); }),
            "m.bin: w/weight: every scale must be other than zero and finite, but scale 0 is nan");
}

TEST(Ctranslate2Hostile, Aliases) {
  const Ctranslate2Bytes file = Ctranslate2Bytes().variable("a", {6}, BinaryType::f32, six_floats());
  EXPECT_EQ(refused_ctranslate2(Ctranslate2Bytes(file).alias("b", "c")),
            "m.bin: b is an alias of c, which is not there");
  EXPECT_EQ(refused_ctranslate2(Ctranslate2Bytes(file).alias("a", "a")), "m.bin: a is there twice");
}

TEST(Ctranslate2Vocabulary, IsALineOrAnItemAPiece) {
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "heed_ctranslate2_vocabulary";
  make_folder(folder);
  const std::vector<std::string> pieces{"<blank>", " a", "", "\xE2\x96\x81the"};
  write_file(folder / "v.txt", "<blank>\n a\n\n\xE2\x96\x81the\n");
  write_file(folder / "v.json", R"(["<blank>", " a", "", "\u2581the"])");
  write_file(folder / "bad.json", R"(["a", 1])");
  EXPECT_EQ(read_ctranslate2_vocabulary(folder / "v.txt"), pieces);
  EXPECT_EQ(read_ctranslate2_vocabulary(folder / "v.json"), pieces);
  EXPECT_EQ(refusal([&] { read_ctranslate2_vocabulary(folder / "bad.json"); }),
            (folder / "bad.json").string() + ": [1]: must be a string, but is 1");
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace heed
