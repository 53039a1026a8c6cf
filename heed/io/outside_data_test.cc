// The readers against files that others wrote: the ONNX conformance cases (numpy's files) and every JSON beside them.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/io/json.h"
#include "heed/io/npy.h"
#include "heed/testing/data_folder.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

std::string onnx_name(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return "float32";
    case DType::f64:
      return "float64";
    case DType::f16:
      return "float16";
    case DType::i32:
      return "int32";
    case DType::i64:
      return "int64";
    case DType::boolean:
      return "bool";
    case DType::bf16:
      return "bfloat16";
    case DType::i8:
      return "int8";
  }
  return "";
}

TEST(OutsideData, EveryArrayOfTheOnnxCasesIsWhatItsCaseSays) {
  int read = 0;
  for (const auto& entry : fs::recursive_directory_iterator(testing::tree_data("onnx"))) {
    if (entry.path().filename() != "case.json") continue;
    const Json json = read_json(entry.path());
    for (const char* side : {"inputs", "outputs"}) {
      for (const Json& value : json[side].items()) {
        if (value.is_null()) continue;
        const fs::path file = entry.path().parent_path() / value["file"].string();
        const NpyArray array = read_npy_array(file);
        EXPECT_EQ(onnx_name(array.elements.dtype()), value["dtype"].string()) << file;
        EXPECT_EQ(array.shape, value["shape"].integer_list(0)) << file;
        ++read;
      }
    }
  }
  EXPECT_GE(read, 600);
}

TEST(OutsideData, ArraysAreWrittenByteForByteAsNumpyDoes) {
  const fs::path copy = fs::path(::testing::TempDir()) / "heed_outside_copy.npy";
  int compared = 0;
  for (const auto& entry : fs::recursive_directory_iterator(testing::tree_data("onnx/attention"))) {
    if (entry.path().extension() != ".npy") continue;
    const std::string bytes = read_file(entry.path());
    if (bytes.find("'fortran_order': True") < 128) continue;
    write_npy(copy, parse_npy(bytes, entry.path().string()));
    EXPECT_EQ(read_file(copy), bytes) << entry.path();
    ++compared;
  }
  EXPECT_GE(compared, 100);
  fs::remove(copy);
}

void expect_every_json_to_survive(const fs::path& folder) {
  int read = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".json") continue;
    const Json json = read_json(entry.path());
    EXPECT_EQ(Json::parse(json.dump(2)), json) << entry.path();
    ++read;
  }
  EXPECT_GE(read, 100);
}

TEST(OutsideData, EveryJsonOfTheTreeIsTheSameAfterDumpAndParse) {
  expect_every_json_to_survive(testing::tree_data(""));
}

TEST(OutsideData, EveryJsonIsTheSameAfterDumpAndParse) {
  HEED_DATA_OR_SKIP(folder, "");
  expect_every_json_to_survive(folder);
}

}  // namespace
}  // namespace heed
