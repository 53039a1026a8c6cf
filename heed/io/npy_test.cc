#include "heed/io/npy.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <filesystem>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/testing/file_bytes.h"
#include "heed/testing/refusal.h"

namespace heed {
namespace {

using testing::bytes_of;
using testing::refusal;

std::string npy_of(const std::string& header, const std::string& data, int version = 1) {
  std::string bytes = std::string("\x93NUMPY") + static_cast<char>(version) + '\0';
  const std::uint32_t length = static_cast<std::uint32_t>(header.size());
  bytes.append(reinterpret_cast<const char*>(&length), version == 1 ? 2 : 4);
  return bytes + header + data;
}

std::string header_of(const std::string& descr, const std::string& shape, const std::string& order = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
}

std::string hostile_npy(const std::string& header, const std::string& data = std::string(8, '\0'), int version = 1) {
  return refusal([&] { parse_npy(npy_of(header, data, version), "x.npy"); });
}

TEST(Npy, ReadsTheThreeVersions) {
  for (int version : {1, 2, 3}) {
    const Tensor x = parse_npy(npy_of(header_of("<f4", "(2, 1)"), bytes_of<float>({1.5f, -2}), version), "x.npy");
    EXPECT_EQ(describe(x.view()), "f32 [2, 1]");
    EXPECT_EQ(x.at<float>({1, 0}), -2);
  }
}

TEST(Npy, ReadsEveryTypeAndRank) {
  EXPECT_EQ(parse_npy(npy_of(header_of("<f8", "()"), bytes_of<double>(0.1)), "x").at<double>({}), 0.1);
  EXPECT_EQ(parse_npy(npy_of(header_of("<i4", "(1,)"), bytes_of<std::int32_t>(-7)), "x").at<std::int32_t>({0}), -7);
  EXPECT_EQ(parse_npy(npy_of(header_of("<i8", "(1, 1, 1, 1)"), bytes_of<std::int64_t>(-7)), "x")
                .at<std::int64_t>({0, 0, 0, 0}),
            -7);
  EXPECT_EQ(to_float(parse_npy(npy_of(header_of("<f2", "(1,)"), std::string("\x00\x3e", 2)), "x").at<Float16>({0})),
            1.5f);
  EXPECT_EQ(parse_npy(npy_of(header_of("|b1", "(2,)"), std::string("\x00\x01", 2)), "x").at<bool>({1}), true);
  EXPECT_EQ(parse_npy(npy_of(header_of("<f4", "(0, 3)"), ""), "x").dim(1), 3);
}

TEST(Npy, ColumnMajorArraysBecomeRowMajor) {
  std::vector<float> stored;  // element (i, j, k) of [2, 3, 4] is 100 i + 10 j + k; the first index runs fastest
  for (int k = 0; k < 4; ++k)
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i < 2; ++i) stored.push_back(static_cast<float>(100 * i + 10 * j + k));
  const Tensor x = parse_npy(npy_of(header_of("<f4", "(2, 3, 4)", "True"), bytes_of(stored)), "x");
  EXPECT_EQ(describe(x.view()), "f32 [2, 3, 4]");
  for (Index i = 0; i < 2; ++i)
    for (Index j = 0; j < 3; ++j)
      for (Index k = 0; k < 4; ++k) EXPECT_EQ(x.at<float>({i, j, k}), static_cast<float>(100 * i + 10 * j + k));
}

TEST(Npy, ArraysOfAnyRankAreReadRowByRow) {
  // Element (i, j, 0, k, l) of [2, 3, 1, 2, 2] is 1000 i + 100 j + 10 k + l, in both orders.
  std::vector<std::int32_t> rows, columns;
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 2; ++k)
        for (int l = 0; l < 2; ++l) rows.push_back(1000 * i + 100 * j + 10 * k + l);
  for (int l = 0; l < 2; ++l)
    for (int k = 0; k < 2; ++k)
      for (int j = 0; j < 3; ++j)
        for (int i = 0; i < 2; ++i) columns.push_back(1000 * i + 100 * j + 10 * k + l);
  for (const bool fortran : {false, true}) {
    const std::string header = header_of("<i4", "(2, 3, 1, 2, 2)", fortran ? "True" : "False");
    const NpyArray x = parse_npy_array(npy_of(header, bytes_of(fortran ? columns : rows)), "x");
    EXPECT_EQ(x.shape, (std::vector<Index>{2, 3, 1, 2, 2}));
    EXPECT_EQ(std::vector(x.elements.data<std::int32_t>(), x.elements.data<std::int32_t>() + x.elements.size()), rows);
  }
  EXPECT_EQ(refusal([&] { parse_npy(npy_of(header_of("<i4", "(2, 3, 1, 2, 2)"), bytes_of(rows)), "x"); }),
            "x: the rank must be at most 4, but is 5");
  std::string ones = "(";
  for (int i = 0; i < 33; ++i) ones += "1, ";
  EXPECT_EQ(refusal([&] { parse_npy_array(npy_of(header_of("<i4", ones + ")"), std::string(4, '\0')), "x"); }),
            "x: the rank must be at most 32, but is 33");
}

TEST(Npy, ReadsTheHeaderAsPythonWould) {
  for (const char* header : {"{'shape': (2,), 'fortran_order': False, 'descr': '<f4'}",
                             "{\"descr\":\"<f4\",\"fortran_order\":False,\"shape\":(2,)}",
                             "  { 'descr' : '<f4' , 'fortran_order' : False , 'shape' : ( 2 , ) , }   \n"}) {
    EXPECT_EQ(hostile_npy(header), "no error") << header;
  }
}

TEST(Npy, WritesWhatNumpyWrites) {
  const std::filesystem::path path = std::filesystem::path(::testing::TempDir()) / "heed_npy_test.npy";
  write_npy(path, Tensor::from(std::vector<float>{1}, {1}));
  std::string expected = "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }";
  expected.resize(117, ' ');
  EXPECT_EQ(read_file(path), npy_of(expected + '\n', bytes_of<float>(1)));
  std::filesystem::remove(path);
}

TEST(Npy, RoundTripsEveryTypeRankAndStride) {
  const std::filesystem::path path = std::filesystem::path(::testing::TempDir()) / "heed_npy_round_trip.npy";
  const Tensor x = Tensor::from(std::vector<float>{1, 2, 3, 4, 5, 6}, {1, 2, 3});
  for (DType dtype : {DType::f32, DType::f64, DType::f16, DType::i32, DType::i64}) {
    const Tensor typed = x.to(dtype);
    for (const View& view : {typed.view(), transpose(typed.view(), 1, 2)}) {
      const Tensor kept = Tensor::copy_of(view);
      write_npy(path, kept);
      const Tensor back = read_npy(path);
      ASSERT_EQ(describe(back.view()), describe(kept.view()));
      EXPECT_EQ(std::memcmp(back.data<char>(), kept.data<char>(), static_cast<std::size_t>(6 * size_of(dtype))), 0);
    }
  }
  write_npy(path, transpose(x.view(), 0, 2));
  EXPECT_EQ(read_npy(path).at<float>({2, 1, 0}), 6);
  write_npy(path, Tensor::zeros(DType::f32, {}));
  EXPECT_EQ(read_npy(path).rank(), 0);
  write_npy(path, Tensor::zeros(DType::boolean, {0}));
  EXPECT_EQ(describe(read_npy(path).view()), "boolean [0]");
  EXPECT_THROW(write_npy(path, ConstView()), Error);
  EXPECT_NE(refusal([&] { write_npy(path, x.to(DType::bf16)); }).find("npy files cannot hold bf16"), std::string::npos);
  EXPECT_EQ(describe(read_npy(path).view()), "boolean [0]");  // the old file is still there
  std::filesystem::remove(path);
}

TEST(NpyHostile, NotAnArray) {
  EXPECT_EQ(refusal([] { parse_npy("", "x.npy"); }), "x.npy: not an npy file");
  EXPECT_EQ(refusal([] { parse_npy("PK\x03\x04 an npz file", "x.npy"); }), "x.npy: not an npy file");
  EXPECT_EQ(refusal([] { parse_npy(std::string("\x93NUMPY\x01\x00", 8), "x.npy"); }), "x.npy: cut short: 8 bytes");
  EXPECT_EQ(hostile_npy(header_of("<f4", "(2,)"), std::string(8, '\0'), 4),
            "x.npy: the npy version must be 1.0, 2.0 or 3.0, but is 4.0");
}

TEST(NpyHostile, EveryPrefixAndEveryExtraByteIsAnError) {
  for (int version : {1, 2}) {
    const std::string bytes = npy_of(header_of("<f4", "(2,)"), std::string(8, '\0'), version);
    EXPECT_NO_THROW(parse_npy(bytes, "x"));
    for (std::size_t size = 0; size < bytes.size(); ++size)
      EXPECT_THROW(parse_npy(bytes.substr(0, size), "x"), Error) << size;
    EXPECT_THROW(parse_npy(bytes + '\0', "x"), Error);
  }
}

TEST(NpyHostile, CorruptHeadersAreErrorsOrValid) {
  const std::string bytes = npy_of(header_of("<f4", "(2,)"), std::string(8, '\0'));
  for (std::size_t at = 0; at < bytes.size() - 8; ++at) {
    for (int value = 0; value < 256; ++value) {
      std::string corrupt = bytes;
      corrupt[at] = static_cast<char>(value);
      try {
        parse_npy(corrupt, "x");
      } catch (const Error&) {
      }
    }
  }
}

TEST(NpyHostile, HeaderLength) {
  std::string bytes = npy_of(header_of("<f4", "(2,)"), std::string(8, '\0'), 2);
  bytes.replace(8, 4, "\xFF\xFF\xFF\xFF");
  EXPECT_EQ(refusal([&] { parse_npy(bytes, "x.npy"); }), "x.npy: a header of 4294967295 bytes, more than 65536");
}

TEST(NpyHostile, Headers) {
  EXPECT_NE(hostile_npy("{'descr': '<f4', 'fortran_order': False}").find("must have descr, fortran_order and shape"),
            std::string::npos);
  EXPECT_EQ(hostile_npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'extra': 1}"),
            "x.npy: unknown key 'extra' in the header");
  EXPECT_EQ(hostile_npy("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,)}"),
            "x.npy: the key 'descr' appears twice in the header");
  for (const char* header : {"",
                             "{",
                             "{}",
                             "[]",
                             "{'descr'",
                             "{'descr: '<f4'}",
                             "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}",
                             "{'descr': '<f4', 'fortran_order': false, 'shape': (2,)}",
                             "{'descr': '<f4', 'fortran_order': 0, 'shape': (2,)}",
                             "{'descr': '<f4', 'fortran_order': False, 'shape': [2]}",
                             "{'descr': '<f4', 'fortran_order': False, 'shape': (2)}",
                             "{'descr': '<f4', 'fortran_order': False, 'shape': (2,,)}",
                             "{'descr': '<f4', 'fortran_order': False, 'shape': (,)}",
                             "{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}",
                             "{'descr': '<f4', 'fortran_order': False, 'shape': (2L,)}",
                             "{'descr': '<f4', 'fortran_order': False, 'shape': (2.0,)}",
                             "{'descr': '<f4' 'fortran_order': False, 'shape': (2,)}",
                             "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} x",
                             "{'descr': '<f4', 'fortran_order': False, 'shape': (2,",
                             "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
                             "{'descr': '\\x3cf4', 'fortran_order': False, 'shape': (2,)}",
                             "__import__('os').system('true')"}) {
    EXPECT_EQ(hostile_npy(header).find("x.npy: "), 0u) << header << ": " << hostile_npy(header);
  }
}

TEST(NpyHostile, DTypes) {
  EXPECT_EQ(hostile_npy(header_of(">f4", "(2,)")),
            "x.npy: the dtype '>f4' is big-endian; only little-endian files are read");
  for (const char* descr : {"<f1", "<c8", "|O", "|u1", "<u4", "|S4", "<U2", "f4", "=f4", "<M8[ns]", ""}) {
    EXPECT_EQ(hostile_npy(header_of(descr, "(2,)")),
              std::string("x.npy: the dtype must be one of <f4, <f8, <f2, <i4, <i8, |b1, but is '") + descr + "'");
  }
  EXPECT_EQ(hostile_npy(header_of("|b1", "(8,)"), std::string(7, '\x01') + '\x03'),
            "x.npy: a boolean must be 0 or 1, but element 7 is 3");
}

TEST(NpyHostile, Shapes) {
  EXPECT_EQ(hostile_npy(header_of("<f4", "(3,)")), "x.npy: shape [3] of '<f4' takes 12 bytes, but the file holds 8");
  EXPECT_EQ(hostile_npy(header_of("<f4", "(1,)")), "x.npy: shape [1] of '<f4' takes 4 bytes, but the file holds 8");
  EXPECT_EQ(hostile_npy(header_of("<f4", "(1, 1, 1, 1, 2)")), "x.npy: the rank must be at most 4, but is 5");
  EXPECT_EQ(hostile_npy(header_of("<f4", "(4294967296, 4294967296)")),
            "x.npy: the shape [4294967296, 4294967296] is too large");
  EXPECT_EQ(hostile_npy(header_of("<f4", "(9223372036854775807,)")),
            "x.npy: the shape [9223372036854775807] is too large");
  EXPECT_EQ(hostile_npy(header_of("<f4", "(0, 9223372036854775807, 9223372036854775807)"), "").find("x.npy: the shape"),
            0u);
}

}  // namespace
}  // namespace heed
