// metrics.jsonl: a line for each update and validation of the run, however often it was begun again.
#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "heed/base/file.h"
#include "heed/base/file_writer.h"
#include "heed/base/text_lines.h"
#include "heed/io/json.h"
#include "heed/tasks/train.h"
#include "heed/tasks/train_test.h"

namespace heed {
namespace {

using testing::Interrupter;
using testing::Listener;
using testing::TrainTest;

TEST_F(TrainTest, TheLossThatIsReportedIsThatOfTheLastUpdatesTogether) {
  Listener listener;
  train(paths("model"), options_, {.max_updates = 6}, listener, stop_);
  double loss = 0, tokens = 0, before = 0;
  std::size_t update = 0;
  for (const std::string& line : read_text_lines(folder_ / "model" / "metrics.jsonl")) {
    const Json json = Json::parse(line, "line");
    EXPECT_GE(json["seconds"].number(), before);
    before = json["seconds"].number();
    if (!json.has("loss")) continue;  // a validation
    loss = 0.95 * loss + json["loss"].number() * json["target_tokens"].number();
    tokens = 0.95 * tokens + json["target_tokens"].number();
    EXPECT_NEAR(listener.updates[update++].loss, loss / tokens, 1e-9);
  }
  EXPECT_EQ(update, 6u);
}

TEST_F(TrainTest, MetricsHaveALineForEachUpdateEvenAfterAnInterruption) {
  Interrupter interrupter(stop_, 3);
  train(paths("model"), options_, {.max_updates = 6}, interrupter, stop_);
  stop_ = false;
  // What a kill leaves: lines of updates that the saved state does not know, and half a line.
  const std::filesystem::path file = folder_ / "model" / "metrics.jsonl";
  write_file(file, read_file(file) + "{\"update\": 4, \"loss\": 1}\n{\"upda");
  run("model", 6);
  Index updates = 0;
  for (const std::string& line : read_text_lines(file)) {
    const Json json = Json::parse(line, "line");
    if (!json.has("loss")) continue;  // a validation
    EXPECT_EQ(json["update"].integer(), ++updates);
  }
  EXPECT_EQ(updates, 6);
}

// The last update's validation, which is for the model alone, is not the run's: whoever goes on from there, after the
// end or after a kill just before it, does not find it in the log.
TEST_F(TrainTest, MetricsOfARunThatGoesOnAreThoseOfOneThatNeverStopped) {
  run("stopped", 6);  // validates after update 4, and at the end
  run("stopped", 12);
  run("straight", 12);
  const auto lines = [&](const std::string& model) {
    std::vector<std::pair<Index, bool>> found;
    for (const std::string& line : read_text_lines(folder_ / model / "metrics.jsonl")) {
      const Json json = Json::parse(line, "line");
      found.emplace_back(json["update"].integer(), json.has("validation_loss"));
    }
    return found;
  };
  EXPECT_EQ(lines("stopped"), lines("straight"));
}

}  // namespace
}  // namespace heed
