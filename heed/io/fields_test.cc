#include "heed/io/fields.h"

#include <gtest/gtest.h>

#include <cmath>
#include <span>

#include "heed/testing/refusal.h"

namespace heed {
namespace {

using testing::refusal;

enum class Norm { pre, post };
std::span<const std::pair<std::string_view, Norm>> enum_names(Norm) {
  static constexpr std::pair<std::string_view, Norm> kNames[] = {{"pre", Norm::pre}, {"post", Norm::post}};
  return kNames;
}

struct Schedule {
  double rate = 0.1;
  int warmup = 4000;
  template <typename V>
  friend void visit_fields(Schedule& s, V&& visit) {
    visit("rate", s.rate, "The highest rate.");
    visit("warmup", s.warmup, "Updates until then.");
  }
};

struct Options {
  Index layers = 6;
  bool bias = true;
  float eps = 1e-5f;
  std::string name = "base";
  Norm norm = Norm::pre;
  Schedule schedule;
  std::vector<Index> sizes = {1, 2};
  template <typename V>
  friend void visit_fields(Options& o, V&& visit) {
    visit("layers", o.layers, "Layers.");
    visit("bias", o.bias, "With biases.");
    visit("eps", o.eps, "Added to a variance.");
    visit("name", o.name, "A name.");
    visit("norm", o.norm, "Where a layer normalises.");
    visit("schedule", o.schedule, "The learning rate.");
    visit("sizes", o.sizes, "Sizes.");
  }
};

TEST(Fields, WriteInOrderAndReadBack) {
  Options options;
  options.layers = 2;
  options.norm = Norm::post;
  options.schedule.warmup = 7;
  options.sizes = {};
  const std::string text = to_json(options).dump();
  EXPECT_EQ(text, R"({"layers":2,"bias":true,"eps":1e-05,"name":"base","norm":"post",)"
                  R"("schedule":{"rate":0.1,"warmup":7},"sizes":[]})");
  Options back;
  from_json(Json::parse(text), back);
  EXPECT_EQ(to_json(back).dump(), text);
  EXPECT_EQ(back.norm, Norm::post);
  EXPECT_EQ(back.eps, 1e-5f);
}

TEST(Fields, UnknownKeysAreErrorsAndMissingOnesWhereAsked) {
  Options options;
  EXPECT_EQ(refusal([&] { from_json(Json::parse(R"({"layer": 2})", "c.json"), options, Missing::keep_default); }),
            "c.json: unknown key \"layer\"; the keys are: layers, bias, eps, name, norm, schedule, sizes");
  EXPECT_EQ(refusal([&] { from_json(Json::parse(R"({"layers": 2})", "c.json"), options); }),
            "c.json: the key \"bias\" is missing");
  from_json(Json::parse(R"({"layers": 2, "schedule": {"warmup": 1}})"), options, Missing::keep_default);
  EXPECT_EQ(options.layers, 2);
  EXPECT_EQ(options.schedule.warmup, 1);
  EXPECT_EQ(options.schedule.rate, 0.1);
  EXPECT_EQ(options.name, "base");
}

struct Grown {
  Index width = 1, window = 8;
  static constexpr std::string_view kLaterFields[] = {"window"};
  template <typename V>
  friend void visit_fields(Grown& g, V&& visit) {
    visit("width", g.width, "There from the start.");
    visit("window", g.window, "Added since.");
  }
};

TEST(Fields, OnlyLaterFieldsMayBeMissing) {
  Grown grown;
  from_json(Json::parse(R"({"width": 2})"), grown);
  EXPECT_EQ(grown.width, 2);
  EXPECT_EQ(grown.window, 8);
  from_json(Json::parse(R"({"width": 2, "window": 3})"), grown);
  EXPECT_EQ(grown.window, 3);
  EXPECT_EQ(refusal([&] { from_json(Json::parse(R"({"window": 2})", "c.json"), grown); }),
            "c.json: the key \"width\" is missing");
}

TEST(Fields, WrongTypesNameTheKeyAndChangeNothing) {
  Options options;
  const auto error = [&](const char* text) {
    return refusal([&] { from_json(Json::parse(text, "c.json"), options, Missing::keep_default); });
  };
  EXPECT_EQ(error(R"({"layers": 2, "bias": 1})"), "c.json: bias: must be true or false, but is 1");
  EXPECT_EQ(error(R"({"layers": 2.5})"), "c.json: layers: must be an integer, but is 2.5");
  EXPECT_EQ(error(R"({"schedule": {"warmup": 3000000000}})"),
            "c.json: schedule.warmup: must be an integer from -2147483648 to 2147483647, but is 3000000000");
  EXPECT_EQ(error(R"({"eps": 1e99})"), "c.json: eps: must fit a float, but is 1e+99");
  EXPECT_EQ(error(R"({"norm": "none"})"), "c.json: norm: must be one of pre, post, but is \"none\"");
  EXPECT_EQ(error(R"({"norm": 1})"), "c.json: norm: must be one of pre, post, but is 1");
  EXPECT_EQ(error(R"({"sizes": [1, "2"]})"), "c.json: sizes[1]: must be an integer, but is \"2\"");
  EXPECT_EQ(error("[]"), "c.json: must be an object, but is an array of 0");
  EXPECT_EQ(options.layers, 6);
}

struct Bounded {
  Index layers = 6;
  double dropout = 0.1, bias = 0;
  bool linear = false;
  template <typename V>
  friend void visit_fields(Bounded& b, V&& visit) {
    visit("layers", b.layers, "Layers.", NumberRange::from(1, 1024));
    visit("dropout", b.dropout, "Dropout.", NumberRange::from_below(0, 1));
    visit("bias", b.bias, "Added.");
    visit("linear", b.linear, "No activation.");
  }
};

TEST(Fields, NumbersOutsideTheirRangesAreNamed) {
  const auto error = [](const Bounded& options) { return refusal([&] { check_ranges(options, "Model"); }); };
  EXPECT_EQ(error({}), "no error");
  EXPECT_EQ(error({.layers = 0}), "Model: layers must be from 1 to 1024, but is 0");
  EXPECT_EQ(error({.dropout = 1}), "Model: dropout must be from 0 to below 1, but is 1");
  EXPECT_EQ(error({.dropout = std::nan("")}), "Model: dropout must be from 0 to below 1, but is nan");
  EXPECT_EQ(error({.bias = -5}), "no error");
  EXPECT_EQ(error({.bias = INFINITY}), "Model: bias must be finite, but is inf");
  EXPECT_EQ(to_json(Bounded{}).dump(), R"({"layers":6,"dropout":0.1,"bias":0.0,"linear":false})");
}

TEST(EnumNames, NameAndChoices) {
  EXPECT_EQ(enum_name(Norm::post), "post");
  EXPECT_EQ(enum_name(static_cast<Norm>(9)), "");
  EXPECT_EQ(enum_choices<Norm>(), "pre, post");
  Norm norm = Norm::pre;
  EXPECT_TRUE(enum_from_name("post", norm));
  EXPECT_EQ(norm, Norm::post);
  EXPECT_FALSE(enum_from_name("Post", norm));
}

}  // namespace
}  // namespace heed
