// Options and text that a run refuses: what makes no sense, and what is not what the run was started with.
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "heed/base/file.h"
#include "heed/base/file_writer.h"
#include "heed/tasks/model_folder.h"
#include "heed/tasks/train.h"
#include "heed/tasks/train_test.h"
#include "heed/testing/refusal.h"

namespace heed {
namespace {

using testing::TrainTest;

TEST_F(TrainTest, OptionsAreCheckedBeforeAnythingIsReadOrWritten) {
  const TrainOptions good = options_;
  const auto refused = [&](auto change) {
    options_ = good;
    change(options_);
    const std::string none = "no such file";
    const TrainPaths nowhere{none, none, none, none, none, none, (folder_ / "untouched").string()};
    const std::string message =
        testing::refusal([&] { train(nowhere, options_, {.max_updates = 2}, monitor_, stop_); });
    EXPECT_FALSE(file_exists(folder_ / "untouched"));
    return message;
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(refused([&](TrainOptions& o) { o.model.transformer.dropout = nan; }),
            "Transformer: dropout must be from 0 to below 1, but is nan");
  EXPECT_EQ(refused([&](TrainOptions& o) { o.model.transformer.max_length = -1; }),
            "Transformer: max_length must be from 2 to 16777216, but is -1");
  EXPECT_EQ(refused([](TrainOptions& o) { o.model.transformer.heads = 3; }),
            "Transformer: width 16 must be a multiple of heads 3");
  EXPECT_EQ(refused([&](TrainOptions& o) { o.model.kind = ModelKind::rnn, o.model.rnn.dropout = nan; }),
            "RnnTranslator: dropout must be from 0 to below 1, but is nan");
  EXPECT_EQ(refused([&](TrainOptions& o) { o.clip = nan; }), "train: clip must be from 0 up, but is nan");
  EXPECT_EQ(refused([&](TrainOptions& o) { o.model.transformer.decoder_layers = 0; }),
            "train: a model that writes needs a decoder, but decoder_layers is 0");
  EXPECT_EQ(refused([&](TrainOptions& o) { o.model.transformer.attention = AttentionChoice("rotary(width=3)"); }),
            "rotary: the width must be even and at least 2, but is 3");
}

TEST_F(TrainTest, AMistakenOptionCanBeCorrectedInTheSameFolder) {
  options_.model.transformer.heads = 3;  // of a width of 16
  EXPECT_NE(refusal("model", 2).find("must be a multiple"), std::string::npos);
  options_.model.transformer.heads = 2;
  options_.shared_vocabulary = false;
  EXPECT_NE(refusal("model", 2).find("share_embeddings"), std::string::npos);
  options_.model.transformer.share_embeddings = false;
  EXPECT_EQ(run("model", 2).updates, 2);
  // The joint vocabulary of the first start is not found beside the two of the last.
  const ModelFolder model = load_model_folder(folder_ / "model");
  EXPECT_NE(model.source_vocabulary, model.target_vocabulary);
}

TEST_F(TrainTest, OtherOptionsAreRefusedByName) {
  run("model", 2);
  options_.rate = 0.5;
  EXPECT_NE(refusal("model", 4).find("this run was started with rate 0.003, not 0.5"), std::string::npos)
      << refusal("model", 4);
  options_.rate = 0.003;
  options_.model.transformer.ffn_width = 48;
  EXPECT_NE(refusal("model", 4).find("this run was started with ffn_width 32, not 48"), std::string::npos);
}

// A field that came after the run began is what config.json has where it has no word of it.
TEST_F(TrainTest, ARunFromBeforeAFieldOfTheModelGoesOn) {
  run("model", 2);
  const std::filesystem::path options = folder_ / "model" / "training" / "options.json";
  std::string text = read_file(options);
  const std::string field = R"("zero_start": false,)";
  const std::size_t at = text.find(field);
  ASSERT_NE(at, std::string::npos) << text;
  write_file(options, text.erase(at, field.size()));
  EXPECT_EQ(run("model", 4).updates, 4);
}

TEST_F(TrainTest, OtherTextIsRefused) {
  run("model", 2);
  write_file(folder_ / "train.de", read_file(folder_ / "train.de") + "Neu.\n");
  write_file(folder_ / "train.en", read_file(folder_ / "train.en") + "New.\n");
  EXPECT_NE(refusal("model", 4).find("this run was started with training_text \"300 lines, "), std::string::npos)
      << refusal("model", 4);
}

}  // namespace
}  // namespace heed
