#include "heed/pretrained/ctranslate2.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "heed/base/file_writer.h"
#include "heed/io/ctranslate2.h"
#include "heed/pretrained/ctranslate2_tokens.h"
#include "heed/pretrained/pretrained_model.h"
#include "heed/testing/file_bytes.h"
#include "heed/testing/refusal.h"
#include "heed/testing/scratch_test.h"

namespace heed {
namespace {

using testing::bytes_of;
using testing::Ctranslate2Bytes;
using testing::refusal;

constexpr std::uint8_t kFloats = 0, kInt8 = 1;  // the format's numbers of types
constexpr Index kModelWidth = 4, kNetworkWidth = 6, kPieces = 5;

// A model of one layer on each side, with what a test changes.
struct Ctranslate2Parts {
  bool biases = true, betas = true, gated = false, encoder_norm = true, decoder_norm = true;
};

Ctranslate2Bytes ctranslate2_model(const Ctranslate2Parts& parts = {}) {
  Ctranslate2Bytes file;
  const auto add = [&](const std::string& name, std::vector<Index> shape) {
    Index size = 1;
    for (Index extent : shape) size *= extent;
    file.variable(name, shape, kFloats, bytes_of(std::vector<float>(static_cast<std::size_t>(size), 0.5f)));
  };
  const auto linear = [&](const std::string& name, Index outputs, Index inputs) {
    add(name + "/weight", {outputs, inputs});
    if (parts.biases) add(name + "/bias", {outputs});
  };
  const auto norm = [&](const std::string& name) {
    add(name + "/layer_norm/gamma", {kModelWidth});
    if (parts.betas) add(name + "/layer_norm/beta", {kModelWidth});
  };
  for (const std::string side : {"encoder", "decoder"}) {
    const std::string layer = side + "/layer_0";
    add(side + "/embeddings/weight", {kPieces, kModelWidth});
    linear(layer + "/self_attention/linear_0", 3 * kModelWidth, kModelWidth);
    linear(layer + "/self_attention/linear_1", kModelWidth, kModelWidth);
    norm(layer + "/self_attention");
    linear(layer + "/ffn/linear_0", kNetworkWidth, kModelWidth);
    if (parts.gated) linear(layer + "/ffn/linear_0_noact", kNetworkWidth, kModelWidth);
    linear(layer + "/ffn/linear_1", kModelWidth, kNetworkWidth);
    norm(layer + "/ffn");
    if (side == "encoder" ? parts.encoder_norm : parts.decoder_norm) norm(side);
    file.variable(side + "/num_heads", {}, kInt8, bytes_of(std::int8_t{2}));
  }
  linear("decoder/layer_0/attention/linear_0", kModelWidth, kModelWidth);
  linear("decoder/layer_0/attention/linear_1", 2 * kModelWidth, kModelWidth);
  linear("decoder/layer_0/attention/linear_2", kModelWidth, kModelWidth);
  norm("decoder/layer_0/attention");
  add("decoder/projection/weight", {kPieces, kModelWidth});
  return file;
}

class DescribeCtranslate2 : public testing::ScratchTest {
 protected:
  TransformerConfig described(const Ctranslate2Bytes& file, const std::string& config = "{}") {
    write(file, config);
    return describe_pretrained(folder_).config;
  }
  void write(const Ctranslate2Bytes& file, const std::string& config = "{}") {
    write_file(folder_ / "model.bin", file.bytes());
    write_file(folder_ / "config.json", config);
    write_file(folder_ / "shared_vocabulary.txt", "<unk>\n<s>\n</s>\na\nb\n");
  }
};

TEST_F(DescribeCtranslate2, ReadsWhatTheVariablesSay) {
  const TransformerConfig plain = described(ctranslate2_model());
  EXPECT_EQ(plain.norm, NormKind::layer);
  EXPECT_EQ(plain.norm_epsilon, 1e-5);
  EXPECT_TRUE(plain.attention_bias && plain.ffn_bias);
  EXPECT_EQ(plain.embedding_scale, 0) << "the root of the width";
  EXPECT_FALSE(plain.zero_start);
  EXPECT_TRUE(
      described(ctranslate2_model().variable("decoder/start_from_zero_embedding", {}, kInt8, bytes_of(std::int8_t{1})))
          .zero_start);
  EXPECT_EQ(described(ctranslate2_model(), R"({"layer_norm_epsilon": 1e-6})").norm_epsilon, 1e-6);
  EXPECT_EQ(described(ctranslate2_model(), R"({"layer_norm_epsilon": null})").norm_epsilon, 1e-5);
  const TransformerConfig other = described(ctranslate2_model({.biases = false, .betas = false, .gated = true}));
  EXPECT_EQ(other.norm, NormKind::rms);
  EXPECT_EQ(other.norm_epsilon, 1e-6);
  EXPECT_FALSE(other.attention_bias || other.attention_out_bias || other.ffn_bias);
  EXPECT_TRUE(other.gated);
}

TEST_F(DescribeCtranslate2, StacksEndInTheNormsThatTheFileHas) {
  EXPECT_EQ(described(ctranslate2_model()).final_norm, FinalNorm::always);
  EXPECT_EQ(described(ctranslate2_model({.encoder_norm = false})).final_norm, FinalNorm::decoder);
  EXPECT_EQ(described(ctranslate2_model({.encoder_norm = false, .decoder_norm = false})).final_norm, FinalNorm::never);
}

TEST_F(DescribeCtranslate2, EveryBuildOpens) {
  for (const Ctranslate2Parts& parts :
       {Ctranslate2Parts{}, Ctranslate2Parts{.biases = false}, Ctranslate2Parts{.betas = false},
        Ctranslate2Parts{.gated = true}, Ctranslate2Parts{.encoder_norm = false},
        Ctranslate2Parts{.encoder_norm = false, .decoder_norm = false}}) {
    write(ctranslate2_model(parts));
    EXPECT_EQ(refusal([&] { open_pretrained(folder_); }), "no error");
  }
}

TEST_F(DescribeCtranslate2, EmbeddingsAreScaledByAFlagOrANumber) {
  const auto scale = [&](const char* name, std::uint8_t type, const std::string& bytes) {
    return described(ctranslate2_model().variable(name, {}, type, bytes)).embedding_scale;
  };
  EXPECT_EQ(scale("encoder/scale_embeddings", kInt8, bytes_of(std::int8_t{1})), 0);
  EXPECT_EQ(scale("encoder/scale_embeddings", kInt8, bytes_of(std::int8_t{0})), 1);
  EXPECT_EQ(scale("encoder/scale_embeddings", kFloats, bytes_of(3.0f)), 3);
  EXPECT_EQ(scale("encoder/embeddings/multiply_by_sqrt_depth", kInt8, bytes_of(std::int8_t{0})), 1);
}

TEST_F(DescribeCtranslate2, ActivationsHaveTheFormatsNumbers) {
  const auto with_activation = [](std::int8_t number) {
    return ctranslate2_model().variable("encoder/activation", {}, kInt8, bytes_of(number));
  };
  std::int8_t number = 0;
  for (const Activation activation : {Activation::relu, Activation::gelu_tanh, Activation::silu, Activation::gelu,
                                      Activation::gelu_sigmoid, Activation::tanh, Activation::sigmoid}) {
    EXPECT_EQ(described(with_activation(number++)).activation, activation);
  }
  EXPECT_EQ(refusal([&] { described(with_activation(number)); }),
            (folder_ / "model.bin").string() + ": encoder/activation 7 is none that heed has");
}

TEST_F(DescribeCtranslate2, OptionsOfBothSidesStandAtTheRootOfEarlierFiles) {
  const TransformerConfig root = described(ctranslate2_model()
                                               .variable("pre_norm", {}, kInt8, bytes_of(std::int8_t{0}))
                                               .variable("activation", {}, kInt8, bytes_of(std::int8_t{3}))
                                               .variable("num_heads", {}, kInt8, bytes_of(std::int8_t{1})));
  EXPECT_EQ(root.norm_place, NormPlace::post);
  EXPECT_EQ(root.activation, Activation::gelu);
  EXPECT_EQ(root.heads, 2) << "a side's own goes before";
}

TEST_F(DescribeCtranslate2, TokensHaveTheNamesThatVariablesOrTheConfigurationGiveThem) {
  const auto text = [](const char* bytes) { return std::string(bytes); };
  write(ctranslate2_model(), R"({"decoder_start_token": "a", "eos_token": "b", "unk_token": "<s>"})");
  FamilyModel model = describe_pretrained(folder_);
  EXPECT_EQ(model.begin, 3);
  EXPECT_EQ(model.ends, std::vector<std::int32_t>{4});
  write(ctranslate2_model(), R"({"decoder_start_token": "nowhere"})");
  EXPECT_EQ(describe_pretrained(folder_).begin, 0) << "what is unknown";
  write(ctranslate2_model(), R"({"decoder_start_token": null})");
  EXPECT_EQ(describe_pretrained(folder_).begin, -1) << "each user says it";

  const auto tokens = [&](const Ctranslate2Bytes& file) {
    write_file(folder_ / "model.bin", file.bytes());
    return read_ctranslate2_tokens(folder_, open_ctranslate2(folder_ / "model.bin"));
  };
  const Ctranslate2Tokens renamed = tokens(Ctranslate2Bytes(5)
                                               .variable("bos_token", {1}, kInt8, text("a"))
                                               .variable("eos_token", {4}, kInt8, text("\xC3\xA9nd"))
                                               .variable("with_target_bos", {}, kInt8, bytes_of(std::int8_t{0})));
  EXPECT_EQ(renamed.begin, "a");
  EXPECT_EQ(renamed.end, "énd");
  EXPECT_EQ(renamed.start, "énd") << "and nothing of config.json's";
  EXPECT_EQ(
      tokens(Ctranslate2Bytes(5).variable("user_decoder_start_tokens", {}, kInt8, bytes_of(std::int8_t{1}))).start,
      std::nullopt);
  EXPECT_EQ(refusal([&] { tokens(Ctranslate2Bytes(5).variable("eos_token", {1}, kFloats, bytes_of(1.0f))); }),
            (folder_ / "model.bin").string() + ": eos_token must be a text, in int8, but is f32 [1]");
}

TEST_F(DescribeCtranslate2, RefusesWhatMakesAnotherModel) {
  const auto refused = [&](const char* name, std::int8_t value) {
    return refusal([&] { described(ctranslate2_model().variable(name, {}, kInt8, bytes_of(value))); });
  };
  EXPECT_EQ(refused("decoder/alibi", 0), "no error");
  for (const char* name : {"decoder/alibi", "decoder/layer_0/self_attention/rotary_dim",
                           "encoder/layer_0/post_attention_layer_norm/gamma"}) {
    EXPECT_EQ(refused(name, 1),
              (folder_ / "model.bin").string() + ": has " + name + ", which heed does not read from CTranslate2");
  }
  EXPECT_EQ(refusal([&] {
              described(ctranslate2_model()
                            .variable("encoder/pre_norm", {}, kInt8, bytes_of(std::int8_t{1}))
                            .variable("decoder/pre_norm", {}, kInt8, bytes_of(std::int8_t{0})));
            }),
            (folder_ / "model.bin").string() + ": decoder/pre_norm is 0, but must be the encoder's 1");
}

}  // namespace
}  // namespace heed
