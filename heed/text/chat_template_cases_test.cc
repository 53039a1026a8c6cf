// Templates against Jinja2: tests/chat_templates/make_cases.py made the cases.
#include <gtest/gtest.h>

#include <filesystem>

#include "heed/testing/refusal.h"
#include "heed/text/jinja/json_value.h"
#include "heed/text/jinja/template.h"

namespace heed::jinja {
namespace {

TEST(ChatTemplateCases, AreWhatJinja2MakesOfThem) {
  const Json file = read_json(std::filesystem::path(HEED_SOURCE_DIR) / "tests/chat_templates/cases.json");
  const auto names = [&](jinja::Run& run) {
    Template::Names all;
    for (const auto& [name, value] : file["names"].members()) all.emplace_back(name, value_of(run, value));
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
