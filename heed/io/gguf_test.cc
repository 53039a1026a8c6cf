#include "heed/io/gguf.h"

#include <gtest/gtest.h>

#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "heed/base/float16.h"
#include "heed/testing/file_bytes.h"
#include "heed/testing/refusal.h"

namespace heed {
namespace {

using testing::bytes_of;
using testing::GgufBytes;
using testing::refusal;
using testing::six_floats;

constexpr std::uint32_t kF32 = 0, kF16 = 1, kQ8_0 = 8, kI16 = 25, kBf16 = 30;  // ggml's numbers of types
constexpr std::uint32_t kU8 = 0, kI8 = 1, kU16 = 2, kI16Value = 3, kI32 = 5, kFloat = 6, kBool = 7, kString = 8,
                        kArray = 9, kU64 = 10, kI64 = 11, kDouble = 12;  // GGUF's numbers of kinds of values

Checkpoint gguf_of(const std::string& bytes) { return parse_gguf(std::make_shared<MappedFile>(bytes, "m.gguf")); }
Checkpoint gguf_of(const GgufBytes& gguf) { return gguf_of(gguf.bytes()); }

template <typename File>
std::string refused_gguf(const File& file) {
  return refusal([&] { gguf_of(file); });
}

template <typename T>
std::string array_of(std::uint32_t kind, const std::vector<T>& items) {
  return bytes_of(kind) + bytes_of(static_cast<std::uint64_t>(items.size())) + bytes_of(items);
}

TEST(Gguf, HasItsTensorsInHeedsShapes) {
  const Checkpoint file = gguf_of(GgufBytes()
                                      .tensor("b", kF32, {2, 3}, six_floats())
                                      .tensor("a", kI16, {1}, bytes_of(std::int16_t{-7}))
                                      .tensor("c", kF32, {}, bytes_of(8.0f)));
  EXPECT_EQ(file.format(), CheckpointFormat::gguf);
  EXPECT_EQ(file.name(), "m.gguf");
  ASSERT_EQ(file.tensors().size(), 3u);
  const Tensor b = file.tensor("b");
  EXPECT_EQ(describe(b.view()), "f32 [2, 3]");
  EXPECT_EQ(b.at<float>({1, 0}), 4);
  EXPECT_EQ(file.tensor("a").at<std::int32_t>({0}), -7);
  EXPECT_EQ(file.tensor("c").at<float>({}), 8);
  EXPECT_TRUE(file.scales("b").is_empty());
  EXPECT_EQ(refusal([&] { file.tensor("d"); }), "m.gguf: has no tensor d");
}

TEST(Gguf, NumbersThatLieAlignedAreTheFilesOwn) {
  const auto bytes =
      std::make_shared<MappedFile>(GgufBytes()
                                       .tensor("f", kF32, {6}, six_floats())
                                       .tensor("h", kBf16, {2}, bytes_of(std::vector<BFloat16>{{0x3F80}, {0x4000}}))
                                       .bytes(),
                                   "m.gguf");
  const Checkpoint file = parse_gguf(bytes);
  for (const char* name : {"f", "h"}) {
    const char* const data = file.tensor(name).data<char>();
    EXPECT_TRUE(bytes->data() <= data && data < bytes->data() + bytes->bytes().size()) << name;
  }
  EXPECT_EQ(file.tensor("h").dtype(), DType::bf16);
}

TEST(Gguf, BlocksBecomeF32) {
  std::string blocks;
  for (int block = 0; block < 4; ++block) {
    std::vector<std::int8_t> numbers(32);
    std::iota(numbers.begin(), numbers.end(), static_cast<std::int8_t>(-16));
    blocks += bytes_of(to_float16(static_cast<float>(block + 1) / 2)) + bytes_of(numbers);
  }
  const Tensor w = gguf_of(GgufBytes().tensor("w", kQ8_0, {2, 64}, blocks)).tensor("w");
  EXPECT_EQ(describe(w.view()), "f32 [2, 64]");
  EXPECT_EQ(w.at<float>({0, 0}), -8);
  EXPECT_EQ(w.at<float>({0, 33}), -15);
  EXPECT_EQ(w.at<float>({1, 63}), 30);
}

TEST(Gguf, BlocksOfAMatrixAreTheFilesOwn) {
  const auto bytes = std::make_shared<MappedFile>(GgufBytes()
                                                      .tensor("w", kQ8_0, {3, 64}, std::string(6 * 34, 'x'))
                                                      .tensor("v", kQ8_0, {32}, std::string(34, 'x'))
                                                      .tensor("f", kF32, {2, 3}, six_floats())
                                                      .bytes(),
                                                  "m.gguf");
  const Checkpoint file = parse_gguf(bytes);
  const Tensor blocks = file.blocks("w");
  EXPECT_EQ(describe(blocks.view()), "i8 [3, 68]");
  EXPECT_EQ(blocks.data<char>(), file.tensors().at("w").bytes.data());
  EXPECT_EQ(blocks_of(file.tensors().at("w").type), BlockType::q8_0);
  std::vector<float> row(64);
  widen_blocks(BlockType::q8_0, blocks.rows(1, 2).data<unsigned char>(), 2, row.data());
  EXPECT_EQ(file.tensor("w").at<float>({1, 40}), row[40]);
  EXPECT_TRUE(file.blocks("v").is_empty());
  EXPECT_TRUE(file.blocks("f").is_empty());
}

TEST(Gguf, EveryKindOfValueIsReachedByItsKey) {
  const Checkpoint file = gguf_of(GgufBytes()
                                      .value("a.u8", kU8, bytes_of(std::uint8_t{200}))
                                      .value("a.i8", kI8, bytes_of(std::int8_t{-100}))
                                      .value("a.u16", kU16, bytes_of(std::uint16_t{60000}))
                                      .value("a.i16", kI16Value, bytes_of(std::int16_t{-30000}))
                                      .integer("a.u32", 4000000000u)
                                      .value("a.i32", kI32, bytes_of(std::int32_t{-2000000000}))
                                      .value("a.f32", kFloat, bytes_of(1e-5f))
                                      .value("a.bool", kBool, "\1")
                                      .text("a.string", "llama \xFF")
                                      .value("a.u64", kU64, bytes_of(std::uint64_t{1} << 40))
                                      .value("a.large", kU64, bytes_of(std::numeric_limits<std::uint64_t>::max()))
                                      .value("a.i64", kI64, bytes_of(std::int64_t{-1} << 40))
                                      .value("a.f64", kDouble, bytes_of(0.1)));
  const Json& values = file.metadata();
  EXPECT_EQ(values["a.u8"].integer(), 200);
  EXPECT_EQ(values["a.i8"].integer(), -100);
  EXPECT_EQ(values["a.u16"].integer(), 60000);
  EXPECT_EQ(values["a.i16"].integer(), -30000);
  EXPECT_EQ(values["a.u32"].integer(), 4000000000);
  EXPECT_EQ(values["a.i32"].integer(), -2000000000);
  EXPECT_EQ(static_cast<float>(values["a.f32"].number()), 1e-5f);
  EXPECT_TRUE(values["a.bool"].boolean());
  EXPECT_EQ(values["a.string"].string(), "llama \xFF");
  EXPECT_EQ(values["a.u64"].integer(), Index{1} << 40);
  EXPECT_EQ(values["a.large"].number(), 18446744073709551616.0);
  EXPECT_EQ(values["a.i64"].integer(), -(Index{1} << 40));
  EXPECT_EQ(values["a.f64"].number(), 0.1);
  EXPECT_EQ(refusal([&] { values["a.f32"].integer(); }).find("m.gguf: a.f32: must be an integer, but is "), 0u);
  EXPECT_EQ(refusal([&] { values["a.none"].integer(); }), "m.gguf: the key \"a.none\" is missing");
}

TEST(Gguf, ArraysOfEveryKindAreLists) {
  const std::string inner = array_of(kU8, std::vector<std::uint8_t>{1, 2});
  const Checkpoint file =
      gguf_of(GgufBytes()
                  .texts("texts", {"<s>", "", "\xE2\x96\x81the"})
                  .value("floats", kArray, array_of(kFloat, std::vector<float>{0.1f, -2}))
                  .value("doubles", kArray, array_of(kDouble, std::vector<double>{0.1}))
                  .value("integers", kArray, array_of(kI32, std::vector<std::int32_t>{3, -4}))
                  .value("shorts", kArray, array_of(kU16, std::vector<std::uint16_t>{65535}))
                  .value("long", kArray, array_of(kU64, std::vector<std::uint64_t>{5, ~std::uint64_t{0}}))
                  .value("booleans", kArray, array_of(kBool, std::vector<std::uint8_t>{1, 0}))
                  .value("empty", kArray, array_of(kI64, std::vector<std::int64_t>{}))
                  .value("nested", kArray, bytes_of(kArray) + bytes_of(std::uint64_t{2}) + inner + inner));
  const Json& values = file.metadata();
  EXPECT_EQ(values["texts"].string_list(), (std::vector<std::string>{"<s>", "", "\xE2\x96\x81the"}));
  EXPECT_EQ(values["floats"].float_list(), (std::vector<float>{0.1f, -2}));
  EXPECT_EQ(values["doubles"].number_list(), (std::vector<double>{0.1}));
  EXPECT_EQ(values["integers"].integer_list(), (std::vector<Index>{3, -4}));
  EXPECT_EQ(values["shorts"].integer_list(), (std::vector<Index>{65535}));
  EXPECT_EQ(values["long"][0].integer(), 5);
  EXPECT_EQ(values["long"][1].number(), 18446744073709551616.0);
  EXPECT_TRUE(values["booleans"][0].boolean());
  EXPECT_FALSE(values["booleans"][1].boolean());
  EXPECT_EQ(values["empty"].size(), 0);
  EXPECT_EQ(values["nested"][1].integer_list(), (std::vector<Index>{1, 2}));
  EXPECT_EQ(refusal([&] { values["texts"][1].integer(); }), "m.gguf: texts[1]: must be an integer, but is \"\"");
}

TEST(Gguf, AVocabularyOfManyPiecesIsRead) {
  std::vector<std::string> pieces;
  for (int i = 0; i < 150000; ++i) pieces.push_back("piece " + std::to_string(i));
  EXPECT_EQ(gguf_of(GgufBytes().texts("tokens", pieces)).metadata()["tokens"].string_list(), pieces);
}

TEST(Gguf, TheAlignmentIsTheFilesOwn) {
  const GgufBytes file = GgufBytes()
                             .integer("general.alignment", 64)
                             .tensor("a", kF32, {1}, bytes_of(1.0f))
                             .tensor("b", kF32, {1}, bytes_of(2.0f));
  EXPECT_EQ(gguf_of(file.bytes(64)).tensor("b").at<float>({0}), 2);
  EXPECT_EQ(refused_gguf(file.bytes(32)),
            "m.gguf: b: its offset must be a multiple of 64, the file's alignment, but is 32");
  EXPECT_EQ(refused_gguf(GgufBytes().integer("general.alignment", 24)),
            "m.gguf: general.alignment: must be a power of two, but is 24");
  EXPECT_EQ(refused_gguf(GgufBytes().integer("general.alignment", 0)),
            "m.gguf: general.alignment: must be an integer from 1 to 1048576, but is 0");
  EXPECT_EQ(refused_gguf(GgufBytes().text("general.alignment", "32")),
            "m.gguf: general.alignment: must be an integer from 1 to 1048576, but is \"32\"");
}

TEST(Gguf, VersionTwoIsTheSame) {
  EXPECT_EQ(gguf_of(GgufBytes(2).tensor("w", kF32, {2, 3}, six_floats())).tensor("w").at<float>({1, 2}), 6);
  EXPECT_EQ(refused_gguf(GgufBytes(1)), "m.gguf: the GGUF version must be 2 or 3, but is 1");
  EXPECT_EQ(refused_gguf(GgufBytes(4)), "m.gguf: the GGUF version must be 2 or 3, but is 4");
  EXPECT_EQ(refused_gguf(GgufBytes(3u << 24)), "m.gguf: is big endian; only little-endian files are read");
  EXPECT_EQ(refused_gguf(std::string("GGML")), "m.gguf: not a GGUF file");
}

TEST(GgufHostile, EveryPrefixIsAnError) {
  const std::string bytes = GgufBytes()
                                .text("general.architecture", "llama")
                                .texts("tokens", {"a", "b"})
                                .value("nested", kArray, bytes_of(kArray) + bytes_of(std::uint64_t{0}))
                                .tensor("w", kF32, {2, 3}, six_floats())
                                .tensor("v", kF16, {3}, bytes_of(std::vector<Float16>(3)))
                                .bytes();
  EXPECT_NO_THROW(gguf_of(bytes));
  for (std::size_t size = 0; size < bytes.size(); ++size) EXPECT_THROW(gguf_of(bytes.substr(0, size)), Error) << size;
}

// One flipped bit of all but the numbers: an error or another valid file, never a crash (run under the sanitisers).
TEST(GgufHostile, CorruptHeadsAreErrorsOrValid) {
  const std::string bytes = GgufBytes()
                                .integer("general.alignment", 32)
                                .texts("tokens", {"a", "b"})
                                .value("f", kArray, array_of(kFloat, std::vector<float>{1, 2}))
                                .tensor("w", kQ8_0, {1, 32}, std::string(34, '\1'))
                                .bytes();
  int valid = 0;
  for (std::size_t at = 0; at < bytes.size() - 34; ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string corrupt = bytes;
      corrupt[at] = static_cast<char>(corrupt[at] ^ (1 << bit));
      try {
        const Checkpoint file = gguf_of(corrupt);
        for (const auto& item : file.tensors()) file.tensor(item.first);
        ++valid;
      } catch (const Error&) {
      }
    }
  }
  EXPECT_GT(valid, 0);
}

TEST(GgufHostile, CountsThatNoFileHolds) {
  const std::string head = "GGUF" + bytes_of(std::uint32_t{3});
  EXPECT_EQ(refused_gguf(head + bytes_of(std::uint64_t{1} << 60) + bytes_of(std::uint64_t{0})),
            "m.gguf: cut short: 1152921504606846976 tensors are said to be at byte 16, of 24 bytes or more each, but 8 "
            "are left");
  EXPECT_EQ(refused_gguf(head + bytes_of(std::uint64_t{0}) + bytes_of(~std::uint64_t{0})),
            "m.gguf: cut short: 18446744073709551615 keys of metadata are said to be at byte 24, of 13 bytes or more "
            "each, but 0 are left");
  EXPECT_EQ(
      refused_gguf(GgufBytes().value("k", kArray, bytes_of(kString) + bytes_of(std::uint64_t{1} << 61))),
      "m.gguf: cut short: 2305843009213693952 values of k are said to be at byte 49, of 8 bytes or more each, but "
      "15 are left");
  EXPECT_EQ(refused_gguf(GgufBytes().value("k", kString, bytes_of(std::uint64_t{1} << 62))),
            "m.gguf: cut short: a string of metadata at byte 45 takes 4611686018427387904 bytes, but 19 are left");
  EXPECT_EQ(
      refused_gguf(head + bytes_of(std::uint64_t{300000}) + bytes_of(std::uint64_t{0}) + std::string(7200000, '\0')),
      "m.gguf: 300000 tensors, more than 262144");
  EXPECT_EQ(refused_gguf(GgufBytes().value("k", kArray, array_of(kU8, std::vector<std::uint8_t>(5000000))))
                .find("m.gguf: k: more than 4194304 values of metadata"),
            0u);
  EXPECT_EQ(refused_gguf(GgufBytes().value("k", kArray, array_of(kBool, std::vector<std::uint8_t>(70000))))
                .find("m.gguf: k: more than 65536 booleans"),
            0u);
}

TEST(GgufHostile, ArraysNestedTooDeep) {
  std::string nested;
  for (int i = 0; i < 100000; ++i) nested += bytes_of(kArray) + bytes_of(std::uint64_t{1});
  EXPECT_EQ(refused_gguf(GgufBytes().value("k", kArray, nested)),
            "m.gguf: k: arrays are nested more than 8 deep at byte 133");
}

TEST(GgufHostile, KeysAndValuesThatAreNone) {
  EXPECT_EQ(refused_gguf(GgufBytes().integer("k", 1).text("k", "")), "m.gguf: the key k is there twice");
  EXPECT_EQ(refused_gguf(GgufBytes().integer("", 1)), "m.gguf: a key must be of 1 to 65535 bytes, but has 0");
  EXPECT_EQ(refused_gguf(GgufBytes().value("k", 13, "")), "m.gguf: k: 13 is no kind of value, at byte 37");
  EXPECT_EQ(refused_gguf(GgufBytes().value("k", kBool, "\2")),
            "m.gguf: k: a boolean must be 0 or 1, but is 2, at byte 38");
}

TEST(GgufHostile, TensorsThatAreNone) {
  const std::string number = bytes_of(1.0f);
  EXPECT_EQ(refused_gguf(GgufBytes().tensor("w", kF32, {1}, number).tensor("w", kF32, {1}, number)),
            "m.gguf: w: the tensor is there twice");
  EXPECT_EQ(refused_gguf(GgufBytes().tensor("", kF32, {1}, number)), "m.gguf: a tensor has no name");
  EXPECT_EQ(refused_gguf(GgufBytes().tensor("w", kF32, {1, 1, 1, 1, 1}, number)),
            "m.gguf: w: the rank must be at most 4, but is 5");
  EXPECT_EQ(refused_gguf(GgufBytes().tensor("w", kF32, {-1}, number)),
            "m.gguf: w: extents must not be negative, but the shape is [-1]");
  EXPECT_EQ(refused_gguf(GgufBytes().tensor("w", kF32, {Index{1} << 40, Index{1} << 40}, number)),
            "m.gguf: w: the shape [1099511627776, 1099511627776] is too large");
  EXPECT_EQ(refused_gguf(GgufBytes().tensor("w", 16, {256}, number)),
            "m.gguf: w: the type must be one of F32, F16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q2_K, Q3_K, Q4_K, Q5_K, Q6_K, "
            "IQ4_NL, IQ4_XS, I8, I16, I32, I64, F64, BF16, but is IQ2_XXS");
  EXPECT_EQ(refused_gguf(GgufBytes().tensor("w", 99, {256}, number)).substr(0, 40),
            "m.gguf: w: the type must be one of F32, ");
  EXPECT_EQ(refused_gguf(GgufBytes().tensor("w", kQ8_0, {2, 48}, std::string(102, ' '))),
            "m.gguf: w: a row of Q8_0 must be of whole blocks of 32 numbers, but has 48");
}

TEST(GgufHostile, PlacesOfTensors) {
  const auto at = [](std::uint64_t offset) {
    return refused_gguf(GgufBytes().tensor("a", kF32, {16}, std::string(64, '\0')).tensor_at(offset, "b", kF32, {8}));
  };
  EXPECT_EQ(at(32), "m.gguf: b: its bytes from 32 overlap those of another tensor, which end at 64");
  EXPECT_EQ(at(0), "m.gguf: b: its bytes from 0 overlap those of another tensor, which end at 64");
  EXPECT_EQ(at(8), "m.gguf: b: its offset must be a multiple of 32, the file's alignment, but is 8");
  EXPECT_EQ(at(64), "m.gguf: b: cut short: its 32 bytes from 64 do not lie in the file's 64 bytes of data");
  EXPECT_EQ(at(~std::uint64_t{31}),
            "m.gguf: b: cut short: its 32 bytes from 18446744073709551584 do not lie in the file's 64 bytes of data");
}

TEST(GgufHostile, NamesCannotSteerTheTerminal) {
  const std::string name = "\x1B[2J\n" + std::string(1000, 'x');
  for (const std::string& error :
       {refused_gguf(GgufBytes().tensor(name, 99, {1}, "")), refused_gguf(GgufBytes().value(name, 99, ""))}) {
    EXPECT_LT(error.size(), 250u);
    EXPECT_EQ(error.find_first_of("\x1B\n"), std::string::npos) << error;
  }
}

}  // namespace
}  // namespace heed
