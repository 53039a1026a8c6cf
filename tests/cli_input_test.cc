// What the command-line program does about bad input: one line that names the file, and nothing lost.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <limits>
#include <map>

#include "command.h"
#include "heed/base/file.h"
#include "heed/base/file_writer.h"
#include "heed/base/text_lines.h"
#include "heed/io/safetensors.h"
#include "trained_model.h"

namespace heed {
namespace {

using testing::CommandOptions;
using testing::CommandResult;
using testing::expect_refusal;
using testing::kFailure;
using testing::Output;
using testing::run_heed;
using testing::scratch_folder;
using testing::tiny_corpus;
using testing::tiny_model;

// The path of a new file with this text.
std::string file_with(const std::filesystem::path& folder, const char* name, std::string_view text) {
  write_file(folder / name, text);
  return (folder / name).string();
}

CommandResult train(const std::string& source, const std::string& target, const std::filesystem::path& out,
                    const CommandOptions& options = {}) {
  const auto corpus = [](const char* name) { return (tiny_corpus() / name).string(); };
  return run_heed({"train",
                   "--source",
                   source,
                   "--target",
                   target,
                   "--valid-source",
                   corpus("valid.de"),
                   "--valid-target",
                   corpus("valid.en"),
                   "--out",
                   out.string(),
                   "--width",
                   "16",
                   "--ffn-width",
                   "16",
                   "--heads",
                   "2",
                   "--encoder-layers",
                   "1",
                   "--decoder-layers",
                   "1",
                   "--vocabulary-size",
                   "100",
                   "--batch-tokens",
                   "600",
                   "--max-updates",
                   "2",
                   "--validate-every",
                   "1"},
                  options);
}

CommandResult translate_text(const std::string& input, const CommandOptions& options = {}) {
  CommandOptions with_input = options;
  with_input.input = input;
  return run_heed({"translate", tiny_model().string(), "--beam", "1"}, with_input);
}

// --- Text ------------------------------------------------------------------------------------------------------------

TEST(CliText, FilesOfDifferentLengthsAreBothNamed) {
  const auto folder = scratch_folder();
  const std::string three = file_with(folder, "three.de", "a\nb\nc\n"), two = file_with(folder, "two.en", "a\nb\n");
  expect_refusal(train(three, two, folder / "model"), kFailure, {three, two, "3", "2"});
  EXPECT_FALSE(std::filesystem::exists(folder / "model" / "model.safetensors"));
  expect_refusal(run_heed({"evaluate", "--hypothesis", three, "--reference", two}), kFailure, {three, two, "3", "2"});
  expect_refusal(run_heed({"evaluate", "--hypothesis", "-", "--reference", two}, {.input = "a\n"}), kFailure,
                 {"standard input", "1", two, "2"});
}

TEST(CliText, EmptyFilesAreRefusedWhereTheyMakeNoSense) {
  const auto folder = scratch_folder();
  const std::string empty = file_with(folder, "empty", ""), blank = file_with(folder, "blank", "\n \n");
  expect_refusal(train(empty, empty, folder / "model"), kFailure, {empty});
  expect_refusal(train(blank, blank, folder / "model"), kFailure, {blank});
  expect_refusal(run_heed({"evaluate", "--hypothesis", empty, "--reference", empty}), kFailure, {empty, "is empty"});
  expect_refusal(run_heed({"evaluate", "--alignment", empty, "--gold", empty}), kFailure, {empty, "is empty"});
  expect_refusal(run_heed({"view", tiny_model().string(), "--input", empty, "--out", (folder / "x.svg").string()}),
                 kFailure, {empty, "is empty"});
}

TEST(CliText, NoInputIsNoTranslation) {
  const CommandResult result = translate_text("");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.output, "");
}

TEST(CliText, EmptyLinesKeepTheirPlaces) {
  const CommandResult result = translate_text("\nDer Hund schläft.\n\n  \nJa.\n\n");
  EXPECT_EQ(result.exit_code, 0) << result.error;
  std::vector<std::string> lines = split_text_lines(result.output, "output");
  ASSERT_EQ(lines.size(), 6u);
  for (std::size_t i : {0, 2, 3, 5}) EXPECT_EQ(lines[i], "") << i;
}

TEST(CliText, InvalidUtf8IsNamedWithItsLineAndByte) {
  const auto folder = scratch_folder();
  expect_refusal(translate_text("gut\nsch\xF6n\n"), kFailure, {"standard input:2", "byte 4", "UTF-8"});
  const std::string bad = file_with(folder, "bad.de", "a\nb\n\xC0\xAF\n"),
                    good = file_with(folder, "good.en", "a\nb\nc\n");
  expect_refusal(train(bad, good, folder / "model"), kFailure, {bad + ":3", "byte 1", "UTF-8"});
  expect_refusal(run_heed({"evaluate", "--hypothesis", bad, "--reference", good}), kFailure, {bad + ":3", "UTF-8"});
  expect_refusal(translate_text(std::string("a\0b\n", 4)), kFailure, {"standard input:1", "NUL"});
}

TEST(CliText, ASentenceThatIsTooLongIsNamedWithItsLine) {
  std::string sentence;
  for (int i = 0; i < 200; ++i) sentence += "Hund ";
  expect_refusal(translate_text("Ja.\n" + sentence + "\n"), kFailure,
                 {"heed: standard input:2: the sentence has", "99"});
  const std::string model = tiny_model().string(), file = file_with(scratch_folder(), "text", "Ja.\n\n" + sentence);
  expect_refusal(run_heed({"view", model, "--text", sentence, "--out", "x.svg"}), kFailure,
                 {"heed: --text:1: the sentence has", "99"});
  expect_refusal(run_heed({"view", model, "--input", file, "--out", "x.svg"}), kFailure,
                 {"heed: " + file + ":3: the sentence has", "99"});
  expect_refusal(run_heed({"view", model, "--text", "Ja.", "--target", sentence, "--out", "x.svg"}), kFailure,
                 {"the target has", "99"});
}

TEST(CliText, TextThatIsAnArgumentKeepsTheSameRules) {
  const auto view = [](const std::string& text, const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {"view", tiny_model().string(), "--text", text, "--beam", "1", "--out"};
    arguments.push_back((scratch_folder() / "x.html").string());
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_heed(arguments);
  };
  expect_refusal(view("Ja.\nb\xFF"), kFailure, {"heed: --text:2: byte 2 is not valid UTF-8"});
  expect_refusal(view(std::string(kLongestLine + 1, '#')), kFailure, {"heed: --text:1: the line has more than 65536"});
  expect_refusal(view(""), kFailure, {"heed: --text: is empty: there is no sentence to look at"});
  expect_refusal(view(" "), kFailure, {"heed: --text: there is no sentence to look at"});
  expect_refusal(view("Ja.", {"--target", "b\xFF"}), kFailure, {"heed: --target:1: byte 2 is not valid UTF-8"});
  expect_refusal(view("Ja.", {"--target", "Yes.\nNo."}), kFailure, {"--target: must be one line"});
  const CommandResult two = view("Ja.\nNein.\n");
  EXPECT_EQ(two.output, translate_text("Ja.\nNein.\n").output) << two.error;
}

TEST(CliText, ALineOverTheLimitIsNamedWhereverTextIsRead) {
  const auto folder = scratch_folder();
  const std::string line(kLongestLine + 1, 'x'), limit = "more than 65536 bytes";
  const std::string bad = file_with(folder, "bad", "a\n" + line + "\n"), good = file_with(folder, "good", "a\nb\n"),
                    place = bad + ":2: ";
  expect_refusal(train(bad, good, folder / "model"), kFailure, {place, limit});
  expect_refusal(train(good, bad, folder / "model"), kFailure, {place, limit});
  expect_refusal(run_heed({"evaluate", "--hypothesis", bad, "--reference", good}), kFailure, {place, limit});
  expect_refusal(run_heed({"evaluate", "--alignment", bad, "--gold", good}), kFailure, {place, limit});
  expect_refusal(run_heed({"view", tiny_model().string(), "--input", bad, "--out", (folder / "x.svg").string()}),
                 kFailure, {place, limit});
}

TEST(CliText, OtherFormatsAreNamed) {
  const auto folder = scratch_folder();
  const std::string packed = file_with(folder, "train.de.gz", "\x1F\x8B\x08 and so on"),
                    wide = file_with(folder, "wide", "\xFF\xFEH"), good = file_with(folder, "good", "a\n");
  expect_refusal(train(packed, good, folder / "model"), kFailure, {packed, "gzip", "unpack"});
  expect_refusal(run_heed({"evaluate", "--hypothesis", good, "--reference", wide}), kFailure,
                 {wide, "UTF-16", "iconv"});
}

TEST(CliText, ALongLineWithoutAnEndIsNoHarm) {
  expect_refusal(translate_text(std::string(2'000'000, 'x')), kFailure, {"standard input:1"});
}

TEST(CliText, AlignmentsThatAreNoneAreNamedWithTheirLine) {
  const auto folder = scratch_folder();
  const std::string gold = file_with(folder, "gold", "0-0\n1-1 2p2\n");
  for (const char* bad : {"0-0\n1:1\n", "0-0\n-1-1\n", "0-0\n1-99999999999999999999\n", "0-0\n1p1\n"}) {
    const std::string file = file_with(folder, "bad", bad);
    expect_refusal(run_heed({"evaluate", "--alignment", file, "--gold", gold}), kFailure, {file + ":2"});
  }
  expect_refusal(run_heed({"evaluate", "--alignment", gold + "x", "--gold", gold}), kFailure,
                 {gold + "x", "cannot open"});
}

// --- Models ----------------------------------------------------------------------------------------------------------

std::string safetensors_of(std::string_view header, std::string_view data) {
  const std::uint64_t length = header.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes + std::string(header) + std::string(data);
}

// A copy of the tiny model.
std::filesystem::path copied_model() {
  const std::filesystem::path copy = scratch_folder() / "model";
  std::filesystem::create_directories(copy);
  for (const auto& entry : std::filesystem::directory_iterator(tiny_model())) {
    if (entry.is_regular_file()) std::filesystem::copy_file(entry.path(), copy / entry.path().filename());
  }
  return copy;
}

CommandResult translate_with(const std::filesystem::path& model) {
  return run_heed({"translate", model.string()}, {.input = "Ja.\n"});
}

TEST(CliModel, AFolderThatIsNoModelIsNamed) {
  const std::string data = tiny_corpus().string();
  expect_refusal(translate_with(data), kFailure, {data, "not a model folder", "config.json"});
  expect_refusal(translate_with(data + "/no"), kFailure, {data + "/no"});
  expect_refusal(translate_with(data + "/train.de"), kFailure, {data + "/train.de"});
  expect_refusal(run_heed({"info", data}), kFailure, {data, "not a model folder"});
  expect_refusal(run_heed({"view", data, "--text", "a", "--out", "x.svg"}), kFailure, {data, "not a model folder"});
}

TEST(CliModel, AMissingFileIsNamed) {
  for (const char* file : {"config.json", "model.safetensors", "vocabulary.spm"}) {
    const auto model = copied_model();
    ASSERT_TRUE(std::filesystem::remove(model / file)) << file;
    expect_refusal(translate_with(model), kFailure, {model.string()});
  }
}

TEST(CliModel, ATruncatedFileIsNamed) {
  for (const char* file : {"config.json", "model.safetensors", "vocabulary.spm"}) {
    const auto model = copied_model();
    const std::string bytes = read_file(model / file);
    for (std::size_t size : {std::size_t{0}, std::size_t{7}, bytes.size() / 2, bytes.size() - 3}) {
      write_file(model / file, bytes.substr(0, size));
      expect_refusal(translate_with(model), kFailure, {(model / file).string()});
    }
  }
}

TEST(CliModel, HostileSafetensorsAreRefused) {
  const auto folder = scratch_folder();
  const std::string eight(8, '\0');
  const std::vector<std::string> files = {
      std::string("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F{}", 10),  // a header that ends past the file, and past memory
      std::string("\x10\0\0\0\0\0\0\0{}", 10),
      safetensors_of("[]", ""),
      safetensors_of("{\"a\":", ""),
      // bytes out of range, overlapping, backwards, and of nobody
      safetensors_of(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})", eight),
      safetensors_of(R"({"a":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}})", eight),
      safetensors_of(
          R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})",
          eight),
      safetensors_of(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[8,4]}})", eight),
      safetensors_of(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[-4,0]}})", eight),
      safetensors_of(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", eight),
      // extents whose product overflows, or that the bytes do not have
      safetensors_of(R"({"a":{"dtype":"F32","shape":[4294967296,4294967296,2],"data_offsets":[0,8]}})", eight),
      safetensors_of(R"({"a":{"dtype":"F32","shape":[9223372036854775807],"data_offsets":[0,8]}})", eight),
      safetensors_of(R"({"a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}})", eight),
      safetensors_of(R"({"a":{"dtype":"F32","shape":[1,1,1,1,1,1,1,2],"data_offsets":[0,8]}})", eight),
      // the same name twice
      safetensors_of(
          R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
          eight),
      safetensors_of(R"({"a":{"dtype":"F3","shape":[2],"data_offsets":[0,8]}})", eight),
      safetensors_of("{\"a\n\x1b[31m\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", eight),
  };
  for (std::size_t i = 0; i < files.size(); ++i) {
    const std::string path = file_with(folder, "hostile.safetensors", files[i]);
    SCOPED_TRACE(fmt::format("file {}", i));
    expect_refusal(run_heed({"info", path}), kFailure, {path});
  }
}

TEST(CliModel, WeightsThatAreNotTheConfigurationsAreNamed) {
  const auto model = copied_model();
  const std::string weights = (model / "model.safetensors").string(), config = (model / "config.json").string();
  const std::string before = read_file(config);
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = before;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    write_file(config, text.replace(at, from.size(), to));
    return translate_with(model);
  };
  expect_refusal(with("\"width\": 16", "\"width\": 32"), kFailure, {weights});
  expect_refusal(with("\"ffn_width\": 32", "\"ffn_width\": 16"), kFailure, {weights, "linear1"});
  expect_refusal(with("\"encoder_layers\": 1", "\"encoder_layers\": 2"), kFailure, {weights});
  expect_refusal(with("\"width\": 16", "\"width\": 16777216"), kFailure, {weights});  // nothing is allocated
  expect_refusal(with("\"decoder_layers\": 1", "\"decoder_layers\": 1024"), kFailure, {weights});
  expect_refusal(with("\"width\": 16", "\"width\": 9007199254740992"), kFailure, {config, "width"});
  expect_refusal(with("\"decoder_layers\": 1", "\"decoder_layers\": 1000000000"), kFailure, {config, "layers"});
  expect_refusal(with("\"heads\": 2", "\"heads\": 3"), kFailure, {config, "heads"});
  expect_refusal(with("\"heads\": 2", "\"heads\": \"two\""), kFailure, {config, "heads"});
  expect_refusal(with("\"heads\": 2", "\"head\": 2"), kFailure, {config, "head"});
  expect_refusal(with("\"model\": \"transformer\"", "\"model\": \"markov\""), kFailure, {config, "markov"});
  expect_refusal(with("\"max_length\": 100", "\"max_length\": -1"), kFailure, {config, "max_length"});
}

TEST(CliModel, WeightsThatAreNotFiniteAreNamed) {
  const auto model = copied_model();
  const std::filesystem::path file = model / "model.safetensors";
  const std::map<std::string, Tensor> tensors = read_safetensors(file);
  const std::string name = "decoder.layers.0.multihead_attn.in_proj_weight";
  tensors.at(name).at<float>({2, 3}) = std::numeric_limits<float>::infinity();
  write_safetensors(file, {tensors.begin(), tensors.end()});
  const std::initializer_list<std::string> parts = {file.string() + ": " + name, "element 35 is inf"};
  expect_refusal(translate_with(model), kFailure, parts);
  expect_refusal(run_heed({"info", model.string()}), kFailure, parts);
  expect_refusal(run_heed({"view", model.string(), "--text", "Ja.", "--out", "x.svg"}), kFailure, parts);
}

TEST(CliModel, AVocabularyOfAnotherModelIsRefused) {
  const auto model = copied_model();
  std::filesystem::remove(model / "vocabulary.spm");
  write_file(model / "vocabulary.vocab.txt", "a\nb\n");
  expect_refusal(translate_with(model), kFailure, {model.string()});
}

TEST(CliModel, AHostileTraceIsRefused) {
  const auto folder = scratch_folder();
  const std::string trace =
      file_with(folder, "trace.json", "{\"format\": \"heed attention traces\", \"version\": 2, \"tra");
  expect_refusal(run_heed({"view", trace, "--out", (folder / "x.svg").string()}), kFailure, {trace});
  EXPECT_FALSE(std::filesystem::exists(folder / "x.svg"));
}

// --- Disks and pipes -------------------------------------------------------------------------------------------------

TEST(CliDisk, AFullDiskIsNamedAndOldFilesStay) {
  const auto folder = scratch_folder();
  const std::vector<std::string> corpus = {"corpus", "--out", folder.string(), "--pairs", "100"};
  ASSERT_EQ(run_heed(corpus).exit_code, 0);
  const std::string before = read_file(folder / "train.de");
  std::vector<std::string> more = corpus;
  more.back() = "1000";
  expect_refusal(run_heed(more, {.largest_file = 2000}), kFailure, {folder.string(), "File too large"});
  EXPECT_EQ(read_file(folder / "train.de"), before);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 10);  // with the lock: no parts lie about
}

TEST(CliDisk, TrainingNamesTheFileThatTheDiskHasNoRoomFor) {
  const auto folder = scratch_folder();
  const CommandResult result = train((tiny_corpus() / "train.de").string(), (tiny_corpus() / "train.en").string(),
                                     folder / "model", {.largest_file = 10'000});
  EXPECT_EQ(result.exit_code, kFailure);
  // Above it stands how far training came.
  const std::string last = result.error.substr(result.error.rfind('\n', result.error.size() - 2) + 1);
  EXPECT_TRUE(last.starts_with("heed: " + (folder / "model").string())) << result.error;
  EXPECT_NE(last.find("File too large"), std::string::npos) << result.error;
  EXPECT_FALSE(std::filesystem::exists(folder / "model" / "model.safetensors"));
}

TEST(CliDisk, StandardOutputOnAFullDiskIsAnError) {
  expect_refusal(translate_text("Ja.\n", {.output = Output::full}), kFailure, {"standard output", "No space left"});
  expect_refusal(run_heed({"info"}, {.output = Output::full}), kFailure, {"standard output", "No space left"});
  expect_refusal(run_heed({"explain"}, {.output = Output::full}), kFailure, {"standard output", "No space left"});
}

TEST(CliDisk, AClosedPipeIsAnError) {
  expect_refusal(translate_text("Ja.\n", {.output = Output::unread}), kFailure, {"standard output", "Broken pipe"});
  expect_refusal(run_heed({"explain"}, {.output = Output::unread}), kFailure, {"standard output", "Broken pipe"});
}

// Nobody may write there, root included.
TEST(CliDisk, AForbiddenPlaceIsNamed) {
  if (!std::filesystem::is_directory("/proc/self"))
    GTEST_SKIP() << "no /proc, the place that not even root may write to";
  expect_refusal(run_heed({"corpus", "--out", "/proc/heed", "--pairs", "10"}), kFailure, {"/proc/heed"});
  expect_refusal(run_heed({"view", tiny_model().string(), "--text", "Ja.", "--out", "/proc/map.svg"}), kFailure,
                 {"/proc/map.svg", "cannot write"});
  expect_refusal(run_heed({"view", tiny_model().string(), "--text", "Ja.", "--trace", "/proc/trace.json"}), kFailure,
                 {"/proc/trace.json", "cannot write"});
  expect_refusal(train((tiny_corpus() / "train.de").string(), (tiny_corpus() / "train.en").string(), "/proc/model"),
                 kFailure, {"/proc/model"});
}

}  // namespace
}  // namespace heed
