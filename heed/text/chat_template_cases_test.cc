// Templates against Jinja2: tests/chat_templates/make_cases.py made the cases.
#include <gtest/gtest.h>

#include <filesystem>

#include "heed/io/json.h"
#include "heed/testing/refusal.h"
#include "heed/text/jinja/template.h"

namespace heed::jinja {
namespace {

Value value_of_json(Run& run, const Json& json) {
  switch (json.kind()) {
    case Json::Kind::null:
      return Value(None{});
    case Json::Kind::boolean:
      return Value(json.boolean());
    case Json::Kind::integer:
      return Value(static_cast<std::int64_t>(json.integer()));
    case Json::Kind::number:
      return Value(json.number());
    case Json::Kind::string:
      return Value(json.string());
    case Json::Kind::array: {
      std::vector<Value> items;
      for (const Json& item : json.items()) items.push_back(value_of_json(run, item));
      return Value::list(run, std::move(items));
    }
    default: {
      std::vector<std::pair<Value, Value>> members;
      for (const auto& [key, value] : json.members()) members.emplace_back(Value(key), value_of_json(run, value));
      return Value::dict(run, std::move(members));
    }
  }
}

TEST(ChatTemplateCases, AreWhatJinja2MakesOfThem) {
  const Json file = read_json(std::filesystem::path(HEED_SOURCE_DIR) / "tests/chat_templates/cases.json");
  const auto names = [&](jinja::Run& run) {
    Template::Names all;
    for (const auto& [name, value] : file["names"].members()) all.emplace_back(name, value_of_json(run, value));
    return all;
  };
  for (const Json& one : file["cases"].items()) {
    const std::string& source = one["template"].string();
    std::string text;
    const std::string refusal = testing::refusal([&] { text = Template(source, "place").render(names); });
    if (one.has("refused")) {
      EXPECT_TRUE(refusal.starts_with("place: line ")) << source << "\n" << one["refused"].string() << "\n" << refusal;
    } else {
      EXPECT_EQ(refusal, "no error") << source;
      EXPECT_EQ(text, one["text"].string()) << source;
    }
  }
}

}  // namespace
}  // namespace heed::jinja
