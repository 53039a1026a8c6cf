// One translator in the forms that CTranslate2's earlier versions kept it in.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "heed/base/file_writer.h"
#include "heed/io/ctranslate2.h"
#include "heed/tasks/model_folder.h"
#include "heed/tasks/translate.h"
#include "heed/testing/data_folder.h"
#include "heed/testing/file_bytes.h"
#include "heed/testing/refusal.h"
#include "heed/testing/scratch_test.h"

namespace heed {
namespace {

using testing::bytes_of;
using testing::Ctranslate2Bytes;

enum class Stored { f32, i16_of_1000, i16, i8 };

struct Form {
  std::uint32_t version;
  std::string spec;  // none in version 1
  std::uint32_t revision;
  Stored weights;
};

void replace(std::string& name, const std::string& ours, const std::string& theirs) {
  if (const std::size_t at = name.find(ours); at != std::string::npos) name.replace(at, ours.size(), theirs);
}

// "transformer/encoder/layer_0/multi_head/conv1d/kernel:0".
std::string name_of_first_revision(std::string name) {
  const bool decodes = name.starts_with("decoder");
  replace(name, "embeddings/weight", "w_embs");
  replace(name, "weight", "kernel");
  replace(name, "layer_norm", "LayerNorm");
  replace(name, "projection", "dense");
  replace(name, "linear_0", "conv1d");
  replace(name, "linear_", "conv1d_");
  const std::string self = "self_attention";
  if (name.find(self) == std::string::npos) {
    replace(name, "attention", "multi_head");
  } else {
    replace(name, self, decodes ? "masked_multi_head" : "multi_head");
  }
  return "transformer/" + name + ":0";
}

template <typename T>
std::vector<T> whole(std::span<const float> numbers, float scale) {
  std::vector<T> rounded;
  for (float x : numbers) rounded.push_back(static_cast<T>(std::lrint(x * scale)));
  return rounded;
}

float largest(std::span<const float> numbers) {
  float most = 0;
  for (float x : numbers) most = std::max(most, std::abs(x));
  return most;
}

void add_weight(Ctranslate2Bytes& file, const std::string& name, const Tensor& weight, Stored stored) {
  const std::vector<Index> shape{weight.dim(0), weight.dim(1)};
  const std::span<const float> all(weight.data<float>(), static_cast<std::size_t>(weight.size()));
  if (stored == Stored::i8) {
    std::vector<std::int8_t> bytes;
    std::vector<float> scales;
    for (Index row = 0; row < shape[0]; ++row) {
      const auto numbers = all.subspan(static_cast<std::size_t>(row * shape[1]), static_cast<std::size_t>(shape[1]));
      scales.push_back(127 / largest(numbers));
      std::ranges::copy(whole<std::int8_t>(numbers, scales.back()), std::back_inserter(bytes));
    }
    file.variable(name, shape, 1, bytes_of(bytes)).variable(name + "_scale", {shape[0]}, 4, bytes_of(scales));
    return;
  }
  const float scale = stored == Stored::i16_of_1000 ? 1000 : 1024 / largest(all);
  file.variable(name, shape, 2, bytes_of(whole<std::int16_t>(all, scale)));
  if (stored == Stored::i16) file.variable(name + "_scale", {}, 4, bytes_of(scale));
}

using Flags = std::vector<std::pair<std::string, std::int8_t>>;

std::string in_form(const Checkpoint& model, const Form& form, const Flags& flags = {}) {
  Ctranslate2Bytes file(form.version, form.spec, form.revision);
  for (const auto& [name, value] : flags) file.variable(name, {}, 1, bytes_of(value));
  for (const auto& item : model.tensors()) {
    const Tensor tensor = model.tensor(item.first);
    const std::string name = form.revision == 1 ? name_of_first_revision(item.first) : item.first;
    if (form.weights != Stored::f32 && item.first.ends_with("weight")) {
      add_weight(file, name, tensor, form.weights);
      continue;
    }
    const auto rank = static_cast<std::size_t>(tensor.rank());
    const std::vector<float> numbers(tensor.data<float>(), tensor.data<float>() + tensor.size());
    std::vector<Index> shape;
    for (std::size_t axis = 0; axis < rank; ++axis) shape.push_back(tensor.dim(static_cast<int>(axis)));
    file.variable(name, shape, form.version >= 4 ? 0 : 4, bytes_of(numbers));
  }
  return file.bytes();
}

class Ctranslate2Versions : public testing::ScratchTest {
 protected:
  void copy_vocabularies(const std::filesystem::path& original) {
    for (const char* name : {"source_vocabulary.txt", "target_vocabulary.txt"}) {
      std::filesystem::copy_file(original / name, folder_ / name);
    }
  }
};

TEST_F(Ctranslate2Versions, OneTranslatorInEveryFormTranslatesTheSame) {
  HEED_DATA_OR_SKIP(original, "models/aren-transliteration");
  const Checkpoint model = open_ctranslate2(original / "model.bin");
  const std::vector<std::string> sources{"آ ت ز م و ن", "آ ت ش ي س و ن", "أ ر ب ا ك"};
  const auto translated = [&](const std::filesystem::path& folder) {
    std::vector<std::string> texts;
    const ModelFolder opened = load_model_folder(folder);
    for (const auto& best : Translator(opened).translate(sources, {.beam = 2})) texts.push_back(best[0].text);
    return texts;
  };
  const std::vector<std::string> expected = translated(original);
  EXPECT_EQ(expected[0], "a t z m o n");
  copy_vocabularies(original);
  for (const Form& form :
       {Form{1, "", 1, Stored::f32}, Form{1, "", 1, Stored::i16_of_1000}, Form{2, "TransformerBase", 1, Stored::f32},
        Form{2, "TransformerBase", 2, Stored::f32}, Form{2, "TransformerBase", 2, Stored::i16},
        Form{2, "TransformerBase", 2, Stored::i8}, Form{2, "", 2, Stored::f32}, Form{3, "", 1, Stored::i8}}) {
    write_file(folder_ / "model.bin", in_form(model, form));
    EXPECT_EQ(translated(folder_), expected)
        << form.version << " " << form.spec << " " << form.revision << " " << static_cast<int>(form.weights);
  }
}

TEST_F(Ctranslate2Versions, TokensAroundASourceAndBeforeATranslationAreAsTheFilesSay) {
  HEED_DATA_OR_SKIP(original, "models/aren-transliteration");
  const Checkpoint model = open_ctranslate2(original / "model.bin");
  copy_vocabularies(original);
  const auto score = [](const std::filesystem::path& folder, const std::string& source) {
    const ModelFolder opened = load_model_folder(folder);
    return Translator(opened).translate(std::vector<std::string>{source}, {.beam = 2})[0][0].score;
  };
  const std::string source = "آ ت ز م و ن";
  const double plain = score(original, source), ended = score(original, source + " </s>");
  EXPECT_NE(plain, ended);
  const Form variables{2, "TransformerBase", 2, Stored::f32}, config{6, "TransformerSpec", 7, Stored::f32};
  const auto of_variables = [&](const Flags& flags) {
    write_file(folder_ / "model.bin", in_form(model, variables, flags));
    return score(folder_, source);
  };
  EXPECT_EQ(of_variables({}), plain);
  EXPECT_EQ(of_variables({{"with_source_eos", 1}}), ended);
  EXPECT_EQ(of_variables({{"with_source_bos", 1}}), score(original, "<s> " + source));
  const double from_end = of_variables({{"with_target_bos", 0}});
  EXPECT_NE(from_end, plain);

  write_file(folder_ / "model.bin", in_form(model, config));
  const auto of_config = [&](const char* text) {
    write_file(folder_ / "config.json", text);
    return score(folder_, source);
  };
  EXPECT_EQ(of_config("{}"), plain);
  EXPECT_EQ(of_config(R"({"add_source_eos": true})"), ended);
  EXPECT_EQ(of_config(R"({"add_source_bos": true, "add_source_eos": true})"),
            score(original, "<s> " + source + " </s>"));
  EXPECT_EQ(of_config(R"({"decoder_start_token": "</s>"})"), from_end);
  EXPECT_EQ(testing::refusal([&] { of_config(R"({"decoder_start_token": null})"); }),
            "Translator: the model's files do not say what its texts begin with (decoder_start_token is null)");
}

}  // namespace
}  // namespace heed
