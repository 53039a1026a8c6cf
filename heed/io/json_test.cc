#include "heed/io/json.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <limits>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/utf8.h"
#include "heed/testing/refusal.h"

namespace heed {
namespace {

using testing::refusal;

TEST(Json, ReadsEveryKind) {
  const Json json = Json::parse(
      R"({"a": null, "b": true, "c": -3, "d": 2.5e3, "e": "gr\u00fc\n\ud83d\ude00", "f": [1, 2], "g": {}})");
  EXPECT_TRUE(json["a"].is_null());
  EXPECT_TRUE(json["b"].boolean());
  EXPECT_EQ(json["c"].integer(), -3);
  EXPECT_EQ(json["c"].number(), -3.0);
  EXPECT_EQ(json["d"].number(), 2500.0);
  EXPECT_EQ(json["d"].kind(), Json::Kind::number);
  EXPECT_EQ(json["e"].string(), "gr\xC3\xBC\n\xF0\x9F\x98\x80");
  EXPECT_EQ(json["f"][1].integer(), 2);
  EXPECT_EQ(json["f"].integer_list(), (std::vector<Index>{1, 2}));
  EXPECT_EQ(json["f"].number_list(), (std::vector<double>{1, 2}));
  EXPECT_EQ(json["g"].size(), 0);
  EXPECT_TRUE(json.has("g"));
  EXPECT_FALSE(json.has("h"));
}

TEST(Json, IntegersAndDoublesAreExact) {
  for (Index value :
       {Index{0}, std::numeric_limits<Index>::min(), std::numeric_limits<Index>::max(), (Index{1} << 53) + 1}) {
    EXPECT_EQ(Json::parse(Json(value).dump()).integer(), value);
  }
  for (double value : {0.1, 1.0, -0.0, 1e300, 5e-324, 1.0 / 3, 123456789012345680.0}) {
    const Json back = Json::parse(Json(value).dump());
    ASSERT_EQ(back.kind(), Json::Kind::number) << value;
    EXPECT_EQ(back.number(), value);
    EXPECT_EQ(std::signbit(back.number()), std::signbit(value));
  }
  EXPECT_EQ(Json::parse("9223372036854775808").kind(), Json::Kind::number);  // does not fit 64 bits
  EXPECT_EQ(Json::parse("9223372036854775808").number(), 9223372036854775808.0);
}

TEST(Json, FloatsKeepTheirBitsInFewDigits) {
  const std::vector<float> values = {0.1f, 1.0f / 3, 1e-38f, 3.4028235e38f, 1.0f};
  const Json list = Json::array_of(std::span<const float>(values));
  EXPECT_EQ(list.dump().substr(0, 16), "[0.1,0.33333334,");
  const std::vector<double> back = Json::parse(list.dump()).number_list();
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_EQ(static_cast<float>(back[i]), values[i]);
}

TEST(Json, KeepsTheOrderOfKeys) {
  const std::string text = R"({"z":1,"a":{"y":[],"b":"\"\\\u0001"},"m":1.5})";
  EXPECT_EQ(Json::parse(text).dump(), text);
}

// Those above U+007E need no escape by the standard; a terminal that shows them would obey them.
TEST(Json, WritesEveryControlCharacterAsAnEscape) {
  const Json json(
      "a\x1B\x7F\xC2\x9B"
      "\xC2\xA0\xC3\x9B");
  EXPECT_EQ(json.dump(), "\"a\\u001b\\u007f\\u009b\xC2\xA0\xC3\x9B\"");
  EXPECT_EQ(Json::parse(json.dump()), json);
}

TEST(Json, IndentsWithPlainListsOnOneLine) {
  const Json json = Json::object(
      {{"a", Json::array({1, 2})}, {"b", Json::array({Json::object({{"c", nullptr}})})}, {"d", Json::object()}});
  EXPECT_EQ(json.dump(2), "{\n  \"a\": [1, 2],\n  \"b\": [\n    {\n      \"c\": null\n    }\n  ],\n  \"d\": {}\n}");
  EXPECT_EQ(Json::parse(json.dump(2)), json);
}

TEST(Json, CopiesAreIndependent) {
  Json a = Json::object({{"x", 1}});
  const Json b = a;
  a.set("x", 2);
  a.set("y", Json::array({a}));
  EXPECT_EQ(b.dump(), R"({"x":1})");
  EXPECT_EQ(a.dump(), R"({"x":2,"y":[{"x":2}]})");
  Json inner = a["y"];
  inner.append("z");
  EXPECT_EQ(a["y"].size(), 1);
  EXPECT_EQ(inner.size(), 2);
}

TEST(Json, AMemberOutlivesItsDocument) {
  const Json member = Json::parse(R"({"a": {"b": "text that is too long for a small string"}})")["a"]["b"];
  EXPECT_EQ(member.string(), "text that is too long for a small string");
}

TEST(Json, ErrorsNameTheFileThePlaceTheRuleAndTheValue) {
  const Json config = Json::parse(R"({"layers": 0, "model": {"sizes": [1, "two", [3]]}, "rate": 1e99})", "config.json");
  EXPECT_EQ(refusal([&] { config["layers"].integer(1, 1024); }),
            "config.json: layers: must be an integer from 1 to 1024, but is 0");
  EXPECT_EQ(refusal([&] { config["model"]["sizes"][1].integer(1); }),
            "config.json: model.sizes[1]: must be an integer of at least 1, but is \"two\"");
  EXPECT_EQ(refusal([&] { config["model"]["sizes"].number_list(); }),
            "config.json: model.sizes[1]: must be a number, but is \"two\"");
  EXPECT_EQ(refusal([&] { config["model"]["sizes"][2].string(); }),
            "config.json: model.sizes[2]: must be a string, but is an array of 1");
  EXPECT_EQ(refusal([&] { config["rate"].integer(); }), "config.json: rate: must be an integer, but is 1e+99");
  EXPECT_EQ(refusal([&] { config["model"]["depth"]; }), "config.json: model: the key \"depth\" is missing");
  EXPECT_EQ(refusal([&] { config["model"]["sizes"][3]; }),
            "config.json: model.sizes: item 3 was asked for, but there are 3");
  EXPECT_EQ(refusal([&] { config["layers"]["x"]; }),
            "config.json: layers: must be an object with the key \"x\", but is 0");
  EXPECT_EQ(refusal([&] { config.items(); }), "config.json: must be an array, but is an object with 3 keys");
  EXPECT_EQ(refusal([&] {
              config["model"].allow_only({"size", "depth"});
            }),
            "config.json: model: unknown key \"sizes\"; the keys are: size, depth");
}

TEST(Json, ErrorsShowLongValuesCutShortBetweenCharacters) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "\xC3\xBC";
  const std::string error = refusal([&] { Json(text).integer(); });
  EXPECT_LT(error.size(), 150u);
  EXPECT_TRUE(valid_utf8(error)) << error;
}

TEST(JsonParse, RefusesWhatIsNotJson) {
  for (const char* text :
       {"",    " ",        "{",   "[1,]", "{\"a\":}", "{\"a\" 1}", "{a: 1}",      "nul",         "01",    "1.",    "+1",
        "NaN", "Infinity", "1 2", "'a'",  "\"\n\"",   "\"\\x\"",   "\"\\ud800\"", "[1] // note", "1e999", "-1e999"}) {
    EXPECT_NE(refusal([&] { Json::parse(text, "f.json"); }).find("f.json:1: byte "), std::string::npos)
        << text << ": " << refusal([&] { Json::parse(text, "f.json"); });
  }
}

TEST(JsonParse, NamesTheLineAndByte) {
  const std::string error = refusal([] { Json::parse("{\n \"a\": 1,\n \"b\" 2}", "f.json"); });
  EXPECT_EQ(error.substr(0, 35), "f.json:3: byte 17: not valid JSON: ") << error;
  EXPECT_EQ(error.find("json.exception"), std::string::npos) << error;
  EXPECT_EQ(refusal([] { Json::parse("[\n\"a\xFF\"]", "f.json"); }), "f.json:2: byte 5: not valid UTF-8");
}

TEST(JsonParse, ANulByteDoesNotHideWhatFollows) {
  EXPECT_EQ(refusal([] { Json::parse(std::string("1\0garbage", 9), "f"); }), "f:1: byte 2: not valid JSON: a NUL byte");
}

TEST(JsonParse, RefusesAKeyThatAppearsTwice) {
  EXPECT_EQ(refusal([] { Json::parse(R"({"a": {"x": 1}, "b": {"x": 1}, "a": 2})", "f"); }),
            "f: the key \"a\" appears twice in one object");
  EXPECT_THROW(Json::parse(R"([{"a": 1, "\u0061": 2}])"), Error);
  EXPECT_THROW(Json::object({{"a", 1}, {"a", 2}}), Error);
}

TEST(JsonParse, DeepNestingIsAnErrorAndNotACrash) {
  EXPECT_NO_THROW(Json::parse(std::string(200, '[') + std::string(200, ']')));
  EXPECT_THROW(Json::parse(std::string(201, '[') + std::string(201, ']')), Error);
  EXPECT_THROW(Json::parse(std::string(1000000, '[')), Error);
  std::string objects;
  for (int i = 0; i < 100000; ++i) objects += "{\"a\":";
  EXPECT_THROW(Json::parse(objects), Error);
  Json deep = Json::array();
  for (int i = 0; i < 200; ++i) deep = Json::array({deep});
  EXPECT_THROW(deep.dump(), Error);
}

TEST(JsonDump, RefusesWhatJsonCannotHold) {
  EXPECT_THROW(Json(std::nan("")).dump(), Error);
  EXPECT_THROW(Json(std::numeric_limits<double>::infinity()).dump(), Error);
  EXPECT_THROW(Json("\xFF").dump(), Error);
  EXPECT_THROW(Json(std::nan("")).string(), Error);  // the message can be made
  EXPECT_THROW(Json("\xFF").integer(), Error);
}

TEST(Json, ListsOfNumbersAreArraysLikeAnyOther) {
  // Held as numbers alone, as mixed items, and grown from one to the other: the same value.
  const Json integers = Json::parse("[1, 2, 3]", "f.json"), numbers = Json::parse("[0.5, 2.0]", "f.json"),
             mixed = Json::parse("[1, 2.5, \"a\", [3]]", "f.json");
  EXPECT_EQ(integers, Json::array({1, 2, 3}));
  EXPECT_EQ(integers, Json::array_of(std::vector<Index>{1, 2, 3}));
  EXPECT_EQ(numbers, Json::array_of(std::vector<float>{0.5f, 2.0f}));
  EXPECT_EQ(Json::array(), Json::array_of(std::vector<Index>{}));
  EXPECT_EQ(Json::array(), Json::array_of(std::vector<double>{}));
  EXPECT_NE(Json::parse("[1, 2]"), Json::parse("[1.0, 2.0]"));
  Json grown = Json::array();
  grown.append(1);
  grown.append(2.5);
  grown.append("a");
  grown.append(Json::array({3}));
  EXPECT_EQ(grown, mixed);
  for (const Json& json : {integers, numbers, mixed}) {
    EXPECT_EQ(json.kind(), Json::Kind::array);
    EXPECT_EQ(static_cast<Index>(json.items().size()), json.size());
    EXPECT_EQ(Json::parse(json.dump()), json);
    EXPECT_EQ(Json::parse(json.dump(2)), json);
  }
  EXPECT_EQ(integers.number_list(), (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(numbers.float_list(), (std::vector<float>{0.5f, 2.0f}));
  EXPECT_EQ(Json::parse("[1, 2.5]").float_list(), (std::vector<float>{1, 2.5f}));
  EXPECT_EQ(integers[2].integer(), 3);
  EXPECT_EQ(integers.items()[0].integer(), 1);
  EXPECT_EQ(refusal([&] { integers[3]; }), "f.json: item 3 was asked for, but there are 3");
}

TEST(Json, AnItemOfAListOfNumbersKnowsItsPlace) {
  const Json file = Json::parse(R"({"a": [{"b": [1, 2]}, [0.5]]})", "f.json");
  const auto item = [&] { return file["a"][0]["b"][1]; };
  EXPECT_EQ(item().where(), "f.json: a[0].b[1]");
  EXPECT_EQ(refusal([&] { item().string(); }), "f.json: a[0].b[1]: must be a string, but is 2");
  EXPECT_EQ(refusal([&] { file["a"][0]["b"].integer_list(2); }),
            "f.json: a[0].b[0]: must be an integer of at least 2, but is 1");
  EXPECT_EQ(refusal([&] { file["a"][0]["b"].string_list(); }), "f.json: a[0].b[0]: must be a string, but is 1");
  EXPECT_EQ(refusal([&] { file["a"][1].integer_list(); }), "f.json: a[1][0]: must be an integer, but is 0.5");
  EXPECT_EQ(Json::parse("[7]")[0].where(), "JSON: [0]");
}

TEST(JsonParseMembers, HandsThemOverInTheirOrderWithTheirPlaces) {
  std::vector<std::string> seen;
  const auto visit = [&](std::span<const std::string> path, const Json& value) {
    seen.push_back(fmt::format("{}={}@{}", fmt::join(path, "/"), value.dump(), value.where()));
  };
  const std::string text = R"({"a": {"x": [1]}, "m": {"k": "v", "n": {"k": 2}}, "": 3})";
  Json::parse_members(text, "f", visit, "m");
  EXPECT_EQ(seen, (std::vector<std::string>{R"(a={"x":[1]}@f: a)", R"(m/k="v"@f: m.k)", R"(m/n={"k":2}@f: m.n)",
                                            "m={}@f: m", "=3@f"}));
  seen.clear();
  Json::parse_members(R"({"m": [{"k": 1}]})", "f", visit, "m");
  EXPECT_EQ(seen, std::vector<std::string>{R"(m=[{"k":1}]@f: m)"});
  EXPECT_EQ(refusal([&] {
              Json::parse_members(R"({"m": {"k": 7}})", "f",
                                  [](std::span<const std::string>, const Json& value) { value.string(); }, "m");
            }),
            "f: m.k: must be a string, but is 7");
}

TEST(JsonParseMembers, AMemberIsSmallAndTheyAreMany) {
  const auto members = [](int count, int values) {
    std::string text = "{\"m\":{\"\":0";
    for (int i = 0; i < count; ++i) {
      text += fmt::format(",\"{}\":[0", i);
      for (int k = 1; k < values; ++k) text += k % 2 ? ",{}" : ",[]";
      text += ']';
    }
    return text + "}}";
  };
  Index seen = 0;
  const auto count = [&](std::span<const std::string>, const Json&) { ++seen; };
  const int most = Json::kMostMemberValues - 1;  // and the array itself
  Json::parse_members(members(3, most), "f", count, "m");
  EXPECT_EQ(seen, 5);
  EXPECT_EQ(refusal([&] { Json::parse_members(members(1, most + 1), "f", count, "m"); }),
            "f: m.0: holds more than 1024 values");
  EXPECT_EQ(refusal([&] { Json::parse_members(members(3, 1000), "f", count); }), "f: m: holds more than 1024 values");
}

TEST(JsonParseMembers, RefusesWhatIsNotAnObject) {
  const auto visit = [](std::span<const std::string>, const Json&) {};
  for (const char* text : {"[1]", "7", "\"a\"", "null"}) {
    EXPECT_EQ(refusal([&] { Json::parse_members(text, "f", visit); }), "f: must be an object") << text;
  }
  EXPECT_EQ(refusal([&] { Json::parse_members(R"({"a":1,"a":2})", "f", visit); }),
            "f: the key \"a\" appears twice in one object");
  EXPECT_EQ(refusal([&] { Json::parse_members("{\"a\":1", "f", visit); }).substr(0, 12), "f:1: byte 7:");
}

TEST(JsonFile, RoundTripsAndNamesTheFile) {
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "heed_json_test";
  make_folder(folder);
  const Json json = Json::object({{"name", "base"}, {"sizes", Json::array({1, 2.5, false})}});
  write_json(folder / "a.json", json);
  EXPECT_EQ(read_json(folder / "a.json"), json);
  EXPECT_NE(refusal([&] { read_json(folder / "a.json")["name"].number(); }).find("a.json: name: must be a number"),
            std::string::npos);
  EXPECT_THROW(read_json(folder / "absent.json"), Error);
  std::filesystem::remove_all(folder);
}

TEST(Json, AValueMayBeNamedAnew) {
  const Json made = Json::object({{"a", Json::array({1, "x"})}});
  const Json named = made.named("file.json");
  EXPECT_EQ(named, made);
  EXPECT_EQ(named["a"][Index{1}].where(), "file.json: a[1]");
  EXPECT_EQ(made["a"][Index{1}].where().find("file.json"), std::string::npos);
}

}  // namespace
}  // namespace heed
