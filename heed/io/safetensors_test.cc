#include "heed/io/safetensors.h"

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <limits>
#include <thread>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/file_writer.h"
#include "heed/testing/refusal.h"
#include "heed/testing/scratch_test.h"

namespace heed {
namespace {

using testing::refusal;
using namespace std::string_literals;

// A file of this header and data, whatever they say.
std::string file_of(const std::string& header, const std::string& data) {
  const std::uint64_t length = header.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes + header + data;
}

// The error of a file whose data is 8 bytes, or `data`.
std::string hostile(const std::string& header, const std::string& data = std::string(8, '\0')) {
  return refusal([&] { parse_safetensors(file_of(header, data), "m.st"); });
}

bool same_bytes(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && same_shape(a.view(), b.view()) &&
         std::memcmp(a.data<char>(), b.data<char>(), static_cast<std::size_t>(a.size() * size_of(a.dtype()))) == 0;
}

class SafetensorsOnDisk : public testing::ScratchTest {};

TEST_F(SafetensorsOnDisk, EveryTypeAndRankRoundTripsBitForBit) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor flags = Tensor::zeros(DType::boolean, {3});
  fill(slice(flags.view(), 0, 1, 2), 1);
  const std::map<std::string, Tensor> tensors = {
      {"scalar", Tensor::from(std::vector<float>{2.5f}, {})},
      {"a.weight", Tensor::from(std::vector<float>{1, -0.0f, nan, 1e-45f, 3e38f, 6}, {2, 3})},
      {"doubles", Tensor::from(std::vector<double>{0.1, -1e300}, {1, 2, 1})},
      {"half", Tensor::from(std::vector<float>{1, 2, 3, 4}, {1, 2, 2, 1}).to(DType::f16)},
      {"brain", Tensor::from(std::vector<float>{1, 2, 3}, {3}).to(DType::bf16)},
      {"ints", Tensor::from(std::vector<std::int32_t>{-1, 1 << 30}, {2})},
      {"longs", Tensor::from(std::vector<std::int64_t>{(std::int64_t{1} << 53) + 1}, {1})},
      {"flags", flags},
      {"nothing", Tensor::zeros(DType::f32, {0, 4})},
  };
  const std::map<std::string, std::string> metadata = {{"format", "heed"}, {"note", "gr\xC3\xBC\xC3\x9F \"\n"}};
  write_safetensors(folder_ / "m", {tensors.begin(), tensors.end()}, metadata);

  std::map<std::string, std::string> read_metadata;
  const std::map<std::string, Tensor> back = read_safetensors(folder_ / "m", &read_metadata);
  EXPECT_EQ(read_metadata, metadata);
  ASSERT_EQ(back.size(), tensors.size());
  for (const auto& [name, tensor] : tensors) {
    ASSERT_TRUE(back.contains(name)) << name;
    EXPECT_TRUE(same_bytes(tensor, back.at(name))) << name;
  }
}

TEST_F(SafetensorsOnDisk, TheBytesAreThoseOfTheFormat) {
  const Tensor x = Tensor::from(std::vector<float>{1, 2}, {2});
  write_safetensors(folder_ / "m", {{"b", x}, {"a", x}}, {{"k", "v"}});
  std::string header = R"({"__metadata__":{"k":"v"},"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                       R"("b":{"dtype":"F32","shape":[2],"data_offsets":[8,16]}})";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  const std::string data("\0\0\x80\x3f\0\0\0\x40\0\0\x80\x3f\0\0\0\x40", 16);
  EXPECT_EQ(read_file(folder_ / "m"), file_of(header, data));
}

TEST_F(SafetensorsOnDisk, EveryTensorIsAlignedInTheFile) {
  const Tensor byte = Tensor::zeros(DType::boolean, {1}), wide = Tensor::zeros(DType::i64, {1}),
               word = Tensor::zeros(DType::f32, {3});
  write_safetensors(folder_ / "m", {{"a", byte}, {"b", word}, {"c", wide}});
  const std::string bytes = read_file(folder_ / "m");
  EXPECT_NE(bytes.find(R"("c":{"dtype":"I64","shape":[1],"data_offsets":[0,8]})"), std::string::npos) << bytes;
  EXPECT_NE(bytes.find(R"("b":{"dtype":"F32","shape":[3],"data_offsets":[8,20]})"), std::string::npos) << bytes;
  EXPECT_NE(bytes.find(R"("a":{"dtype":"BOOL","shape":[1],"data_offsets":[20,21]})"), std::string::npos) << bytes;
  EXPECT_EQ((bytes.size() - 21) % 8, 0u);
}

TEST_F(SafetensorsOnDisk, StridedViewsAreWrittenInRowMajorOrder) {
  const Tensor x = Tensor::from(std::vector<float>{1, 2, 3, 4, 5, 6}, {2, 3});
  write_safetensors(folder_ / "m", {{"t", transpose(x.view(), 0, 1)}});
  const Tensor t = read_safetensors(folder_ / "m").at("t");
  for (Index i = 0; i < 3; ++i)
    for (Index j = 0; j < 2; ++j) EXPECT_EQ(t.at<float>({i, j}), x.at<float>({j, i}));
}

TEST_F(SafetensorsOnDisk, AFailedWriteLeavesTheOldFile) {
  const Tensor x = Tensor::zeros(DType::f32, {2});
  write_safetensors(folder_ / "m", {{"x", x}});
  const std::string before = read_file(folder_ / "m");
  EXPECT_NE(refusal([&] {
              write_safetensors(folder_ / "m", {{"x", ConstView()}});
            }).find("m: x: the view is empty"),
            std::string::npos);
  EXPECT_THROW(write_safetensors(folder_ / "m", {{"__metadata__", x}}), Error);
  EXPECT_THROW(write_safetensors(folder_ / "m", {{"\xFF", x}}), Error);
  EXPECT_THROW(write_safetensors(folder_ / "m", {{"x", x}}, {{"k", "\xFF"}}), Error);
  EXPECT_EQ(read_file(folder_ / "m"), before);
}

TEST_F(SafetensorsOnDisk, TheFileIsNamed) {
  write_file(folder_ / "bad.safetensors", "short");
  EXPECT_NE(
      refusal([&] { read_safetensors(folder_ / "bad.safetensors"); }).find("bad.safetensors: not a safetensors file"),
      std::string::npos);
  EXPECT_THROW(read_safetensors(folder_ / "absent"), Error);
}

TEST_F(SafetensorsOnDisk, SaysWhatTheTensorsAre) {
  write_safetensors(folder_ / "m", {{"w", Tensor::zeros(DType::f16, {2, 3})}, {"s", Tensor::zeros(DType::i64, {})}},
                    {{"k", "v"}});
  const Checkpoint file = open_safetensors(folder_ / "m");
  EXPECT_EQ(file.format(), CheckpointFormat::safetensors);
  EXPECT_EQ(file.name(), (folder_ / "m").string());
  ASSERT_EQ(file.tensors().size(), 2u);
  const StoredTensor &w = file.tensors().at("w"), &s = file.tensors().at("s");
  EXPECT_EQ(w.dtype(), DType::f16);
  EXPECT_EQ(w.rank, 2);
  EXPECT_EQ(w.shape, (Shape{2, 3, 1, 1}));
  EXPECT_EQ(w.size(), 6);
  EXPECT_EQ(s.dtype(), DType::i64);
  EXPECT_EQ(s.rank, 0);
  EXPECT_EQ(s.size(), 1);
  EXPECT_EQ(texts_of(file.metadata()), (std::map<std::string, std::string>{{"k", "v"}}));
  EXPECT_EQ(refusal([&] { file.metadata()["j"].string(); }), (folder_ / "m").string() + ": the key \"j\" is missing");
  EXPECT_EQ(refusal([&] { file.metadata()["k"].integer(); }),
            (folder_ / "m").string() + ": k: must be an integer, but is \"v\"");
}

TEST_F(SafetensorsOnDisk, IsOpenedWithoutReadingTheTensors) {
  // A file of 256 GiB, which takes no room on the disk.
  const Index elements = Index{1} << 36;
  std::string header =
      fmt::format(R"({{"w":{{"dtype":"F32","shape":[{}],"data_offsets":[0,{}]}}}})", elements, 4 * elements);
  header.resize((header.size() + 7) / 8 * 8, ' ');  // numbers that lie aligned are not copied
  write_file(folder_ / "m", file_of(header, ""));
  std::error_code error;
  std::filesystem::resize_file(folder_ / "m", 8 + header.size() + 4 * static_cast<std::uintmax_t>(elements), error);
  if (error) GTEST_SKIP() << "the file system has no files of 256 GiB: " << error.message();
  const Checkpoint file = open_safetensors(folder_ / "m");
  EXPECT_EQ(file.tensors().at("w").size(), elements);
  EXPECT_EQ(file.tensor("w").at<float>({elements - 1}), 0);
}

TEST_F(SafetensorsOnDisk, APipeIsReadAsAFileIs) {
  const Tensor x = Tensor::from(std::vector<float>{1, 2, 3}, {3});
  write_safetensors(folder_ / "m", {{"x", x}});
  const std::string bytes = read_file(folder_ / "m");
  const std::filesystem::path pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const auto through_pipe = [&](const auto& read) {
    std::thread writer([&] {
      FileWriter out(pipe);
      out.write(bytes);
      out.commit();
    });
    const auto result = read(pipe);
    writer.join();
    return result;
  };
  EXPECT_EQ(through_pipe([](const auto& path) { return read_safetensors(path); }).at("x").template at<float>({2}), 3);
  EXPECT_EQ(through_pipe(open_safetensors).tensors().at("x").size(), 3);
}

TEST_F(SafetensorsOnDisk, AHeaderThatNobodyWouldReadIsNotWritten) {
  const Tensor x = Tensor::from(std::vector<float>{1}, {1});
  const std::string error = refusal([&] { write_safetensors(folder_ / "m", {{std::string(1 << 25, 'x'), x}}); });
  EXPECT_NE(error.find("m: the header would be of 335"), std::string::npos) << error;
  EXPECT_FALSE(std::filesystem::exists(folder_ / "m"));
}

TEST_F(SafetensorsOnDisk, EveryPrefixIsAnError) {
  const Tensor x = Tensor::from(std::vector<float>{1, 2, 3}, {3});
  write_safetensors(folder_ / "m", {{"x", x}, {"y", x}});
  const std::string bytes = read_file(folder_ / "m");
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THROW(parse_safetensors(std::string_view(bytes).substr(0, size), "m"), Error) << size;
  }
  for (std::size_t size = bytes.size(); size-- > 0;) {
    std::filesystem::resize_file(folder_ / "m", size);
    EXPECT_THROW(read_safetensors(folder_ / "m"), Error) << size;
  }
}

// One flipped byte of the header: an error or another valid file, never a crash (run under the sanitisers).
TEST_F(SafetensorsOnDisk, CorruptHeadersAreErrorsOrValid) {
  const Tensor x = Tensor::from(std::vector<float>{1, 2, 3}, {3});
  write_safetensors(folder_ / "m", {{"x", x}, {"y", x}}, {{"k", "v"}});
  const std::string bytes = read_file(folder_ / "m");
  for (std::size_t at = 0; at < bytes.size() - 24; ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string corrupt = bytes;
      corrupt[at] = static_cast<char>(corrupt[at] ^ (1 << bit));
      try {
        parse_safetensors(corrupt, "m");
      } catch (const Error&) {
      }
    }
  }
}

TEST(Safetensors, AcceptsAnEmptySetAndPadding) {
  EXPECT_TRUE(parse_safetensors(file_of("{}", ""), "m").empty());
  EXPECT_EQ(parse_safetensors(
                file_of(R"({"a":{"shape":[],"dtype":"I64","data_offsets":[0,8]}}   )", std::string(8, '\0')), "m")
                .at("a")
                .rank(),
            0);
}

TEST(Safetensors, IntegersThatHeedHasNotAreWidened) {
  const auto one = [](const char* dtype, const std::string& data) {
    return parse_safetensors(file_of(fmt::format(R"({{"w":{{"dtype":"{}","shape":[1,1],"data_offsets":[0,{}]}}}})",
                                                 dtype, data.size()),
                                     data),
                             "m")
        .at("w");
  };
  EXPECT_EQ(one("U8", "\xFE").at<std::int32_t>({0, 0}), 254);
  EXPECT_EQ(one("I16", "\xFE\xFF").at<std::int32_t>({0, 0}), -2);
  EXPECT_EQ(one("U16", "\xFE\xFF").at<std::int32_t>({0, 0}), 65534);
  EXPECT_EQ(one("U32", "\xFE\xFF\xFF\xFF").at<std::int64_t>({0, 0}), 4294967294);
}

TEST(SafetensorsHostile, HeaderLengths) {
  std::string bytes = file_of("{}", "");
  bytes[0] = 3;
  EXPECT_EQ(refusal([&] { parse_safetensors(bytes, "m.st"); }), "m.st: cut short: a header of 3 bytes in a file of 10");
  bytes.replace(0, 8, "\1\0\0\2\0\0\0\0"s);  // one over the limit; then the limit
  EXPECT_EQ(
      refusal([&] { parse_safetensors(bytes, "m.st"); }),
      "m.st: a header of 33554433 bytes, over the limit of 33554432: too many tensors, or not a safetensors file");
  bytes[0] = 0;
  EXPECT_EQ(refusal([&] { parse_safetensors(bytes, "m.st"); }),
            "m.st: cut short: a header of 33554432 bytes in a file of 10");
  bytes.replace(0, 8, std::string(8, '\xFF'));
  EXPECT_EQ(refusal([&] { parse_safetensors(bytes, "m.st"); }),
            "m.st: a header of 18446744073709551615 bytes, over the limit of 33554432: too many tensors, or not a "
            "safetensors file");
  EXPECT_EQ(refusal([&] { parse_safetensors("", "m.st"); }), "m.st: not a safetensors file: 0 bytes");
}

TEST(SafetensorsHostile, HeadersThatAreNotAnObject) {
  EXPECT_EQ(hostile("[1, 2]"), "m.st: not a safetensors file: the header is not a JSON object");
  EXPECT_EQ(hostile(" {}"), "m.st: not a safetensors file: the header is not a JSON object");
  EXPECT_EQ(hostile(""), "m.st: not a safetensors file: the header is not a JSON object");
  EXPECT_EQ(hostile("{\"a\"").substr(0, 23), "m.st: header:1: byte 5:");
  EXPECT_EQ(hostile("{\"a\": \"\xFF\"}"), "m.st: header:1: byte 8: not valid UTF-8");
  EXPECT_EQ(hostile("{\"a\":" + std::string(100000, '[')),
            "m.st: header: arrays and objects are nested more than 200 deep");
  EXPECT_EQ(hostile(R"({"a": 1})"), "m.st: header: a: must be an object, but is 1");
}

TEST(SafetensorsHostile, NamesThatAppearTwice) {
  const std::string entry = R"({"dtype":"F32","shape":[1],"data_offsets":[0,4]})";
  EXPECT_EQ(hostile(R"({"w":)" + entry + R"(,"w":)" + entry + "}"),
            "m.st: header: the key \"w\" appears twice in one object");
  EXPECT_EQ(hostile(R"({"w":{"dtype":"F32","dtype":"F64","shape":[2],"data_offsets":[0,8]}})"),
            "m.st: header: the key \"dtype\" appears twice in one object");
}

TEST(SafetensorsHostile, EntriesWithMissingOrUnknownKeys) {
  EXPECT_EQ(hostile(R"({"w":{"shape":[2],"data_offsets":[0,8]}})"), "m.st: header: w: the key \"dtype\" is missing");
  EXPECT_EQ(hostile(R"({"w":{"dtype":"F32","data_offsets":[0,8]}})"), "m.st: header: w: the key \"shape\" is missing");
  EXPECT_EQ(hostile(R"({"w":{"dtype":"F32","shape":[2]}})"), "m.st: header: w: the key \"data_offsets\" is missing");
  EXPECT_EQ(hostile(R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8],"x":1}})"),
            "m.st: header: w: unknown key \"x\"; the keys are: dtype, shape, data_offsets");
  EXPECT_EQ(hostile(R"({"__metadata__":{"step":3}})"), "m.st: header: __metadata__.step: must be a string, but is 3");
}

TEST(SafetensorsHostile, DTypesThatHeedHasNot) {
  EXPECT_EQ(hostile(R"({"w":{"dtype":"F8_E5M2","shape":[8],"data_offsets":[0,8]}})"),
            "m.st: header: w.dtype: must be one of F32, F64, F16, BF16, I8, I32, I64, BOOL, U8, I16, U16, U32, but is "
            "\"F8_E5M2\"");
  EXPECT_EQ(hostile(R"({"w":{"dtype":7,"shape":[8],"data_offsets":[0,8]}})"),
            "m.st: header: w.dtype: must be a string, but is 7");
}

TEST(SafetensorsHostile, Shapes) {
  const auto shape = [](const std::string& text) {
    return hostile(R"({"w":{"dtype":"F32","data_offsets":[0,8],"shape":)" + text + "}}");
  };
  EXPECT_EQ(shape("[3]"), "m.st: w: F32 [3] takes 12 bytes, but data_offsets [0, 8] hold 8");
  EXPECT_EQ(shape("[-2]"), "m.st: header: w.shape[0]: must be an integer of at least 0, but is -2");
  EXPECT_EQ(shape("[2.0]"), "m.st: header: w.shape[0]: must be an integer of at least 0, but is 2");
  EXPECT_EQ(shape("[\"2\"]"), "m.st: header: w.shape[0]: must be an integer of at least 0, but is \"2\"");
  EXPECT_EQ(shape("[99999999999999999999]"),
            "m.st: header: w.shape[0]: must be an integer of at least 0, but is 1e+20");
  EXPECT_EQ(shape("2"), "m.st: header: w.shape: must be an array of integers, but is 2");
  EXPECT_EQ(shape("[1,1,1,1,2]"), "m.st: w: the rank must be at most 4, but is 5");
  EXPECT_EQ(shape("[4294967296,4294967296]"), "m.st: w: the shape [4294967296, 4294967296] is too large");
  EXPECT_EQ(shape("[9223372036854775807]"), "m.st: w: the shape [9223372036854775807] is too large");
  // 2^32 * 2^31 * 2 * 4 bytes is 2^66, which wraps to 0.
  EXPECT_EQ(shape("[4294967296,2147483648,2,4]").find("m.st: w: the shape"), 0u);
  EXPECT_EQ(shape("[0,9223372036854775807,9223372036854775807]").find("m.st: w: the shape"), 0u);
}

TEST(SafetensorsHostile, Offsets) {
  const auto offsets = [](const std::string& text) {
    return hostile(R"({"w":{"dtype":"F32","shape":[2],"data_offsets":)" + text + "}}");
  };
  EXPECT_EQ(offsets("[8,16]"), "m.st: w: data_offsets [8, 16] lie outside the file's 8 bytes of data");
  EXPECT_EQ(offsets("[8,0]"), "m.st: w: data_offsets [8, 0] lie outside the file's 8 bytes of data");
  EXPECT_EQ(offsets("[-8,0]"), "m.st: header: w.data_offsets[0]: must be an integer of at least 0, but is -8");
  EXPECT_EQ(offsets("[0.5,8]"), "m.st: header: w.data_offsets[0]: must be an integer of at least 0, but is 0.5");
  EXPECT_EQ(offsets("[0,8,8]"), "m.st: w: data_offsets must be [begin, end], but has 3 items");
  EXPECT_EQ(offsets("[0,4]"), "m.st: w: F32 [2] takes 8 bytes, but data_offsets [0, 4] hold 4");
  EXPECT_EQ(offsets("[0,9223372036854775807]"),
            "m.st: w: data_offsets [0, 9223372036854775807] lie outside the file's 8 bytes of data");
}

TEST(SafetensorsHostile, BytesOfTwoTensorsOrOfNone) {
  const auto two = [](const std::string& a, const std::string& b, std::size_t bytes) {
    return hostile(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":)" + a +
                       R"(},"b":{"dtype":"F32","shape":[1],"data_offsets":)" + b + "}}",
                   std::string(bytes, '\0'));
  };
  EXPECT_EQ(two("[0,4]", "[4,8]", 8), "no error");
  EXPECT_EQ(two("[4,8]", "[0,4]", 8), "no error");
  EXPECT_EQ(two("[0,4]", "[0,4]", 4), "m.st: b: its bytes from 0 overlap those of another tensor, which end at 4");
  EXPECT_EQ(two("[0,4]", "[2,6]", 6), "m.st: b: its bytes from 2 overlap those of another tensor, which end at 4");
  EXPECT_EQ(two("[0,4]", "[8,12]", 12), "m.st: b: the 4 bytes of data before it belong to no tensor");
  EXPECT_EQ(two("[0,4]", "[4,8]", 9), "m.st: the last 1 bytes belong to no tensor");
  EXPECT_EQ(hostile("{}"), "m.st: the last 8 bytes belong to no tensor");
}

TEST(SafetensorsHostile, BooleansThatAreNeitherTrueNorFalse) {
  EXPECT_EQ(hostile(R"({"w":{"dtype":"BOOL","shape":[2],"data_offsets":[0,2]}})", std::string("\x01\x02")),
            "m.st: w: a boolean must be 0 or 1, but element 1 is 2");
}

TEST(SafetensorsHostile, MoreTextsThanAnyFileHas) {
  std::string header = R"({"__metadata__":{"0":"")";
  for (int i = 1; i < 65537; ++i) header += fmt::format(R"(,"{}":"")", i);
  EXPECT_EQ(hostile(header + "}}", ""), "m.st: header: __metadata__ has more than 65536 texts");
  EXPECT_EQ(hostile(R"({"__metadata__":[]})", ""),
            "m.st: header: __metadata__: must be an object, but is an array of 0");
}

TEST(SafetensorsHostile, NamesCannotSteerTheTerminal) {
  const std::string error =
      hostile(R"({"\u001b[2J\n)" + std::string(100000, 'x') + R"(":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})");
  EXPECT_LT(error.size(), 250u);
  EXPECT_EQ(std::count_if(error.begin(), error.end(), [](char c) { return c < ' '; }), 0) << error;
}

}  // namespace
}  // namespace heed
