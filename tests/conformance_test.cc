// heed-conformance: heed passes the cases of others, and the program sees what is wrong with a case.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "command.h"
#include "heed/base/file.h"
#include "heed/base/file_writer.h"
#include "heed/io/ctranslate2.h"
#include "heed/io/json.h"
#include "heed/io/npy.h"
#include "heed/testing/data_folder.h"
#include "trained_model.h"

namespace heed {
namespace {

namespace fs = std::filesystem;
using testing::CommandResult;
using testing::kFailure;
using testing::kWrongUsage;
using testing::scratch_folder;

CommandResult run(const std::vector<std::string>& arguments) {
  return testing::run_program(HEED_CONFORMANCE, arguments);
}

// Ends with this exit code and one line on standard error that names the program and holds `part`.
void expect_refusal(const std::vector<std::string>& arguments, int exit_code, const std::string& part) {
  const CommandResult result = run(arguments);
  EXPECT_EQ(result.exit_code, exit_code);
  EXPECT_EQ(result.output, "");
  EXPECT_TRUE(result.error.starts_with("heed-conformance: ")) << result.error;
  EXPECT_NE(result.error.find(part), std::string::npos) << result.error;
  EXPECT_EQ(result.error.find('\n'), result.error.size() - 1);
}

// A case.json of the operator; arrays are added, then it is written.
class CaseWriter {
 public:
  CaseWriter(const fs::path& folder, const std::string& op, const Json& attributes = Json::object(), int opset = 23)
      : folder_(folder),
        json_(Json::object({{"name", "a_case"}, {"op", op}, {"opset", opset}, {"attributes", attributes}})) {
    make_folder(folder);
  }

  CaseWriter& add(bool input, const std::string& name, const Tensor& tensor) {
    write_npy(folder_ / (name + ".npy"), tensor);
    Json item = Json::object({{"name", name}, {"file", name + ".npy"}});
    const View& view = tensor.view();
    item.set("dtype", view.dtype == DType::f32 ? "float32" : "int64");
    item.set("shape", Json::array_of(std::span<const Index>(view.shape.data(), static_cast<std::size_t>(view.rank))));
    (input ? inputs_ : outputs_).append(item);
    return *this;
  }
  CaseWriter& input(const std::string& name, const Tensor& tensor) { return add(true, name, tensor); }
  CaseWriter& output(const std::string& name, const Tensor& tensor) { return add(false, name, tensor); }

  void write() {
    json_.set("inputs", inputs_);
    json_.set("outputs", outputs_);
    write_json(folder_ / "case.json", json_);
  }

 private:
  fs::path folder_;
  Json json_, inputs_ = Json::array(), outputs_ = Json::array();
};

Tensor floats(const std::vector<float>& values) { return Tensor::from(values, {static_cast<Index>(values.size())}); }

// log(softmax) of two equal scores, which is -log 2.
void write_log_softmax(const fs::path& folder, float expected) {
  CaseWriter(folder, "LogSoftmax").input("x", floats({3, 3})).output("y", floats({expected, -0.6931472f})).write();
}

TEST(Conformance, EveryOnnxCaseIsMatched) {
  const CommandResult result = run({testing::tree_data("onnx").string()});
  EXPECT_EQ(result.exit_code, 0) << result.output << result.error;
  const std::size_t counts = result.output.rfind('\n', result.output.size() - 2) + 1;  // npos + 1 is the start
  EXPECT_GE(std::stoi(result.output.substr(counts)), 150) << result.output;
}

TEST(Conformance, EveryTransformerLayerOfPyTorchsTestsIsMatched) {
  const CommandResult result = run({"--pytorch", testing::tree_data("pytorch/layers.json").string()});
  EXPECT_EQ(result.exit_code, 0) << result.error;
  EXPECT_EQ(result.output, "11 passed, 0 failed, 0 skipped\n");
}

TEST(Conformance, EveryTextOfOthersTokenizersIsMatched) {
  HEED_DATA_OR_SKIP(folder, "tokenizers");
  const CommandResult result = run({"--tokenizers", folder.string()});
  EXPECT_EQ(result.exit_code, 0) << result.output << result.error;
  EXPECT_GE(std::stoi(result.output), 400) << result.output;
}

// Rounded weights answer as f32 ones that were rounded by definition; what they generate is left out.
TEST(Conformance, EveryModelOfOthersIsMatched) {
  HEED_DATA_OR_SKIP(folder, "models");
  const auto output = [&](const char* kind) {
    const CommandResult result = run({kind, folder.string()});
    EXPECT_EQ(result.exit_code, 0) << result.output << result.error;
    return result.output;
  };
  EXPECT_THAT(output("--models"), ::testing::EndsWith(" passed, 0 failed, 0 skipped\n"));
  for (const char* kind : {"--models-bf16", "--models-int8"}) {
    EXPECT_THAT(output(kind),
                ::testing::MatchesRegex("(skip .*: what rounded weights generate\n)*[0-9]+ passed, 0 failed, .*\n"));
  }
}

// A model of others with other cases, and something of its config.json changed.
std::string with_cases(const fs::path& model, const Json& changes, const std::string& cases) {
  const fs::path folder = scratch_folder() / model.filename();
  fs::remove_all(folder);
  make_folder(folder);
  for (const fs::directory_entry& file : fs::directory_iterator(model)) {
    if (file.is_regular_file() && file.path().filename() != "generation_config.json") {
      fs::copy_file(file.path(), folder / file.path().filename());
    }
  }
  if (file_exists(folder / "config.json")) {
    Json config = read_json(folder / "config.json");
    for (const auto& [name, value] : changes.members()) config.set(name, value);
    fs::remove(folder / "config.json");
    write_json(folder / "config.json", config);
  }
  write_file(folder / "cases.json", R"({"tolerance": {"atol": 0, "rtol": 0}, "cases": [)" + cases + "]}");
  return run({"--models", folder.string()}).output;
}

TEST(Conformance, WhatATextIsMadeToEndWithIsItsLastToken) {
  HEED_DATA_OR_SKIP(model, "models/t5-tiny-d8");
  const auto cases = [](bool ends) {
    std::string all;
    for (const char* how : {R"("method": "greedy", "max_length": 3)", R"("method": "greedy", "max_new": 5)",
                            R"("method": "beam", "num_beams": 2, "max_length": 4)",
                            R"("method": "beam", "num_beams": 3, "max_length": 2, "early_stopping": "never")"}) {
      all += std::string(all.empty() ? "" : ", ") + R"({"name": "n", "input_ids": [135, 773, 1], "generate": {)" + how +
             R"(}, "expect": {"ends_with_eos": )" + (ends ? "true" : "false") + "}}";
    }
    return all;
  };
  EXPECT_EQ(with_cases(model, Json::object({{"forced_eos_token_id", 1}}), cases(true)),
            "5 passed, 0 failed, 0 skipped\n");
  EXPECT_EQ(with_cases(model, Json::object(), cases(false)), "5 passed, 0 failed, 0 skipped\n");
}

TEST(Conformance, AGreedyTextHasTheFewestTokensThatItMust) {
  HEED_DATA_OR_SKIP(model, "models/t5-tiny-d8");
  std::vector<Index> ends;  // all but one
  for (Index id = 0; id < 1100; ++id) ends.push_back(id == 5 ? 6 : id);
  const auto case_of = [](const char* fewest, const char* new_ids) {
    return std::string(R"({"name": "n", "input_ids": [135, 1], "generate": {"method": "greedy", "max_new": 2)") +
           fewest + R"(}, "expect": {)" + new_ids + "}}";
  };
  EXPECT_EQ(with_cases(model, Json::object({{"eos_token_id", Json::array_of(ends)}}),
                       case_of(R"(, "min_new": 2)", R"("new_ids": [5, 5], "ends_with_eos": false)") + ", " +
                           case_of("", R"("ends_with_eos": true)")),
            "3 passed, 0 failed, 0 skipped\n");
}

TEST(Conformance, ATextThatIsWrittenIsOfTheTargetsVocabulary) {
  HEED_DATA_OR_SKIP(model, "models/aren-transliteration");
  const std::vector<std::string> source = read_ctranslate2_vocabulary(model / "source_vocabulary.txt");
  std::vector<Index> ids;
  for (const char* piece : {"آ", "ت", "ز", "م", "و", "ن"}) {
    ids.push_back(std::ranges::find(source, std::string(piece)) - source.begin());
  }
  const Json item = Json::object({{"name", "n"},
                                  {"input_ids", Json::array_of(ids)},
                                  {"generate", Json::object({{"method", "greedy"}, {"max_new", 9}})},
                                  {"expect", Json::object({{"text", "<s> a t z m o n </s>"}})}});
  EXPECT_EQ(with_cases(model, Json::object(), item.dump()), "2 passed, 0 failed, 0 skipped\n");
}

TEST(Conformance, AWrongIdPieceOrTextOfATokenizerFails) {
  const fs::path folder = scratch_folder() / "bert";
  make_folder(folder);
  write_file(folder / "vocab.txt", "[UNK]\n[CLS]\n[SEP]\na\n##b\n");
  const auto output = [&](const std::string& lines) {
    write_file(folder / "cases.jsonl", lines);
    return run({"--tokenizers", folder.parent_path().string()}).output;
  };
  const std::string right = R"({"text": "ab a", "ids": [3, 4, 3], "ids_special": [1, 3, 4, 3, 2],)"
                            R"( "pieces": ["a", "##b", "a"], "decoded": "ab a"})";
  EXPECT_EQ(output(right + "\n"), "1 passed, 0 failed, 0 skipped\n");
  EXPECT_EQ(output(R"({"text": "a", "pair": "b a", "ids_special": [1, 3, 2, 0, 3, 2], "types": [0, 0, 0, 1, 1, 1]})"),
            "1 passed, 0 failed, 0 skipped\n");
  EXPECT_EQ(output(R"({"text": "ab", "ids": [3, 3]})"),
            "FAIL bert:1: ids of 2, expected 2, differ at 1: got [3, 4], expected [3, 3]\n"
            "0 passed, 1 failed, 0 skipped\n");
  EXPECT_EQ(output(right + "\n" + R"({"text": "ab", "decoded": "a b"})"),
            "FAIL bert:2: decoded: got \"ab\", expected \"a b\"\n1 passed, 1 failed, 0 skipped\n");
  EXPECT_NE(output(R"({"text": "ab", "pieces": ["a"]})").find("pieces of 2, expected 1, differ at 1"),
            std::string::npos);
  EXPECT_NE(output(R"({"text": "a", "types": [0]})").find("states nothing"), std::string::npos);
  EXPECT_NE(output("{").find("cases.jsonl:1"), std::string::npos);
  EXPECT_NE(output("").find("has no line"), std::string::npos);
}

TEST(Conformance, ARightCasePassesAndAWrongNumberFails) {
  const fs::path folder = scratch_folder();
  write_log_softmax(folder / "right", -0.6931472f);
  EXPECT_EQ(run({folder.string()}).output, "1 passed, 0 failed, 0 skipped\n");
  write_log_softmax(folder / "wrong", -0.7f);
  const CommandResult result = run({folder.string()});
  EXPECT_EQ(result.exit_code, kFailure);
  EXPECT_EQ(
      result.output,
      "FAIL wrong: output 0 (y) at [0]: got -0.693147182, expected -0.699999988, error 0.00685 of 0.0007 allowed; "
      "1 of 2 elements differ\n1 passed, 1 failed, 0 skipped\n");
}

TEST(Conformance, AWrongShapeAndAMissingOutputFail) {
  const fs::path folder = scratch_folder();
  CaseWriter(folder / "a", "Softplus").input("x", floats({0})).output("y", floats({0.6931472f, 0})).write();
  CaseWriter(folder / "b", "Softplus")
      .input("x", floats({0}))
      .output("y", floats({0.6931472f}))
      .output("z", floats({0}))
      .write();
  const CommandResult result = run({folder.string()});
  EXPECT_EQ(result.output,
            "FAIL a: output 0 (y) has the shape [1], expected [2]\n"
            "FAIL b: output 1 (z) is not one that heed's Softplus gives\n0 passed, 2 failed, 0 skipped\n");
}

TEST(Conformance, IntegersOf64BitsAreComparedWhole) {
  const auto integers = [](std::vector<std::int64_t> values) { return Tensor::from(values, {1, 2, 1}); };
  const std::int64_t odd = (std::int64_t{1} << 53) + 1;  // which no double is
  const fs::path folder = scratch_folder();
  const auto write = [&](std::int64_t expected) {
    CaseWriter(folder, "TensorScatter", Json::object({{"mode", "linear"}}), 24)
        .input("cache", integers({1, 2}))
        .input("update", Tensor::from(std::vector<std::int64_t>{odd}, {1, 1, 1}))
        .input("start", Tensor::from(std::vector<std::int64_t>{1}, {1}))
        .output("present", integers({1, expected}))
        .write();
  };
  write(odd);
  EXPECT_EQ(run({folder}).exit_code, 0) << run({folder}).output;
  write(odd - 1);
  EXPECT_EQ(run({folder}).exit_code, kFailure);
}

TEST(Conformance, AttributesThatTheStoredCasesLackAreMapped) {
  const fs::path folder = scratch_folder();
  const Tensor zeros = Tensor::zeros(DType::f32, {2, 3, 2, 2}), parts = Tensor::empty_like(zeros.view());
  fill(parts, 1.0 / 3);
  CaseWriter(folder / "a", "Softmax", Json::object({{"axis", -3}})).input("x", zeros).output("y", parts).write();
  fill(parts, 1.0 / 12);  // before opset 13 all axes from 1 on were one
  CaseWriter(folder / "b", "Softmax", Json::object(), 11).input("x", zeros).output("y", parts).write();
  CaseWriter(folder / "c", "Swish", Json::object({{"alpha", 0}}))
      .input("x", floats({3}))
      .output("y", floats({1.5f}))
      .write();
  CaseWriter(folder / "d", "RNN", Json::object({{"activations", Json::array({"TANH"})}}))
      .input("x", Tensor::zeros(DType::f32, {1, 1, 2}))
      .input("w", Tensor::zeros(DType::f32, {1, 3, 2}))
      .input("r", Tensor::zeros(DType::f32, {1, 3, 3}))
      .output("y", Tensor::zeros(DType::f32, {1, 1, 1, 3}))
      .write();
  // Query 0 stands at the first key, query 1 at the second; each sees one key more to the right.
  const Tensor q = Tensor::zeros(DType::f32, {1, 1, 2, 1}), v = Tensor::from(std::vector<float>{1, 3, 5}, {1, 1, 3, 1});
  const Tensor seen = Tensor::from(std::vector<float>{2, 4}, {1, 1, 2, 1});
  CaseWriter(folder / "e", "Attention", Json::object({{"left_window_size", 0}, {"right_window_size", 1}}))
      .input("q", q)
      .input("k", v)
      .input("v", v)
      .output("y", seen)
      .write();
  EXPECT_EQ(run({folder.string()}).output, "5 passed, 0 failed, 0 skipped\n");
}

TEST(Conformance, SaysWhyItLeavesACaseOut) {
  const fs::path folder = scratch_folder();
  CaseWriter(folder / "a", "Sinkhorn").input("x", floats({1})).output("y", floats({1})).write();
  CaseWriter(folder / "b", "Gelu", Json::object({{"temperature", 2}}))
      .input("x", floats({1}))
      .output("y", floats({1}))
      .write();
  CaseWriter(folder / "c", "LpNormalization", Json::object({{"p", 1}}))
      .input("x", floats({1}))
      .output("y", floats({1}))
      .write();
  const CommandResult result = run({folder.string()});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.output,
            "skip a: heed has no operator Sinkhorn\nskip b: Gelu with the attribute temperature\n"
            "skip c: LpNormalization with p = 1\n0 passed, 0 failed, 3 skipped\n");
}

TEST(Conformance, ATruncatedArrayIsOneFailedCase) {
  const fs::path folder = scratch_folder(), array = folder / "short" / "x.npy";
  write_log_softmax(folder / "right", -0.6931472f);
  write_log_softmax(folder / "short", -0.6931472f);
  const std::string whole = read_file(array);
  for (const std::size_t length : {std::size_t{0}, std::size_t{9}, std::size_t{60}, whole.size() - 1}) {
    write_file(array, whole.substr(0, length));
    const CommandResult result = run({folder.string()});
    EXPECT_EQ(result.exit_code, kFailure);
    EXPECT_EQ(result.output.find("FAIL short: " + array.string() + ": "), 0U) << result.output;
    EXPECT_NE(result.output.find("\n1 passed, 1 failed, 0 skipped\n"), std::string::npos) << result.output;
  }
}

TEST(Conformance, AHostileCaseIsOneFailedCase) {
  const fs::path folder = scratch_folder();
  const std::string start = R"({"name": "x", "op": "MatMul", "opset": 13, "attributes": {)";
  const auto value = [](const std::string& file) { return R"({"file": ")" + file + R"("})"; };
  const std::string texts[] = {
      "",
      "{",
      "[]",
      std::string(5000, '['),
      start,
      start + R"(}, "inputs": [], "outputs": []})",
      start + R"(}, "inputs": [null, null], "outputs": [)" + value("y.npy") + "]}",
      start + R"(}, "inputs": [], "outputs": [)" + value("y.npy") + "]}",
      start + R"(}, "inputs": [], "outputs": [)" + value("../y.npy") + "]}",
      start + R"(}, "inputs": [], "outputs": [)" + value("/dev/zero") + "]}",
      start + R"(}, "inputs": [], "outputs": [)" + value("none.npy") + "]}",
      start + R"(}, "inputs": 3, "outputs": [)" + value("y.npy") + "]}",
      start + R"(}, "inputs": [)" + value("long.npy") + ", " + value("wide.npy") + R"(], "outputs": [)" +
          value("y.npy") + "]}",
  };
  make_folder(folder / "case");
  write_npy(folder / "y.npy", floats({1}));
  write_npy(folder / "case" / "y.npy", floats({1}));
  // Their product would take 64 GB.
  write_npy(folder / "case" / "long.npy", Tensor::zeros(DType::f32, {1 << 17, 1}));
  write_npy(folder / "case" / "wide.npy", Tensor::zeros(DType::f32, {1, 1 << 17}));
  for (const std::string& text : texts) {
    write_file(folder / "case" / "case.json", text);
    const CommandResult result = run({folder.string()});
    EXPECT_EQ(result.exit_code, kFailure) << text;
    EXPECT_EQ(result.output.find("FAIL case: "), 0U) << text << "\n" << result.output;
    EXPECT_NE(result.output.find("\n0 passed, 1 failed, 0 skipped\n"), std::string::npos) << text << "\n"
                                                                                          << result.output;
  }
}

TEST(Conformance, AttributesOfTheWrongKindAndInputsThatDoNotFitFail) {
  const fs::path folder = scratch_folder();
  const Tensor x = Tensor::zeros(DType::f32, {2, 3, 4}), y = floats({0});
  const Tensor targets = Tensor::from(std::vector<std::int64_t>{0, 9}, {2});
  CaseWriter(folder / "a", "Softmax", Json::object({{"axis", 3}})).input("x", x).output("y", x).write();
  CaseWriter(folder / "b", "Softmax", Json::object({{"axis", "last"}})).input("x", x).output("y", x).write();
  CaseWriter(folder / "c", "LayerNormalization").input("x", x).output("y", x).write();
  CaseWriter(folder / "d", "MatMul").input("x", x).input("w", x).output("y", x).write();
  CaseWriter(folder / "e", "NegativeLogLikelihoodLoss")
      .input("x", Tensor::zeros(DType::f32, {2, 3}))
      .input("t", targets)
      .output("y", y)
      .write();
  CaseWriter(folder / "f", "GRU", Json::object({{"hidden_size", 1 << 30}}))
      .input("x", x)
      .input("w", x)
      .input("r", x)
      .output("y", y)
      .write();
  CaseWriter(folder / "g", "Gelu").input("t", targets).output("y", y).write();
  CaseWriter(folder / "h", "RMSNormalization").input("x", x).input("w", floats({1, 2})).output("y", x).write();
  const CommandResult result = run({folder.string()});
  EXPECT_EQ(result.exit_code, kFailure);
  for (const char* name : {"a", "b", "c", "d", "e", "f", "g", "h"}) {
    EXPECT_NE(result.output.find(std::string("FAIL ") + name + ": "), std::string::npos) << result.output;
  }
  EXPECT_NE(result.output.find("0 passed, 8 failed, 0 skipped\n"), std::string::npos) << result.output;
}

TEST(Conformance, WrongUsageAndNothingFoundAreTwoExitCodes) {
  const std::string usage = "see heed-conformance --help";
  expect_refusal({}, kWrongUsage, usage);
  expect_refusal({"--pytorch"}, kWrongUsage, usage);
  expect_refusal({"--tokenizers"}, kWrongUsage, usage);
  expect_refusal({"--fast"}, kWrongUsage, usage);
  expect_refusal({"a", "b"}, kWrongUsage, usage);
  expect_refusal({"/no/such/folder"}, kFailure, "/no/such/folder");
  expect_refusal({"--pytorch", "/no/such/file"}, kFailure, "/no/such/file");
  expect_refusal({"--tokenizers", "/no/such/folder"}, kFailure, "/no/such/folder");
  const CommandResult none = run({scratch_folder().string()});
  EXPECT_EQ(none.exit_code, kFailure);
  EXPECT_EQ(none.output, "0 passed, 0 failed, 0 skipped\n");
  EXPECT_EQ(run({"--help"}).exit_code, 0);
}

}  // namespace
}  // namespace heed
