#include "heed/pretrained/choose_heads.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "heed/io/open_checkpoint.h"
#include "heed/io/safetensors.h"
#include "heed/layers/listed_parameters.h"
#include "heed/models/transformer.h"
#include "heed/testing/refusal.h"
#include "heed/testing/scratch_test.h"

namespace heed {
namespace {

using testing::refusal;

class ChooseHeadsTest : public testing::ScratchTest {
 protected:
  // The heads of a model with this configuration whose file has these tensors, of which the names alone count.
  EncoderHeadsOptions chosen(const std::string& model_type, std::vector<Json::Member> more,
                             const std::vector<std::string>& tensors) {
    Json config = Json::object({{"model_type", model_type},
                                {"vocab_size", 100},
                                {"hidden_size", 32},
                                {"num_attention_heads", 4},
                                {"num_hidden_layers", 2},
                                {"max_position_embeddings", 64},
                                {model_type == "distilbert" ? "hidden_dim" : "intermediate_size", 64}});
    for (const auto& [name, value] : more) config.set(name, value);
    const Tensor number = Tensor::zeros(DType::f32, {1});
    std::map<std::string, ConstView> views{{"something", number.view()}};
    for (const std::string& tensor : tensors) views.emplace(tensor, number.view());
    write_safetensors(folder_ / "model.safetensors", views);
    FamilyModel model = describe_model(config);
    choose_heads(model, open_checkpoint(folder_ / "model.safetensors"));
    lost_ = model.lost_heads;
    has_output_ = model.config.has_output;
    ListedParameters listed;
    Transformer(listed, model.config);  // which refuses heads that make no sense
    return model.config.encoder_heads;
  }
  static std::vector<Json::Member> architecture(const std::string& name) {
    Json list = Json::array();
    list.append(name);
    return {{"architectures", list}};
  }

  bool has_output_ = true;  // of the last model that was chosen
  std::string lost_;        // the same
};

TEST_F(ChooseHeadsTest, TheArchitectureSaysWhichHeadsTheModelHas) {
  const EncoderHeadsOptions words =
      chosen("bert", architecture("BertForMaskedLM"), {"cls.seq_relationship.weight", "cls.predictions.bias"});
  EXPECT_TRUE(words.masked_words);
  EXPECT_EQ(words.classifier, ClassifierKind::none);
  EXPECT_EQ(words.pooler, PoolerKind::none);
  const EncoderHeadsOptions both =
      chosen("bert", architecture("BertForPreTraining"), {"cls.predictions.decoder.bias", "cls.seq_relationship.bias"});
  EXPECT_TRUE(both.masked_words);
  EXPECT_EQ(both.classifier, ClassifierKind::next_sentence);
  EXPECT_EQ(both.pooler, PoolerKind::tanh);
  const EncoderHeadsOptions tokens =
      chosen("roberta", architecture("RobertaForTokenClassification"), {"classifier.bias"});
  EXPECT_EQ(tokens.classifier, ClassifierKind::tokens);
  EXPECT_EQ(tokens.pooler, PoolerKind::none);
  const EncoderHeadsOptions sequence =
      chosen("distilbert", architecture("DistilBertForSequenceClassification"), {"pre_classifier.bias"});
  EXPECT_EQ(sequence.classifier, ClassifierKind::sequence);
  EXPECT_EQ(sequence.pooler, PoolerKind::relu);
  const EncoderHeadsOptions spans = chosen("albert", architecture("AlbertForQuestionAnswering"), {"qa_outputs.weight"});
  EXPECT_EQ(spans.classifier, ClassifierKind::spans);
  EXPECT_EQ(spans.labels, (std::vector<std::string>{"start", "end"}));
}

TEST_F(ChooseHeadsTest, AnEncoderThatWasSavedWithoutItsMaskedWordsGivesVectors) {
  const EncoderHeadsOptions heads = chosen("mpnet", architecture("MPNetForMaskedLM"), {"pooler.dense.weight"});
  EXPECT_FALSE(heads.masked_words);
  EXPECT_EQ(heads.pooler, PoolerKind::tanh);
  EXPECT_TRUE(chosen("mpnet", architecture("MPNetForMaskedLM"), {"lm_head.bias"}).masked_words);
}

TEST_F(ChooseHeadsTest, AnEncoderHasNoHeadThatItsFileHasNothingOf) {
  const EncoderHeadsOptions sequence =
      chosen("bert", architecture("BertForSequenceClassification"), {"bert.pooler.dense.weight"});
  EXPECT_EQ(sequence.classifier, ClassifierKind::none);
  EXPECT_EQ(sequence.pooler, PoolerKind::tanh);
  EXPECT_EQ(lost_, "BertForSequenceClassification");
  const EncoderHeadsOptions words = chosen("bert", architecture("BertForPreTraining"), {"cls.predictions.bias"});
  EXPECT_TRUE(words.masked_words);
  EXPECT_EQ(words.classifier, ClassifierKind::none);
  EXPECT_EQ(lost_, "BertForPreTraining");
  EXPECT_FALSE(chosen("distilbert", architecture("DistilBertForSequenceClassification"), {}).any());
  chosen("bert", architecture("BertForSequenceClassification"), {"classifier.weight"});
  EXPECT_EQ(lost_, "");
  // Of a language model the head may be tied to what is there, and a classifier's that is lost is an error.
  EXPECT_EQ(chosen("gpt_neox", architecture("GPTNeoXForSequenceClassification"), {}).classifier,
            ClassifierKind::sequence);
}

TEST_F(ChooseHeadsTest, AChoiceIsMadeByOneScoreOfEachText) {
  const auto of = [&](const std::string& type, const std::string& name) {
    const EncoderHeadsOptions heads =
        chosen(type, architecture(name), {"classifier.weight", "classifier.bias", "pre_classifier.weight"});
    EXPECT_EQ(heads.classifier, ClassifierKind::sequence);
    EXPECT_EQ(heads.labels, std::vector<std::string>{"score"});
    EXPECT_TRUE(heads.regression);
    return heads.pooler;
  };
  EXPECT_EQ(of("bert", "BertForMultipleChoice"), PoolerKind::tanh);
  EXPECT_EQ(of("albert", "AlbertForMultipleChoice"), PoolerKind::tanh);
  EXPECT_EQ(of("roberta", "RobertaForMultipleChoice"), PoolerKind::tanh);
  EXPECT_EQ(of("mpnet", "MPNetForMultipleChoice"), PoolerKind::tanh);
  EXPECT_EQ(of("distilbert", "DistilBertForMultipleChoice"), PoolerKind::relu);
  EXPECT_EQ(of("electra", "ElectraForMultipleChoice"), PoolerKind::gelu);
}

TEST_F(ChooseHeadsTest, TheProblemSaysWhatIsMadeOfTheClassesNumbers) {
  const auto heads = [&](const char* problem) {
    std::vector<Json::Member> more = architecture("BertForSequenceClassification");
    more.emplace_back("problem_type", problem);
    return chosen("bert", std::move(more), {"classifier.weight"});
  };
  EXPECT_TRUE(heads("multi_label_classification").independent);
  EXPECT_FALSE(heads("multi_label_classification").regression);
  EXPECT_TRUE(heads("regression").regression);
  EXPECT_FALSE(heads("single_label_classification").regression || heads("single_label_classification").independent);
}

TEST_F(ChooseHeadsTest, AClassifierOfPicturesReadsATokenWhateverPoolerIsThere) {
  std::vector<Json::Member> more = architecture("ViTForImageClassification");
  more.emplace_back("image_size", 8), more.emplace_back("patch_size", 4);
  const EncoderHeadsOptions heads = chosen("vit", more, {"classifier.weight", "vit.pooler.dense.weight"});
  EXPECT_EQ(heads.classifier, ClassifierKind::sequence);
  EXPECT_EQ(heads.pooler, PoolerKind::none);
}

TEST_F(ChooseHeadsTest, ATeachersClassifierIsOfItsTokenAndMaskedPicturesAreOfNone) {
  const auto of = [&](const std::string& type, const std::string& name) {
    std::vector<Json::Member> more = architecture(name);
    more.emplace_back("image_size", 8), more.emplace_back("patch_size", 4);
    return chosen(type, std::move(more), {"classifier.weight", "cls_classifier.weight", "decoder.0.weight"});
  };
  EXPECT_TRUE(of("deit", "DeiTForImageClassificationWithTeacher").distilled);
  EXPECT_FALSE(of("deit", "DeiTForImageClassification").distilled);
  EXPECT_NE(refusal([&] { of("vit", "ViTForImageClassificationWithTeacher"); }), "no error");
  EXPECT_FALSE(of("vit", "ViTForMaskedImageModeling").any());
}

TEST_F(ChooseHeadsTest, MaskedWordsMayHaveGeluWhereTheLayersHaveAnother) {
  const auto has_gelu = [&](const std::string& type, const std::string& name, const std::string& tensor) {
    std::vector<Json::Member> more = architecture(name);
    more.emplace_back("hidden_act", "relu");
    const EncoderHeadsOptions heads = chosen(type, std::move(more), {tensor});
    EXPECT_TRUE(heads.masked_words);
    return heads.masked_gelu;
  };
  EXPECT_FALSE(has_gelu("bert", "BertForMaskedLM", "cls.predictions.bias"));
  EXPECT_TRUE(has_gelu("roberta", "RobertaForMaskedLM", "lm_head.bias"));
  EXPECT_TRUE(has_gelu("mpnet", "MPNetForMaskedLM", "lm_head.bias"));
  EXPECT_TRUE(has_gelu("electra", "ElectraForMaskedLM", "generator_lm_head.bias"));
}

TEST_F(ChooseHeadsTest, APoolerIsThereWhereTheFileHasOne) {
  EXPECT_EQ(chosen("bert", architecture("BertModel"), {"bert.pooler.dense.weight"}).pooler, PoolerKind::tanh);
  EXPECT_EQ(chosen("bert", architecture("BertModel"), {"pooler.dense.weight"}).pooler, PoolerKind::tanh);
  EXPECT_EQ(chosen("bert", architecture("BertModel"), {}).pooler, PoolerKind::none);
}

TEST_F(ChooseHeadsTest, WithoutAnArchitectureTheFileSaysIt) {
  EXPECT_FALSE(chosen("bert", {}, {}).any());
  EXPECT_TRUE(chosen("bert", {}, {"cls.predictions.transform.dense.weight"}).masked_words);
  const std::string pooler = "bert.pooler.dense.weight";
  EXPECT_EQ(chosen("bert", {}, {"classifier.weight", pooler}).classifier, ClassifierKind::sequence);
  EXPECT_EQ(chosen("bert", {}, {"classifier.weight"}).classifier, ClassifierKind::tokens);
  EXPECT_EQ(chosen("bert", {}, {"cls.seq_relationship.weight", pooler}).classifier, ClassifierKind::next_sentence);
  EXPECT_EQ(chosen("bert", {}, {"qa_outputs.weight", pooler}).classifier, ClassifierKind::spans);
  EXPECT_EQ(chosen("roberta", {}, {"classifier.dense.weight", "classifier.out_proj.weight"}).classifier,
            ClassifierKind::sequence);
}

TEST_F(ChooseHeadsTest, LabelsAreTheConfigurations) {
  const auto labels = [&](std::vector<Json::Member> more) {
    for (const Json::Member& member : architecture("BertForTokenClassification")) more.push_back(member);
    return chosen("bert", std::move(more), {"classifier.weight"}).labels;
  };
  EXPECT_EQ(labels({{"id2label", Json::object({{"1", "yes"}, {"0", "no"}})}}), (std::vector<std::string>{"no", "yes"}));
  EXPECT_EQ(labels({{"num_labels", 3}}), (std::vector<std::string>{"LABEL_0", "LABEL_1", "LABEL_2"}));
  EXPECT_EQ(labels({}), (std::vector<std::string>{"LABEL_0", "LABEL_1"}));
  EXPECT_EQ(refusal([&] {
              labels({{"id2label", Json::object({{"7", "yes"}})}});
            }),
            "JSON: id2label: the key \"0\" is missing");
  EXPECT_EQ(refusal([&] { labels({{"num_labels", 1e9}}); }).substr(0, 27), "JSON: num_labels: must be a");
}

TEST_F(ChooseHeadsTest, ALanguageModelMayBeAClassifier) {
  for (const char* name : {"GPTNeoXForCausalLM", "GPTNeoXModel"}) {
    EXPECT_FALSE(chosen("gpt_neox", architecture(name), {}).any());
    EXPECT_TRUE(has_output_);
  }
  const auto kind = [&](const char* name) { return chosen("gpt_neox", architecture(name), {}).classifier; };
  EXPECT_EQ(kind("GPTNeoXForSequenceClassification"), ClassifierKind::sequence);
  EXPECT_FALSE(has_output_);
  EXPECT_EQ(kind("GPTNeoXForTokenClassification"), ClassifierKind::tokens);
  EXPECT_EQ(kind("GPTNeoXForQuestionAnswering"), ClassifierKind::spans);
  EXPECT_EQ(chosen("gpt_neox", {}, {"score.weight"}).classifier, ClassifierKind::sequence);
}

TEST_F(ChooseHeadsTest, ElectrasDiscriminatorIsItsEncoder) {
  EXPECT_FALSE(chosen("electra", architecture("ElectraForPreTraining"),
                      {"discriminator_predictions.dense.weight", "discriminator_predictions.dense_prediction.weight"})
                   .any());
}

TEST_F(ChooseHeadsTest, AnotherArchitectureIsRefused) {
  for (const char* name : {"BertForRegionClassification", "BertLMHead"}) {
    EXPECT_EQ(refusal([&] { chosen("bert", architecture(name), {}); }),
              (folder_ / "model.safetensors").string() + ": is a " + name +
                  ", which heed has not: it has ...ForMaskedLM, ...ForPreTraining, ...ForNextSentencePrediction, "
                  "...ForSequenceClassification, ...ForImageClassification, ...ForImageClassificationWithTeacher, "
                  "...ForMaskedImageModeling, ...ForTokenClassification, "
                  "...ForMultipleChoice, ...ForQuestionAnswering, ...LMHeadModel, ...Model");
  }
  EXPECT_NE(refusal([&] { chosen("gpt_neox", architecture("GPTNeoXForMaskedLM"), {}); }), "no error");
  // RoBERTa has no second sentence to guess.
  EXPECT_NE(refusal([&] { chosen("roberta", architecture("RobertaForNextSentencePrediction"), {}); }), "no error");
}

}  // namespace
}  // namespace heed
