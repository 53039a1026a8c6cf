#include "heed/io/open_checkpoint.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <map>
#include <string>

#include "heed/base/file.h"
#include "heed/base/file_writer.h"
#include "heed/io/safetensors.h"
#include "heed/testing/file_bytes.h"
#include "heed/testing/refusal.h"
#include "heed/testing/scratch_test.h"

namespace heed {
namespace {

using testing::bytes_of;
using testing::Ctranslate2Bytes;
using testing::GgufBytes;
using testing::refusal;

class OpenCheckpoint : public testing::ScratchTest {
 protected:
  std::filesystem::path file(const std::string& name) const { return folder_ / name; }
  void write(const std::string& name, const std::string& bytes) const { write_file(file(name), bytes); }
  // One tensor of one number in safetensors.
  void write_number(const std::string& name, const std::string& tensor, float number) const {
    write_safetensors(file(name), {{tensor, Tensor::from(std::vector<float>{number}, {1})}});
  }
  void write_index(const std::string& weight_map) const {
    write("model.safetensors.index.json", R"({"metadata": {"total_size": 8}, "weight_map": )" + weight_map + "}");
  }
  std::string refused(const std::string& name = "") const {
    std::string error = refusal([&] { open_checkpoint(name.empty() ? folder_ : file(name)); });
    const std::string path = folder_.string();
    for (auto at = error.find(path); at != std::string::npos; at = error.find(path))
      error.replace(at, path.size(), "F");
    return error;
  }

  static std::string gguf() { return GgufBytes().tensor("w", 0, {1}, bytes_of(2.0f)).bytes(); }
  static std::string ctranslate2() { return Ctranslate2Bytes().variable("w", {1}, 0, bytes_of(2.0f)).bytes(); }
  static std::string llama2c() {
    return bytes_of(std::vector<std::int32_t>{2, 1, 1, 1, 1, 1, 1}) +
           bytes_of(std::vector<float>(2 + 2 + 4 * 4 + 2 + 3 * 2 + 2 + 2));
  }
};

TEST_F(OpenCheckpoint, FindsOutByTheBytes) {
  write_number("a.gguf", "w", 2);
  write("b.txt", gguf());
  write("c.safetensors", ctranslate2());
  write("d", llama2c());
  EXPECT_EQ(open_checkpoint(file("a.gguf")).format(), CheckpointFormat::safetensors);
  EXPECT_EQ(open_checkpoint(file("b.txt")).format(), CheckpointFormat::gguf);
  EXPECT_EQ(open_checkpoint(file("c.safetensors")).format(), CheckpointFormat::ctranslate2);
  EXPECT_EQ(open_checkpoint(file("d")).format(), CheckpointFormat::llama2c);
}

TEST_F(OpenCheckpoint, OfAFolderTakesTheModel) {
  write("stories.gguf", gguf());
  EXPECT_EQ(open_checkpoint(folder_).name(), file("stories.gguf").string());
  write("model.bin", ctranslate2());
  EXPECT_EQ(open_checkpoint(folder_).format(), CheckpointFormat::ctranslate2);
  write_number("one.safetensors", "w", 1);
  write_index(R"({"w": "one.safetensors"})");
  EXPECT_EQ(open_checkpoint(folder_).name(), file("model.safetensors.index.json").string());
  write_number("model.safetensors", "v", 1);
  EXPECT_EQ(open_checkpoint(folder_).name(), file("model.safetensors").string());
}

TEST_F(OpenCheckpoint, OfAFolderTakesTheOnlyWeights) {
  write("stories260K.bin", llama2c());
  write("tok512.bin", bytes_of(std::int32_t{1}) + bytes_of(0.0f) + bytes_of(std::int32_t{1}) + "x");
  write("notes.txt", "x");
  EXPECT_EQ(open_checkpoint(folder_).format(), CheckpointFormat::llama2c);
  EXPECT_EQ(checkpoint_path(folder_), file("stories260K.bin"));
  EXPECT_EQ(checkpoint_path(file("none")), file("none"));
  write("b.gguf", gguf());
  EXPECT_EQ(refused(), "F: holds several files of weights, of which one must be named: b.gguf, stories260K.bin");
}

TEST_F(OpenCheckpoint, AFolderWithoutWeightsSaysWhatItLacks) {
  EXPECT_EQ(
      refused(),
      "F: holds no weights: there is no model.safetensors, model.safetensors.index.json, *.gguf or *.bin that heed "
      "reads");
  EXPECT_EQ(refused("none"), "F/none: cannot open: No such file or directory");
}

TEST_F(OpenCheckpoint, SaysWhatAFileIsThatIsNotRead) {
  write("pickle.bin", "PK\x03\x04" + std::string(100, 'x'));
  write("old.bin", "\x80\x02\x8A\x0A" + std::string(100, 'x'));
  write("lfs.safetensors", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n");
  write("old.gguf", "tjgg" + std::string(100, 'x'));
  write("zeros", std::string(100, '\0'));
  write("empty", "");
  const std::string pickle =
      ": is a Python pickle, which is not read since it may run any program: convert it, in Python, by "
      "safetensors.torch.save_file(torch.load(FILE, weights_only=True), \"model.safetensors\")";
  EXPECT_EQ(refused("pickle.bin"), "F/pickle.bin" + pickle);
  EXPECT_EQ(refused("old.bin"), "F/old.bin" + pickle);
  EXPECT_EQ(refused("lfs.safetensors"),
            "F/lfs.safetensors: is a pointer of Git LFS, not the file: git lfs pull fetches it");
  EXPECT_EQ(refused("old.gguf"),
            "F/old.gguf: is a file of ggml before GGUF: convert it with llama.cpp's convert_llama_ggml_to_gguf.py");
  for (const char* name : {"zeros", "empty"}) {
    EXPECT_EQ(refused(name), std::string("F/") + name +
                                 ": is no file of weights that heed reads, which are safetensors, GGUF, CTranslate2's "
                                 "and llama2.c's");
  }
}

TEST_F(OpenCheckpoint, AFolderWithNothingElseSaysWhatItsFilesAre) {
  write("consolidated.00.pth", "PK\x03\x04" + std::string(100, 'x'));
  EXPECT_EQ(refused().find("F/consolidated.00.pth: is a Python pickle, which is not read"), 0u);
  write("model.gguf", gguf());
  EXPECT_EQ(open_checkpoint(folder_).format(), CheckpointFormat::gguf);
}

TEST_F(OpenCheckpoint, AFileThatIsCutShortIsNamed) {
  write_number("a.safetensors", "w", 1);
  const std::string bytes = read_file(file("a.safetensors"));
  write("a.safetensors", bytes.substr(0, bytes.size() - 4));
  EXPECT_EQ(refused("a.safetensors"), "F/a.safetensors: w: data_offsets [0, 4] lie outside the file's 0 bytes of data");
  write("b.gguf", gguf().substr(0, gguf().size() - 1));
  EXPECT_EQ(refused("b.gguf"), "F/b.gguf: w: cut short: its 4 bytes from 0 do not lie in the file's 3 bytes of data");
  write("c.bin", ctranslate2().substr(0, 40));
  EXPECT_EQ(refused("c.bin").substr(0, 20), "F/c.bin: cut short: ");
}

TEST_F(OpenCheckpoint, AFileThatChangesIsAnErrorWhenATensorIsAskedFor) {
  write("b.gguf", GgufBytes().tensor("w", 0, {1000}, std::string(4000, '\0')).bytes());
  const Checkpoint opened = open_checkpoint(file("b.gguf"));
  EXPECT_EQ(opened.tensor("w").at<float>({999}), 0);
  std::filesystem::resize_file(file("b.gguf"), 200);
  EXPECT_EQ(refusal([&] { opened.tensor("w"); }).find(file("b.gguf").string() + ": had "), 0u);
}

TEST_F(OpenCheckpoint, ATensorKeepsItsFile) {
  write("b.gguf", gguf());
  const Tensor w = open_checkpoint(file("b.gguf")).tensor("w");
  std::filesystem::remove(file("b.gguf"));
  EXPECT_EQ(w.at<float>({0}), 2);
}

TEST_F(OpenCheckpoint, ShardsAreOne) {
  write_number("model-00001-of-00002.safetensors", "a", 1);
  write_number("model-00002-of-00002.safetensors", "b", 2);
  write_index(R"({"a": "model-00001-of-00002.safetensors", "b": "model-00002-of-00002.safetensors"})");
  for (const Checkpoint& all : {open_checkpoint(folder_), open_checkpoint(file("model.safetensors.index.json"))}) {
    EXPECT_EQ(all.format(), CheckpointFormat::safetensors);
    ASSERT_EQ(all.tensors().size(), 2u);
    EXPECT_EQ(all.tensor("a").at<float>({0}), 1);
    EXPECT_EQ(all.tensor("b").at<float>({0}), 2);
    EXPECT_EQ(all.metadata()["total_size"].integer(), 8);
  }
}

TEST_F(OpenCheckpoint, TheIndexSaysWhichShardHasATensor) {
  write_safetensors(file("1.safetensors"),
                    {{"a", Tensor::zeros(DType::f32, {1})}, {"b", Tensor::zeros(DType::f32, {1})}});
  write_number("2.safetensors", "b", 2);
  write_index(R"({"b": "2.safetensors", "a": "1.safetensors"})");
  EXPECT_EQ(open_checkpoint(folder_).tensor("b").at<float>({0}), 2);
}

TEST_F(OpenCheckpoint, ShardsThatDoNotFitAreNamed) {
  write_number("1.safetensors", "a", 1);
  write_index(R"({"a": "1.safetensors", "b": "2.safetensors"})");
  EXPECT_EQ(refused(), "F/model.safetensors.index.json: the file 2.safetensors is missing, in which it says that b is");
  write_index(R"({"a": "1.safetensors", "b": "1.safetensors"})");
  EXPECT_EQ(refused(), "F/model.safetensors.index.json: says that b is in F/1.safetensors, which has no such tensor");
  write("1.safetensors", "x");
  EXPECT_EQ(refused(), "F/1.safetensors: not a safetensors file: 1 bytes");
  for (const char* path : {"../1.safetensors", "/etc/passwd", "..", "", "a\\u0000b"}) {
    write_index(std::string(R"({"a": ")") + path + "\"}");
    EXPECT_EQ(
        refused().find("F/model.safetensors.index.json: weight_map.a: must be the name of a file beside the index"), 0u)
        << path;
  }
  write_index("{}");
  EXPECT_EQ(refused(), "F/model.safetensors.index.json: names no tensors");
  write_index(R"({"a": 1})");
  EXPECT_EQ(refused(), "F/model.safetensors.index.json: weight_map.a: must be a string, but is 1");
  write_index("[]");
  EXPECT_EQ(refused(), "F/model.safetensors.index.json: weight_map: must be an object, but is an array of 0");
  write("model.safetensors.index.json", "{}");
  EXPECT_EQ(refused(), "F/model.safetensors.index.json: the key \"weight_map\" is missing");
}

}  // namespace
}  // namespace heed
