// The page's script at work, in a real browser where there is one.
#include <gtest/gtest.h>
#include <stdio.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "heed/base/file.h"
#include "heed/base/file_writer.h"
#include "heed/viz/page.h"

namespace heed {
namespace {

std::string output_of(const std::string& command) {
  std::string output;
  FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return output;
  std::array<char, 4096> buffer;
  for (std::size_t got; (got = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
    output.append(buffer.data(), got);
  ::pclose(pipe);
  return output;
}

// The path of a Chromium, or nothing.
std::string find_browser() {
  std::string path = output_of("command -v chromium || command -v chromium-browser || command -v google-chrome");
  while (!path.empty() && path.back() == '\n') path.pop_back();
  return path;
}

std::vector<AttentionTrace> sample() {
  AttentionTrace first;
  first.model = "m";
  first.source_text = "</script><b id=\"injected\">the house</b>";
  first.target_text = "das Haus";
  first.source_tokens = {"▁the", "<b id=\"injected\">house</b>"};
  first.decoder_tokens = {"<s>", "▁das", "▁Haus"};
  first.decoder_tokens = {"<s>", "▁das", "▁Haus"};
  first.target_tokens = {"▁das", "▁Haus", "</script>"};
  first.maps.push_back({"decoder.layers.0.multihead_attn",
                        AttentionKind::cross,
                        2,
                        3,
                        2,
                        {0.9F, 0.1F, 0.25F, 0.75F, 0, 1, 0.5F, 0.5F, 0.5F, 0.5F, 0.5F, 0.5F}});
  first.maps.push_back(
      {"decoder.layers.1.multihead_attn", AttentionKind::cross, 1, 3, 2, {1, 0, 0.125F, 0.875F, 0, 1}});
  first.maps.push_back({"encoder.layers.0.self_attn", AttentionKind::encoder, 1, 2, 2, {1, 0, 0.5F, 0.5F}});
  AttentionTrace second;
  second.source_tokens = {"x"};
  second.decoder_tokens = {"<s>"};
  second.decoder_tokens = {"<s>"};
  second.target_tokens = {"y"};
  second.maps.push_back({"attention", AttentionKind::decoder, 1, 1, 1, {1}});
  return {first, second};
}

// What a reader does, and what must be seen after it; the document keeps what went wrong.
constexpr std::string_view kReader = R"html(<script>
const wrong = [];
const expect = (what, seen, wanted) => { if (seen !== wanted) wrong.push(`${what}: "${seen}" instead of "${wanted}"`); };
const one = (selector) => document.querySelector(selector);
const readout = () => one("#readout").textContent.replaceAll("\u00a0", " ");
const press = (key) => one("#picture svg").dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
const choose = (id, value) => { one(id).value = value; one(id).dispatchEvent(new Event("change", { bubbles: true })); };
const move = (selector) => one(selector).dispatchEvent(new PointerEvent("pointermove", { bubbles: true }));
try {
  expect("title", one("#caption").textContent, "Cross-attention \u00b7 layer 0 \u00b7 mean of 2 heads");
  expect("row", one("#picture [data-row='1']").textContent, "_Haus");
  expect("nothing injected", one("#injected"), null);
  expect("text", one("#source-text").textContent, "</scr" + "ipt><b id=\"injected\">the house</b>");
  press("ArrowDown");
  expect("first cell", readout(), "_das reads _the with weight 0.700");
  press("ArrowDown"); press("ArrowDown"); press("ArrowDown"); press("ArrowRight");
  expect("last cell", readout(), "</scr" + "ipt> reads <b id=\"injected\">house</b> with weight 0.750");
  press("Escape");
  move("#picture [data-row='0']");
  expect("row", readout(), "_das reads  _the 0.700,  <b id=\"injected\">house</b> 0.300");
  move("#picture [data-column='0']");
  expect("column", readout(), "_the is read by  _das 0.700,  _Haus 0.375,  </scr" + "ipt> 0.250");
  choose("#head", "1");
  expect("head", one("#caption").textContent, "Cross-attention \u00b7 layer 0 \u00b7 head 1");
  choose("#layer", "1");
  expect("layer", one("#caption").textContent, "Cross-attention \u00b7 layer 1 \u00b7 head 0");
  expect("pressed", document.querySelectorAll("#overview [aria-pressed=true]").length, 1);
  one("input[value=lines]").click();
  expect("lines", document.querySelectorAll("#picture .link").length, 4);
  press("ArrowDown"); press("ArrowDown");
  expect("token", readout(), "_Haus reads  <b id=\"injected\">house</b> 0.875,  _the 0.125");
  press("ArrowRight"); press("ArrowUp");
  expect("other side", readout(), "_the is read by  _das 1.000,  _Haus 0.125");
  one("#overview button").click();
  expect("overview", one("#caption").textContent, "Cross-attention \u00b7 layer 0 \u00b7 mean of 2 heads");
  one("input[value=encoder]").click();
  expect("kind", one("#caption").textContent, "Encoder self-attention \u00b7 layer 0 \u00b7 head 0");
  choose("#sentence", "1");
  expect("sentence", one("#caption").textContent, "Decoder self-attention \u00b7 attention \u00b7 head 0");
  expect("decoder tokens", one("#picture text:not(.axis)").textContent, "<s>");
  expect("kinds left", document.querySelectorAll("#kinds input").length, 1);
} catch (error) {
  wrong.push(String(error));
}
document.documentElement.dataset.wrong = wrong.length === 0 ? "nothing" : wrong.join("; ");
</script>)html";

TEST(AttentionPageInABrowser, ShowsWhatAReaderAsksFor) {
  const std::string browser = find_browser();
  if (browser.empty()) GTEST_SKIP() << "there is no Chromium to open the page with";
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "heed_page_browser_test";
  std::filesystem::remove_all(folder);
  make_folder(folder);
  write_attention_page(folder / "page.html", std::vector{sample()});
  std::string page = read_file(folder / "page.html");
  page.insert(page.rfind("</body>"), kReader);
  write_file(folder / "page.html", page);
  const std::string dom = output_of("timeout 60 '" + browser +
                                    "' --headless --no-sandbox --disable-gpu --disable-quic --no-first-run"
                                    " --disable-background-networking --disable-component-update --disable-sync"
                                    " --user-data-dir='" +
                                    (folder / "profile").string() + "' --dump-dom 'file://" +
                                    (folder / "page.html").string() + "' 2>/dev/null");
  std::filesystem::remove_all(folder);
  if (dom.find("<html") == std::string::npos) GTEST_SKIP() << browser << " does not run here";
  const std::string_view mark = "data-wrong=\"";
  const std::size_t begin = dom.find(mark);
  ASSERT_NE(begin, std::string::npos) << "the page's scripts did not run";
  EXPECT_EQ(dom.substr(begin + mark.size(), dom.find('"', begin + mark.size()) - begin - mark.size()), "nothing");
}

}  // namespace
}  // namespace heed
