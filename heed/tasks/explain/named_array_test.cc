#include "heed/tasks/explain/named_array.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "heed/io/npy.h"
#include "heed/testing/refusal.h"

namespace heed {
namespace {

std::vector<double> values(const NamedArray& array) {
  const Tensor x = as_numbers(array).tensor;
  return {x.data<double>(), x.data<double>() + x.size()};
}

std::string refused_argument(const std::string& argument) {
  return testing::refusal([&] { read_array("--q", argument); });
}

// A file of this text, for as long as the object lives.
class TextFile {
 public:
  explicit TextFile(std::string_view text)
      : path_((std::filesystem::path(::testing::TempDir()) /
               (std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()) + ".txt"))
                  .string()) {
    std::ofstream(path_, std::ios::binary) << text;
  }
  ~TextFile() { std::filesystem::remove(path_); }
  TextFile(const TextFile&) = delete;
  TextFile& operator=(const TextFile&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

TEST(NamedArray, ListsAreArrays) {
  const NamedArray matrix = read_array("--q", "[[1, 0, 1], [0, 1.5, -1e-1]]");
  EXPECT_EQ(matrix.text(), "--q is f64 [2, 3]");
  EXPECT_EQ(values(matrix), (std::vector<double>{1, 0, 1, 0, 1.5, -0.1}));
  EXPECT_EQ(read_array("--q", " [1, 2, 3]").text(), "--q is f64 [1, 3]") << "a single list is a row";
  EXPECT_EQ(read_array("--q", "[[[1], [2]]]").text(), "--q is f64 [1, 2, 1]");
  EXPECT_EQ(read_array("--q", "[[[[1]]]]").text(), "--q is f64 [1, 1, 1, 1]");
  EXPECT_EQ(read_array("--mask", "[[true, false]]").text(), "--mask is boolean [1, 2]");
}

TEST(NamedArray, ListsThatAreNoArrayAreRefusedWithTheirPlace) {
  EXPECT_EQ(refused_argument("[[1, 0, 1], [0, 1]]"), "--q: row 2 has 2 numbers, but row 1 has 3");
  EXPECT_EQ(refused_argument("[[[1, 2]], [[1, 2], [3, 4]]]"), "--q: matrix 2 has 2 rows, but matrix 1 has 1");
  EXPECT_EQ(refused_argument("[[[1, 2]], [[1]]]"), "--q: matrix 2, row 1 has 1 numbers, but matrix 1, row 1 has 2");
  EXPECT_EQ(refused_argument("[[1, \"a\"]]"), "--q: row 1, number 2 must be a number, but is \"a\"");
  EXPECT_EQ(refused_argument("[[1, null]]"), "--q: row 1, number 2 must be a number, but is null");
  EXPECT_EQ(refused_argument("[[1, [2]]]"), "--q: row 1, number 2 must be a number, but is a list");
  EXPECT_EQ(refused_argument("[[1, 2], 3]"), "--q: row 2 must be a list, but is 3");
  EXPECT_EQ(refused_argument("[1, \"a\"]"), "--q: number 2 must be a number, but is \"a\"");
  EXPECT_EQ(refused_argument("[]"), "--q: has a list without numbers");
  EXPECT_EQ(refused_argument("[[]]"), "--q: has a list without numbers");
  EXPECT_EQ(refused_argument("[[1, true]]"), "--q: has both numbers and true or false");
  EXPECT_NE(refused_argument("[[[[[1]]]]]").find("at most 4 axes"), std::string::npos);
  EXPECT_TRUE(refused_argument("[[1, 2").starts_with("--q:1: byte 7:")) << refused_argument("[[1, 2");
  EXPECT_TRUE(refused_argument("[[1,, 2]]").starts_with("--q:1: byte 5:"));
}

TEST(NamedArray, AFileMayHoldRowsOfText) {
  for (const char* text : {"1 0 1\n0 1 1\n", "1,0,1\n0,1,1", "1, 0, 1\r\n0;1 ;1\n",
                           "# rows\n\n1\t0\t1 # the first\n 0 1 1 \n", "[[1, 0, 1],\n [0, 1, 1]]\n"}) {
    const TextFile file(text);
    EXPECT_EQ(values(read_array("--q", file.path())), (std::vector<double>{1, 0, 1, 0, 1, 1})) << text;
  }
  const TextFile odd("nan -inf +2.5\n");
  EXPECT_TRUE(std::isnan(values(read_array("--q", odd.path()))[0]));
  EXPECT_EQ(values(read_array("--q", odd.path()))[2], 2.5);
}

TEST(NamedArray, RowsThatDoNotFitAreRefusedWithFileAndLine) {
  const auto refusal_of = [](std::string_view text) {
    const TextFile file(text);
    return refused_argument(file.path());
  };
  const auto expect_end = [](const std::string& message, const std::string& end) {
    EXPECT_TRUE(message.starts_with("--q ") && message.ends_with(".txt: " + end)) << message;
  };
  expect_end(refusal_of("# three\n1 0 1\n\n0 1\n"), "line 4 has 2 numbers, but line 2 has 3");
  expect_end(refusal_of("1 0 1\n0 one 1\n"), "line 2: 'one' is not a number");
  expect_end(refusal_of("1 0 1e999\n"), "line 1: '1e999' is not a number");
  expect_end(refusal_of("1,,1\n"), "line 1: a number is missing before ','");
  expect_end(refusal_of("1,0,1\n,1\n"), "line 2: a number is missing before ','");
  expect_end(refusal_of("# nothing\n"), "has no numbers");
  expect_end(refusal_of(""), "has no numbers");
  EXPECT_NE(refusal_of("1 \xFF\n").find("UTF-8"), std::string::npos);
  EXPECT_NE(refused_argument("no/such/file").find("no/such/file"), std::string::npos);
}

TEST(NamedArray, NoFileTakesUnboundedMemory) {
  EXPECT_NE(refused_argument("/dev/zero").find("larger than 1048576 numbers could be"), std::string::npos);
  std::string many = "[";
  for (int i = 0; i < (1 << 20) + 1; ++i) many += "1,";
  many.back() = ']';
  EXPECT_EQ(refused_argument(many), "--q: has more than 1048576 numbers");
  EXPECT_NE(refused_argument("[" + std::string(std::size_t{1} << 23, ' ') + "1]").find("bytes"), std::string::npos);
}

TEST(NamedArray, NumpyFilesAreKnownByTheirBytes) {
  const TextFile file("");
  write_npy(file.path(), Tensor::from(std::vector<std::int64_t>{1, 2}, {1, 2}).view());
  EXPECT_EQ(values(read_array("--q", file.path())), (std::vector<double>{1, 2}));
}

}  // namespace
}  // namespace heed
