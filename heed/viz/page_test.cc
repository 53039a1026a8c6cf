#include "heed/viz/page.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/file_writer.h"
#include "heed/base/random.h"
#include "heed/base/utf8.h"
#include "heed/io/base64.h"
#include "heed/io/json.h"
#include "heed/observe/trace_file.h"
#include "heed/testing/refusal.h"
#include "heed/viz/page_files.h"

namespace heed {
namespace {

AttentionTrace hostile_trace() {
  AttentionTrace trace;
  trace.model = "model & <co>";
  trace.source.text = "</script><script>alert(1)</script> \u2028 {{data}}";
  trace.target.text = "x";
  trace.source.tokens = {"</script>", "<!--", "\"'\\", "שלום", "😀", "<b>", "\u2028", "\u202E", "{{script}}"};
  trace.decoder.tokens = {"<s>", "▁Haus", "\n"};
  trace.target.tokens = {"▁Haus", "\n", "&lt;"};
  AttentionTrace::Map map{"decoder.layers.1.multihead_attn", 1, AttentionKind::cross, 4, 3, 9, {}};
  Rng rng(5);
  for (int i = 0; i < 4 * 3 * 9; ++i) map.weights.push_back(static_cast<float>(rng.uniform()));
  trace.maps.push_back(map);
  trace.maps.push_back({"attention", 0, AttentionKind::decoder, 1, 3, 3, {1, 0, 0, -3e38F, 3e38F, 0, 0, 0, 1}});
  trace.maps[1].q = {{1, 3, 2}, {1, 2, 3, 4, 5, 6.25F}};
  trace.maps[1].k = {{1, 3, 2}, {0, 1, 0, 1, 0, 1}};
  trace.maps[1].scale = 0.5;
  return trace;
}

std::string page_of(const AttentionTrace& trace, const PageOptions& options = {}) {
  const std::string test = ::testing::UnitTest::GetInstance()->current_test_info()->name();
  const std::filesystem::path path = std::filesystem::path(::testing::TempDir()) / ("heed_page_" + test + ".html");
  write_attention_page(path, {&trace, 1}, options);
  std::string page = read_file(path);
  std::filesystem::remove(path);
  return page;
}

Json data_of(const std::string& page) {
  const std::string_view open = R"(<script type="application/json">)";
  const std::size_t begin = page.find(open) + open.size();
  return Json::parse(std::string_view(page).substr(begin, page.find("</script>", begin) - begin), "page");
}

Index count(std::string_view text, std::string_view part) {
  Index found = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
  return found;
}

// The numbers of {"shape", "min", "max", "u16"}.
std::vector<double> unpacked(const Json& packed) {
  const std::string bytes = base64_bytes(packed["u16"].string(), "u16");
  const double least = packed["min"].number(), most = packed["max"].number();
  std::vector<double> values;
  for (std::size_t i = 0; i + 1 < bytes.size(); i += 2) {
    const int step = static_cast<unsigned char>(bytes[i]) | static_cast<unsigned char>(bytes[i + 1]) << 8;
    values.push_back(least + (most - least) * step / 65535);
  }
  return values;
}

TEST(AttentionPage, ItsDataAreAFileOfTheTracesWithPackedWeights) {
  const AttentionTrace trace = hostile_trace();
  const Json data = data_of(page_of(trace));
  EXPECT_EQ(data["palette"].string().size(), 6U * 256);
  EXPECT_EQ(data["language"].string(), "en");
  EXPECT_FALSE(data["embedded"].boolean());
  const Json first = data["file"]["traces"][0];
  const std::vector<double> weights = unpacked(first["maps"][0]["weights"]);
  ASSERT_EQ(weights.size(), trace.maps[0].weights.size());
  for (std::size_t i = 0; i < weights.size(); ++i) EXPECT_NEAR(weights[i], trace.maps[0].weights[i], 1.0 / 65535);
  EXPECT_EQ(first["maps"][0]["weights"]["shape"].integer_list(), (std::vector<Index>{4, 3, 9}));
  EXPECT_EQ(base64_bytes(first["maps"][1]["q"]["f32"].string(), "q").size(), 6U * 4);
  // Without its weights, what is there is what write_traces would write.
  std::string file = traces_to_text({&trace, 1});
  const Json written = Json::parse(file, "file")["traces"][0];
  for (const char* field : {"model", "source", "decoder", "target"})
    EXPECT_EQ(first[field].dump(), written[field].dump());
}

TEST(AttentionPage, HostileTextNeitherEndsTheDataNorStartsMarkup) {
  const std::string page = page_of(hostile_trace());
  EXPECT_EQ(count(page, "<script"), 2);
  EXPECT_EQ(count(page, "</script"), 2);
  EXPECT_EQ(count(page, "<b>"), 0);
  EXPECT_EQ(count(page, "\u2028"), 0);
  EXPECT_EQ(count(page, "<title>Attention · model &amp; &lt;co&gt;</title>"), 1);
  EXPECT_EQ(count(page, "{{data}}"), 1);  // the sentence's own, which is no place to fill
  EXPECT_EQ(count(page, "{{script}}"), 1);
  EXPECT_TRUE(valid_utf8(page));
}

TEST(AttentionPage, LoadsNothing) {
  const std::string page = page_of(hostile_trace());
  EXPECT_EQ(count(page, "https://"), 0);
  const char *svg = "http://www.w3.org/2000/svg", *formulas = "http://www.w3.org/1998/Math/MathML";
  EXPECT_EQ(count(page, "http://"), count(page, svg) + count(page, formulas));
  for (const char* part :
       {" src=", "@import", "<link", "<iframe", "fetch(", "XMLHttpRequest", "import(", "innerHTML"}) {
    EXPECT_EQ(count(page, part), 0) << part;
  }
}

TEST(AttentionPage, ItsContentPolicyForbidsAllButItsOwnScript) {
  const std::string page = page_of(hostile_trace());
  EXPECT_EQ(count(page, "default-src 'none'"), 1);
  EXPECT_EQ(count(page, fmt::format("script-src '{}'", kPageSha256)), 1);
  EXPECT_EQ(count(page, "unsafe"), 0);
  EXPECT_EQ(kPageSha256.size(), std::string_view("sha256-").size() + 44);
  EXPECT_EQ(count(page, fmt::format("<script>{}</script>", kPageJs)), 1);
}

TEST(AttentionPage, WithoutItsDataIsUnder400Kilobytes) {
  EXPECT_LT(kPageHtml.size() + kFragmentHtml.size() + kPageJs.size(), 400'000U);
}

TEST(AttentionPage, OpensInTheLanguageThatIsAskedFor) {
  const std::string page = page_of(hostile_trace(), {.language = "zh"});
  EXPECT_EQ(count(page, "<html lang=\"zh\">"), 1);
  EXPECT_EQ(data_of(page)["language"].string(), "zh");
  EXPECT_THROW(page_of(hostile_trace(), {.language = "tlh"}), Error);
}

TEST(AttentionPage, AFragmentIsThePageWithoutItsDocument) {
  const std::string fragment = page_of(hostile_trace(), {.fragment = true});
  EXPECT_TRUE(fragment.starts_with("<div class=\"heed-attention\">"));
  EXPECT_EQ(count(fragment, "<html"), 0);
  EXPECT_EQ(count(fragment, "Content-Security-Policy"), 0);
  EXPECT_TRUE(data_of(fragment)["embedded"].boolean());
}

TEST(AttentionPage, WithoutTracesThereIsAPageForThoseWhoLearn) {
  const std::filesystem::path path = std::filesystem::path(::testing::TempDir()) / "heed_teaching_page.html";
  write_teaching_page(path, {.language = "zh", .opens = "view=walk&walk.example=luong"});
  const std::string page = read_file(path);
  const Json data = data_of(page);
  EXPECT_EQ(data["language"].string(), "zh");
  EXPECT_EQ(data["opens"].string(), "view=walk&walk.example=luong");
  EXPECT_TRUE(data["file"]["traces"].items().empty());
  EXPECT_EQ(count(page, "<title>Attention</title>"), 1);
  EXPECT_EQ(testing::refusal([&] { write_teaching_page(path, {.language = "tlh"}); }),
            "write_teaching_page: the language must be en or zh, but is tlh");
  std::filesystem::remove(path);
}

TEST(AttentionPage, AsTextIsWhatTheFileHolds) {
  const AttentionTrace trace = hostile_trace();
  EXPECT_EQ(attention_page({&trace, 1}), page_of(trace));
  EXPECT_THROW(attention_page({}), Error);
}

TEST(AttentionPage, TheSameTracesGiveTheSameBytes) { EXPECT_EQ(page_of(hostile_trace()), page_of(hostile_trace())); }

TEST(AttentionPage, RefusesWhatItCannotShow) {
  const std::filesystem::path path = std::filesystem::path(::testing::TempDir()) / "heed_page_refused.html";
  write_file(path, "old");
  EXPECT_THROW(write_attention_page(path, {}), Error);
  EXPECT_EQ(read_file(path), "old");
  std::filesystem::remove(path);
  AttentionTrace trace = hostile_trace();
  trace.maps.clear();
  EXPECT_THROW(page_of(trace), Error);
  trace = hostile_trace();
  trace.maps[0].weights[0] = std::nanf("");
  EXPECT_THROW(page_of(trace), Error);
  trace = hostile_trace();
  trace.source.tokens[0] = "\xFF";
  EXPECT_THROW(page_of(trace), Error);
  constexpr Index kQueries = 800, kWidth = 65536;  // few weights, and many numbers that they are of
  trace = {};
  trace.source.tokens = {"x"};
  trace.target.tokens.assign(kQueries, "x");
  trace.maps = {{"p", 0, AttentionKind::cross, 1, kQueries, 1, std::vector<float>(kQueries)}};
  trace.maps[0].q = {{1, kQueries, kWidth}, std::vector<float>(kQueries * kWidth)};
  trace.maps[0].k = {{1, 1, kWidth}, std::vector<float>(kWidth)};
  EXPECT_EQ(testing::refusal([&] { page_of(trace); }),
            "write_attention_page: traces[0]: a page holds at most 50000000 numbers, but with this one there are "
            "52495136");
  trace = {};
  trace.maps.push_back({"p", 0, AttentionKind::cross, 1, 0, 0, {}});
  EXPECT_THROW(page_of(trace), Error);
}

}  // namespace
}  // namespace heed
