#include "heed/io/json_stream.h"

#include <gtest/gtest.h>

#include <limits>

#include "heed/testing/refusal.h"

namespace heed {
namespace {

using testing::refusal;

TEST(JsonStream, GivesTheBytesThatDumpGives) {
  const std::vector<float> weights = {0.1f, 1.0f / 3, 0, 1e-9f};
  const Json inner = Json::object({{"list", Json::array({1, "a"})}, {"none", Json()}, {"empty", Json::array()}});
  const Json whole = Json::object({{"name", "x\n"},
                                   {"weights", Json::array_of(weights)},
                                   {"counts", Json::array({1, 2})},
                                   {"nothing", Json::object()},
                                   {"inner", Json::array({inner, inner})}});
  for (int indent : {0, 1, 2}) {
    std::string text;
    JsonStream json([&](std::string_view piece) { text += piece; }, indent);
    json.open_object();
    json.key("name"), json.value("x\n");
    json.key("weights"), json.open_list();
    for (float weight : weights) json.number(weight);
    json.close();
    json.key("counts"), json.open_list(), json.integer(1), json.integer(2), json.close();
    json.key("nothing"), json.open_object(), json.close();
    json.key("inner"), json.open_array(), json.value(inner), json.value(inner), json.close();
    json.close();
    json.finish();
    EXPECT_EQ(text, whole.dump(indent));
  }
}

TEST(JsonStream, PiecesAreSmallAndDivideNothing) {
  std::string text;
  std::size_t largest = 0, pieces = 0;
  JsonStream json([&](std::string_view piece) {
    EXPECT_TRUE(piece.ends_with("\"") || piece.ends_with("]") || piece.ends_with("7"))
        << piece.substr(piece.size() - 9);
    text += piece;
    largest = std::max(largest, piece.size());
    ++pieces;
  });
  json.open_list();
  for (int i = 0; i < 100'000; ++i) i % 3 ? json.integer(-1234567) : json.value("\xC3\xBC");
  json.close();
  json.finish();
  EXPECT_GT(pieces, 5u);
  EXPECT_LT(largest, 70'000u);
  EXPECT_EQ(Json::parse(text).size(), 100'000);
}

TEST(JsonStream, RefusesWhatJsonCannotHold) {
  JsonStream json([](std::string_view) {});
  EXPECT_EQ(refusal([&] { json.number(std::numeric_limits<double>::infinity()); }),
            "Json::dump: JSON cannot hold the number inf");
  EXPECT_NE(refusal([&] { json.value("\xFF"); }).find("not valid UTF-8"), std::string::npos);
}

}  // namespace
}  // namespace heed
