// Templates of chats: whatever one says, it makes the same text of the same conversation, in UTF-8, each time.
#include "heed/text/chat_template.h"

#include "heed/base/utf8.h"
#include "property.h"

namespace heed::fuzz {
namespace {

void check_chat_template(std::string_view jinja) {
  const auto chat = taken([&] { return ChatTemplate::from_jinja(jinja, "input"); });
  if (!chat) return;
  const std::vector<ChatMessage> talk = {
      {"system", "Be kind."}, {"user", " Größe ﬁ\n"}, {"assistant", "<think>\nx</think>It's \"so\""}, {"user", ""}};
  const ChatSetting told = {
      .today = std::chrono::year(2024) / 2 / 29,
      .names = Json::parse(R"({"enable_thinking": false, "tools": [{"name": "f", "least": 0.5, "of": [1, null]}]})")};
  for (const ChatSetting& setting : {ChatSetting{}, told}) {
    for (const auto& messages : {std::span(talk), std::span(talk).subspan(1, 1)}) {
      const auto text = taken([&] { return chat->text(messages, setting); });
      if (text) require(valid_utf8(*text), "what is written is UTF-8");
      require(taken([&] { return chat->text(messages, setting); }) == text, "the same conversation is the same text");
    }
  }
}

}  // namespace
}  // namespace heed::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  heed::fuzz::check_chat_template(heed::fuzz::bytes_of(data, size));
  return 0;
}
