// No command writes over a file that it reads, or writes one file twice, by whatever name.
#include <gtest/gtest.h>

#include <filesystem>

#include "command.h"
#include "heed/base/file.h"
#include "heed/base/file_writer.h"
#include "trained_model.h"

namespace heed {
namespace {

namespace fs = std::filesystem;
using testing::CommandResult;
using testing::expect_refusal;
using testing::kFailure;
using testing::kWrongUsage;
using testing::output_of;
using testing::run_heed;
using testing::scratch_folder;
using testing::tiny_corpus;
using testing::tiny_model;

fs::path copied_model(const fs::path& folder) {
  fs::copy(tiny_model(), folder / "model");
  return folder / "model";
}

CommandResult view(const fs::path& model, const fs::path& input, const fs::path& trace, const fs::path& out) {
  return run_heed({"view", model.string(), "--input", input.string(), "--trace", trace.string(), "--out", out.string(),
                   "--beam", "1"});
}

TEST(CliOutputs, TwoKindsOfCorpusDoNotShareAFolder) {
  const std::string sentences = (scratch_folder() / "sentences").string(),
                    scenes = (scratch_folder() / "scenes").string();
  const auto corpus = [](const std::string& kind, const std::string& folder) {
    return run_heed({"corpus", "--kind", kind, "--pairs", "2", "--validation", "1", "--test", "1", "--out", folder});
  };
  for (int time = 0; time < 2; ++time) {
    EXPECT_EQ(corpus("sentences", sentences).exit_code, 0);
    EXPECT_EQ(corpus("pictures", scenes).exit_code, 0);
  }
  expect_refusal(corpus("pictures", sentences), kFailure, {"train.align: is of a corpus of sentences"});
  expect_refusal(corpus("sentences", scenes), kFailure, {"train.images: is of a corpus of pictures"});
}

TEST(CliOutputs, NoFileOfTheModelIsReplaced) {
  const fs::path folder = scratch_folder(), model = copied_model(folder);
  write_file(folder / "in", "Ja.\n");
  for (const char* file : {"config.json", "model.safetensors", "vocabulary.spm"}) {
    const std::string before = read_file(model / file);
    const bool could_be_a_trace = fs::path(file).extension() == ".json";
    expect_refusal(view(model, folder / "in", model / file, folder / "x.svg"), kWrongUsage,
                   {"--trace", (model / file).string(), could_be_a_trace ? "the model" : "must end in .json"});
    EXPECT_EQ(read_file(model / file), before);
  }
  // A name that the model's vocabulary could have: with it the model would have two.
  expect_refusal(view(model, folder / "in", model / "source.vocab.txt", folder / "x.svg"), kWrongUsage, {"--trace"});
  const CommandResult result = view(model, folder / "in", model / "trace.json", model / "map.svg");
  EXPECT_EQ(result.exit_code, 0) << result.error;
}

TEST(CliOutputs, OneFileHasManyNames) {
  const fs::path folder = scratch_folder(), model = copied_model(folder), in = folder / "in.html";
  write_file(in, "Ja.\n");
  fs::create_directory(folder / "deeper");
  fs::create_symlink(in, folder / "link.html");
  fs::create_symlink("../link.html", folder / "deeper" / "link.html");
  fs::create_hard_link(in, folder / "hard.html");
  fs::create_directory_symlink(folder, folder / "deeper" / "up");
  for (const fs::path& name :
       {in, folder / "deeper" / ".." / "in.html", folder / "link.html", folder / "deeper" / "link.html",
        folder / "hard.html", folder / "deeper" / "up" / "in.html", fs::relative(in)}) {
    expect_refusal(view(model, in, folder / "trace.json", name), kWrongUsage, {"--out", "--input", "read"});
    EXPECT_EQ(read_file(in), "Ja.\n") << name;
    // By standard input it has no name.
    expect_refusal(run_heed({"view", model.string(), "--input", "/dev/stdin", "--out", name.string()},
                            {.input_file = in.string()}),
                   kWrongUsage, {"--out", "--input"});
    expect_refusal(
        run_heed({"view", model.string(), "--input", "-", "--out", name.string()}, {.input_file = in.string()}),
        kWrongUsage, {"--out", "--input"});
  }
  EXPECT_FALSE(fs::exists(folder / "trace.json"));
}

TEST(CliOutputs, TwoOutputsAreTwoFilesAlsoBeforeTheyAreThere) {
  const fs::path folder = scratch_folder(), model = copied_model(folder);
  write_file(folder / "in", "Ja.\n");
  fs::create_directory(folder / "deeper");
  fs::create_symlink("new.json", folder / "to_new.json");
  for (const fs::path& name : {folder / "new.json", folder / "deeper" / ".." / "new.json", folder / "to_new.json"}) {
    expect_refusal(view(model, folder / "in", folder / "new.json", name), kWrongUsage, {"--out", "--trace", "written"});
    expect_refusal(view(model, folder / "in", name, folder / "new.json"), kWrongUsage, {"--out", "--trace", "written"});
  }
  EXPECT_FALSE(fs::exists(folder / "new.json"));
  const CommandResult result = view(model, folder / "in", "/dev/null", folder / "new.html");
  EXPECT_EQ(result.exit_code, 0) << result.error;
}

TEST(CliOutputs, ATraceIsNotDrawnOverItself) {
  const fs::path folder = scratch_folder();
  const std::string trace = (folder / "trace.json").string();
  ASSERT_EQ(run_heed({"view", tiny_model().string(), "--text", "Ja.", "--trace", trace}).exit_code, 0);
  const std::string before = read_file(trace);
  expect_refusal(run_heed({"view", trace, "--out", (folder / "x.svg").string(), "--trace", trace}), kWrongUsage,
                 {"--trace"});
  EXPECT_EQ(read_file(trace), before);
}

TEST(CliOutputs, ATraceIsNotReplacedByTheFigureOfASentence) {
  const fs::path folder = scratch_folder();
  write_file(folder / "in", "Ja.\nNein.\n");
  const auto view_as = [&](const std::string& trace, const std::string& out) {
    return run_heed({"view", tiny_model().string(), "--input", (folder / "in").string(), "--trace",
                     (folder / trace).string(), "--out", (folder / out).string()});
  };
  expect_refusal(view_as("x-1.json", "x.json"), kWrongUsage, {"x-1.json", "--trace", "written"});
  EXPECT_FALSE(fs::exists(folder / "x-1.json"));
  EXPECT_EQ(view_as("y-3.json", "y.json").exit_code, 0);
  EXPECT_TRUE(fs::exists(folder / "y-2.json"));
  const std::string trace = (folder / "y-3.json").string();
  EXPECT_FALSE(output_of({"view", trace, "--out", "-"}).empty());  // the terminal as often as there are sentences
}

TEST(CliOutputs, AnEndingIsReadInEitherCase) {
  const fs::path folder = scratch_folder();
  const auto path = [&](const char* name) { return (folder / name).string(); };
  const std::string line = "Ja.";
  EXPECT_EQ(run_heed({"view", tiny_model().string(), "--text", line, "--trace", path("x.NPZ")}).exit_code, 0);
  output_of({"view", path("x.NPZ"), "--out", path("x.Svg")});
  output_of({"view", path("x.NPZ"), "--out", path("x.HTM")});
  output_of({"explain", "--out", path("walk.HTM"), "--out", path("walk.Json")});
  EXPECT_TRUE(read_file(path("walk.HTM")).starts_with("<!"));
  EXPECT_TRUE(read_file(path("walk.Json")).starts_with("{"));
}

TEST(CliOutputs, AnAlignmentIsNotWrittenOverWhatItIsMeasuredBy) {
  const fs::path folder = scratch_folder();
  for (const char* file : {"test.de", "test.en", "test.align", "valid.de", "valid.en", "valid.align"}) {
    fs::copy_file(tiny_corpus() / file, folder / file);
  }
  const auto file = [&](const char* name) { return (folder / name).string(); };
  for (const auto& [name, option] : {std::pair("test.de", "--source"), std::pair("test.en", "--target"),
                                     std::pair("test.align", "--gold"), std::pair("valid.align", "--valid-gold")}) {
    const std::string before = read_file(file(name));
    expect_refusal(run_heed({"align", tiny_model().string(), "--source", file("test.de"), "--target", file("test.en"),
                             "--gold", file("test.align"), "--valid-source", file("valid.de"), "--valid-target",
                             file("valid.en"), "--valid-gold", file("valid.align"), "--out", file(name)}),
                   kWrongUsage, {"--out", option});
    EXPECT_EQ(read_file(file(name)), before);
  }
}

TEST(CliOutputs, APictureIsNotDrawnOverAnArray) {
  const fs::path folder = scratch_folder();
  write_file(folder / "q.svg", "not read: the names are enough");
  const std::string q = (folder / "q.svg").string();
  expect_refusal(run_heed({"explain", "--q", q, "--k", q, "--v", q, "--out", q}), kWrongUsage, {"--out", "--q"});
}

TEST(CliOutputs, APageThatCannotBeLeavesNoOtherFile) {
  const fs::path folder = scratch_folder();
  const std::string two_heads = "[[[1, 0]], [[0, 1]]]", picture = (folder / "x.svg").string();
  expect_refusal(run_heed({"explain", "--q", two_heads, "--k", two_heads, "--v", two_heads, "--out", picture, "--out",
                           (folder / "x.html").string()}),
                 kFailure, {"one head"});
  EXPECT_FALSE(fs::exists(picture));
}

TEST(CliOutputs, ManyPicturesAreRefusedBeforeTheirFilesAreNamed) {
  const fs::path folder = scratch_folder() / "scenes";
  expect_refusal(run_heed({"corpus", "--kind", "pictures", "--out", folder.string(), "--test", "10000000"}), kFailure,
                 {"test must have 0 to 1000000 pictures"});
  EXPECT_FALSE(fs::exists(folder));
}

TEST(CliOutputs, ACorpusIsNineFiles) {
  const fs::path folder = scratch_folder();
  fs::create_symlink("train.de", folder / "train.en");
  expect_refusal(run_heed({"corpus", "--out", folder.string(), "--pairs", "10"}), kWrongUsage,
                 {"train.de", "train.en"});
  EXPECT_FALSE(fs::exists(folder / "train.de"));
}

}  // namespace
}  // namespace heed
