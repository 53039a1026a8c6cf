#include "heed/viz/page.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/file_writer.h"
#include "heed/base/random.h"
#include "heed/base/utf8.h"
#include "heed/io/json.h"
#include "heed/viz/page_files.h"

namespace heed {
namespace {

AttentionTrace sample() {
  AttentionTrace trace;
  trace.model = "model & <co>";
  trace.source_text = "</script><script>alert(1)</script> \u2028 {{data}}";
  trace.target_text = "x";
  trace.source_tokens = {"</script>", "<!--", "\"'\\", "שלום", "😀", "<b>", "\u2028", "\u202E", "{{script}}"};
  trace.decoder_tokens = {"<s>", "▁Haus", "\n"};
  trace.target_tokens = {"▁Haus", "\n", "&lt;"};
  AttentionTrace::Map map{"decoder.layers.1.multihead_attn", AttentionKind::cross, 4, 3, 9, {}};
  Rng rng(5);
  for (int i = 0; i < 4 * 3 * 9; ++i) map.weights.push_back(static_cast<float>(rng.uniform()));
  trace.maps.push_back(map);
  trace.maps.push_back({"attention", AttentionKind::decoder, 1, 3, 3, {1, 0, 0, -3e38F, 3e38F, 0, 0, 0, 1}});
  return trace;
}

std::string page_of(const AttentionTrace& trace) {
  const std::filesystem::path path = std::filesystem::path(::testing::TempDir()) / "heed_page_test.html";
  write_attention_page(path, {&trace, 1});
  std::string page = read_file(path);
  std::filesystem::remove(path);
  return page;
}

Json data_of(const std::string& page) {
  const std::string_view open = R"(<script id="data" type="application/json">)";
  const std::size_t begin = page.find(open) + open.size();
  return Json::parse(std::string_view(page).substr(begin, page.find("</script>", begin) - begin), "page");
}

Index count(std::string_view text, std::string_view part) {
  Index found = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(AttentionPage, ItsDataAreTheTracesToThreeDecimals) {
  const AttentionTrace trace = sample();
  const Json data = data_of(page_of(trace));
  const Json map = data["traces"][0]["maps"][0];
  EXPECT_EQ(map["path"].string(), "decoder.layers.1.multihead_attn");
  EXPECT_EQ(map["kind"].string(), "cross");
  EXPECT_EQ(map["layer"].integer(), 1);
  EXPECT_EQ(map["heads"].integer(), 4);
  EXPECT_EQ(map["queries"].integer(), 3);
  EXPECT_EQ(map["keys"].integer(), 9);
  const std::vector<Index> weights = map["weights"].integer_list();
  ASSERT_EQ(weights.size(), trace.maps[0].weights.size());
  for (std::size_t i = 0; i < weights.size(); ++i) {
    EXPECT_NEAR(static_cast<double>(weights[i]) / 1000, trace.maps[0].weights[i], 0.0005 + 1e-9);
  }
  EXPECT_TRUE(data["traces"][0]["maps"][1]["layer"].is_null());
  EXPECT_EQ(data["light"].size(), 256);
  EXPECT_EQ(data["dark"].size(), 256);
  EXPECT_EQ(data["traces"][0]["decoder"].string_list(), (std::vector<std::string>{"<s>", "▁Haus", "␊"}));
  EXPECT_EQ(data["traces"][0]["target"].string_list(), (std::vector<std::string>{"▁Haus", "␊", "&lt;"}));
  EXPECT_EQ(data["traces"][0]["source"][0].string(), "</script>");
  EXPECT_EQ(data["traces"][0]["source"][3].string(), "שלום");
}

TEST(AttentionPage, HostileTextNeitherEndsTheDataNorStartsMarkup) {
  const std::string page = page_of(sample());
  EXPECT_EQ(count(page, "<script"), 2);
  EXPECT_EQ(count(page, "</script"), 2);
  EXPECT_EQ(count(page, "<b>"), 0);
  EXPECT_EQ(count(page, "\u2028"), 0);
  EXPECT_EQ(count(page, "\u202E"), 0);
  EXPECT_EQ(count(page, "<title>Attention · model &amp; &lt;co&gt;</title>"), 1);
  EXPECT_EQ(count(page, "{{data}}"), 1);  // the sentence's own, which is no place to fill
  EXPECT_EQ(count(page, "{{script}}"), 1);
  EXPECT_TRUE(valid_utf8(page));
}

TEST(AttentionPage, LoadsNothing) {
  const std::string page = page_of(sample());
  EXPECT_EQ(count(page, "https://"), 0);
  EXPECT_EQ(count(page, "http://"), count(page, "http://www.w3.org/2000/svg"));
  for (const char* part :
       {" src=", "@import", "url(", "<link", "<iframe", "fetch(", "XMLHttpRequest", "import(", "innerHTML"}) {
    EXPECT_EQ(count(page, part), 0) << part;
  }
  EXPECT_EQ(count(page, "default-src 'none'"), 1);
}

TEST(AttentionPage, ItsPartsAreInTheLibraryAsTheyLieInTheFolder) {
  const std::string folder = std::string(HEED_SOURCE_DIR) + "/heed/viz/page/";
  EXPECT_TRUE(kPageHtml == read_file(folder + "page.html"));
  EXPECT_TRUE(kPageCss == read_file(folder + "page.css"));
  EXPECT_TRUE(kPageJs == read_file(folder + "page.js"));
}

// The script finds its places by id: each must be there, once.
TEST(AttentionPage, TheScriptFindsItsPlaces) {
  for (std::size_t at = kPageJs.find("$(\""); at != kPageJs.npos; at = kPageJs.find("$(\"", at + 1)) {
    const std::string_view rest = kPageJs.substr(at + 3);
    const std::string id(rest.substr(0, rest.find('"')));
    EXPECT_EQ(count(kPageHtml, "id=\"" + id + "\""), 1) << id;
  }
}

TEST(AttentionPage, AsTextIsWhatTheFileHolds) {
  const AttentionTrace trace = sample();
  EXPECT_EQ(attention_page({&trace, 1}), page_of(trace));
  EXPECT_THROW(attention_page({}), Error);
}

TEST(AttentionPage, TheSameTracesGiveTheSameBytes) { EXPECT_EQ(page_of(sample()), page_of(sample())); }

TEST(AttentionPage, RefusesWhatItCannotShow) {
  const std::filesystem::path path = std::filesystem::path(::testing::TempDir()) / "heed_page_refused.html";
  write_file(path, "old");
  EXPECT_THROW(write_attention_page(path, {}), Error);
  EXPECT_EQ(read_file(path), "old");
  std::filesystem::remove(path);
  AttentionTrace trace = sample();
  trace.maps.clear();
  EXPECT_THROW(page_of(trace), Error);
  trace = sample();
  trace.maps[0].weights[0] = std::nanf("");
  EXPECT_THROW(page_of(trace), Error);
  trace = sample();
  trace.source_tokens[0] = "\xFF";
  EXPECT_THROW(page_of(trace), Error);
  trace = {};
  trace.maps.push_back({"p", AttentionKind::cross, 1, 0, 0, {}});
  EXPECT_THROW(page_of(trace), Error);
}

}  // namespace
}  // namespace heed
