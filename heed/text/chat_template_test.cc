#include "heed/text/chat_template.h"

#include <gtest/gtest.h>

#include "heed/base/file.h"
#include "heed/base/file_writer.h"
#include "heed/testing/data_folder.h"
#include "heed/testing/refusal.h"
#include "heed/text/open_tokenizer.h"

namespace heed {
namespace {

const std::vector<ChatMessage> kTalk = {
    {"system", "Be kind."}, {"user", " Hi "}, {"assistant", "Hello."}, {"user", "Bye"}};

// As the models' own templates write it.
TEST(ChatTemplate, WritesATalkAsItsModelsKnowIt) {
  EXPECT_EQ(ChatTemplate::named("chatml").text(kTalk),
            "<|im_start|>system\nBe kind.<|im_end|>\n<|im_start|>user\n Hi <|im_end|>\n"
            "<|im_start|>assistant\nHello.<|im_end|>\n<|im_start|>user\nBye<|im_end|>\n<|im_start|>assistant\n");
  EXPECT_EQ(
      ChatTemplate::named("llama3").text(kTalk),
      "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\nBe kind.<|eot_id|>"
      "<|start_header_id|>user<|end_header_id|>\n\nHi<|eot_id|>"
      "<|start_header_id|>assistant<|end_header_id|>\n\nHello.<|eot_id|>"
      "<|start_header_id|>user<|end_header_id|>\n\nBye<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n");
  EXPECT_EQ(ChatTemplate::named("llama2").text(kTalk),
            "<s>[INST] <<SYS>>\nBe kind.\n<</SYS>>\n\n Hi [/INST] Hello. </s><s>[INST] Bye [/INST]");
  EXPECT_EQ(ChatTemplate::named("mistral").text(kTalk),
            "<s>[INST] Be kind.\n\n Hi  [/INST]Hello.</s>[INST] Bye [/INST]");
  EXPECT_EQ(ChatTemplate::named("gemma").text(kTalk),
            "<bos><start_of_turn>user\nBe kind.\n\nHi<end_of_turn>\n<start_of_turn>model\nHello.<end_of_turn>\n"
            "<start_of_turn>user\nBye<end_of_turn>\n<start_of_turn>model\n");
  EXPECT_EQ(ChatTemplate::named("zephyr").text(kTalk),
            "<|system|>\nBe kind.</s>\n<|user|>\n Hi </s>\n<|assistant|>\nHello.</s>\n<|user|>\nBye</s>\n"
            "<|assistant|>\n");
  EXPECT_EQ(ChatTemplate::named("phi3").text(kTalk),
            "<|system|>\nBe kind.<|end|>\n<|user|>\n Hi <|end|>\n<|assistant|>\nHello.<|end|>\n<|user|>\nBye<|end|>\n"
            "<|assistant|>\n");
}

TEST(ChatTemplate, DeepseeksModelsThinkWhereTheirTemplateSaysSo) {
  std::vector<ChatMessage> talk = kTalk;
  talk[2].content = "<think>\nA greeting.\n</think>\n\nHello.";
  const std::string begun = "<｜begin▁of▁sentence｜>Be kind.<｜User｜> Hi <｜Assistant｜>";
  const std::string ended = "<｜end▁of▁sentence｜><｜User｜>Bye<｜Assistant｜>";
  EXPECT_EQ(ChatTemplate::named("deepseek").text(talk), begun + "\n\nHello." + ended);
  const std::string turns = "{{bos_token}}{{ns.system_prompt}}{{'<｜User｜>' + message['content']}}";
  EXPECT_EQ(ChatTemplate::recognised(turns + "{% set content = content.split('</think>')[-1] %}{{'<｜Assistant｜>' + "
                                             R"(content + '<｜end▁of▁sentence｜>'}}{{'<｜Assistant｜><think>\n'}})",
                                     "place")
                .text(talk),
            begun + "\n\nHello." + ended + "<think>\n");
  EXPECT_EQ(ChatTemplate::recognised(turns + "{{'<｜Assistant｜>' + content}}", "place").text(talk),
            begun + talk[2].content + ended);
  EXPECT_EQ(
      testing::refusal([] { ChatTemplate::named("x"); }),
      "chat: no template is called 'x': there are chatml, deepseek, gemma, llama2, llama3, mistral, phi3, zephyr");
}

TEST(ChatTemplate, OfAnswersThatWereThoughtAboutSomeTemplatesKeepWhatWasSaid) {
  std::vector<ChatMessage> talk = kTalk;
  talk[2].content = "<think>\nA greeting.\n</think>\n\nHello.";
  const std::string turns = "{{'<|im_start|>' + message.role + content + '<|im_end|>'}}";
  const std::string forgets = R"({%- set content = message.content.split('</think>')[-1].lstrip('\n') %})";
  EXPECT_EQ(ChatTemplate::recognised(turns + forgets, "place").text(talk), ChatTemplate::named("chatml").text(kTalk));
  EXPECT_NE(ChatTemplate::recognised(turns, "place").text(talk).find("A greeting."), std::string::npos);
  EXPECT_NE(ChatTemplate::named("chatml").text(talk).find("A greeting."), std::string::npos);
}

TEST(ChatTemplate, IsRecognisedByItsMarks) {
  const auto name = [](std::string_view jinja) { return ChatTemplate::recognised(jinja, "place").name(); };
  EXPECT_EQ(name("{% for m in messages %}{{'<|im_start|>' + m['role']}}"), "chatml");
  EXPECT_EQ(name("{{ '<|start_header_id|>' + role }}"), "llama3");
  EXPECT_EQ(name("{{ '[INST] <<SYS>>' }}"), "llama2");
  EXPECT_EQ(name("{{ '[INST] ' + content + ' [/INST]' }}"), "mistral");
  EXPECT_EQ(name("{{ '<start_of_turn>' }}"), "gemma");
  EXPECT_EQ(name("{{ '<|user|>\n' + content + eos_token }}"), "zephyr");
  EXPECT_EQ(name("{{ '<|user|>\n' + content + '<|end|>' }}"), "phi3");
  EXPECT_EQ(ChatTemplate::recognised("'[INST] ' + c + '[/INST]'", "place").text(std::span(kTalk).last(1)),
            "<s>[INST] Bye[/INST]");
  EXPECT_NE(testing::refusal([] { ChatTemplate::recognised("{{ x }}", "place"); }).find("place: the template is none"),
            std::string::npos);
}

// The texts that follow are in the notation of templates that models come with, of which they keep what is told apart.
std::string written(std::string_view jinja, std::span<const ChatMessage> talk) {
  return ChatTemplate::recognised(jinja, "place").text(talk);
}
const std::vector<ChatMessage> kQuestion = {{"user", "Bye"}};

TEST(ChatTemplate, TheSystemMessageThatIsTheModelsOwnIsReadFromTheTemplate) {
  EXPECT_EQ(written(R"({% if tools %}{{ '<|im_start|>system\n' }}{{ messages[0]['content'] + '<|im_end|>' }}{% else %}
                       {{- '<|im_start|>system\nYou\'re Max.<|im_end|>\n' }}{% endif %})",
                    kQuestion),
            "<|im_start|>system\nYou're Max.<|im_end|>\n<|im_start|>user\nBye<|im_end|>\n<|im_start|>assistant\n");
  EXPECT_EQ(written("{{ bos_token }}{{'<|im_start|>' + message['role'] + '\n' + content + '<|im_end|>'}}", kQuestion),
            "<s><|im_start|>user\nBye<|im_end|>\n<|im_start|>assistant\n");
}

TEST(ChatTemplate, ALongTextOfMarksIsReadInOnePass) {
  std::string jinja = "{{ '";
  for (int i = 0; i < 200'000; ++i) jinja += "<|im_start|>system\\n";
  EXPECT_EQ(written(jinja, kQuestion), "<|im_start|>user\nBye<|im_end|>\n<|im_start|>assistant\n");
}

TEST(ChatTemplate, Llama31AlwaysHasATurnOfTheSystem) {
  constexpr std::string_view kJinja =
      R"({{- "<|start_header_id|>system<|end_header_id|>\n\n" }}{{- "Cutting Knowledge Date: December 2023\n" }})";
  const std::string begin =
      "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\n"
      "Cutting Knowledge Date: December 2023\nToday Date: 26 Jul 2024\n\n";
  EXPECT_TRUE(written(kJinja, kQuestion).starts_with(begin + "<|eot_id|><|start_header_id|>user"));
  EXPECT_TRUE(written(kJinja, kTalk).starts_with(begin + "Be kind.<|eot_id|><|start_header_id|>user"));
}

TEST(ChatTemplate, EachOfMistralsModelsHasItsSpaces) {
  EXPECT_EQ(written(R"({{- " [INST] " + system_message + "\n\n" + message["content"] + " [/INST]" }}
                       {{- " " + message["content"] + eos_token}})",
                    kTalk),
            "<s> [INST] Be kind.\n\n Hi  [/INST] Hello.</s> [INST] Bye [/INST]");
  EXPECT_EQ(written(R"({%- if loop.last and system_message is defined %}
                       {{- "[INST] " + system_message + "\n\n" + message["content"] + "[/INST]" }}
                       {{- " " + message["content"]|trim + eos_token}})",
                    kTalk),
            "<s>[INST]  Hi [/INST] Hello.</s>[INST] Be kind.\n\nBye[/INST]");
  EXPECT_EQ(
      written("{{- '[INST]' + message['content'] + '[/INST]' }}{{ message['content'] + eos_token + ' ' }}", kTalk),
      "<s>[INST]Be kind.\n\n Hi [/INST]Hello.</s> [INST]Bye[/INST]");
}

TEST(ChatTemplate, WhatOnlyLooksLikeOneIsRefused) {
  for (const char* jinja :
       {"{{'<|im_start|>user<|im_sep|>' + message['content'] + '<|im_end|>'}}",
        "{{ '<|' + message['role'] + '|>' + message['content'] + '<|end|>' }}", "[gMASK]<sop><|user|>\n{{ content }}",
        "{{ '<|user|>\\n' + message['content'] + '\\n' }}{{ '<|assistant|>' + message['content'] + eos_token }}",
        "{{ '[SYSTEM_PROMPT]' + system + '[/SYSTEM_PROMPT]' }}{{ '[INST]' + message['content'] + '[/INST]' }}"}) {
    EXPECT_NE(testing::refusal([&] { ChatTemplate::recognised(jinja, "p"); }).find("p: the template is none"),
              std::string::npos)
        << jinja;
  }
}

TEST(ChatTemplate, AFolderSaysWhich) {
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "heed_chat_template_test";
  std::filesystem::remove_all(folder);
  make_folder(folder);
  const auto refusal = [&] { return testing::refusal([&] { ChatTemplate::open(folder); }); };
  EXPECT_NE(refusal().find("has neither"), std::string::npos);
  write_file(folder / "tokenizer_config.json", "{}");
  EXPECT_NE(refusal().find("has no chat_template"), std::string::npos);
  write_file(folder / "tokenizer_config.json", R"({"chat_template": "<|im_start|>"})");
  EXPECT_EQ(ChatTemplate::open(folder).name(), "chatml");
  write_file(folder / "tokenizer_config.json",
             R"({"chat_template": [{"name": "tools", "template": "x"}, {"name": "default", "template": "[INST]"}]})");
  EXPECT_EQ(ChatTemplate::open(folder).name(), "mistral");
  write_file(folder / "tokenizer_config.json", R"({"chat_template": []})");
  EXPECT_NE(refusal().find("called default"), std::string::npos);
  write_file(folder / "tokenizer_config.json", R"({"bos_token": {"content": "<b>"}, "eos_token": "<e>",
      "chat_template": "{{ bos_token }}{{ '<|user|>\\n' + message.content + eos_token }}"})");
  EXPECT_EQ(ChatTemplate::open(folder).text(kQuestion), "<b><|user|>\nBye<e>\n<|assistant|>\n");
  write_file(folder / "chat_template.jinja", "<start_of_turn>");
  EXPECT_EQ(ChatTemplate::open(folder).name(), "gemma");
  std::filesystem::remove_all(folder);
}

TEST(ChatTemplate, TheIdsAreThoseOfTheText) {
  HEED_DATA_OR_SKIP(data, "tokenizers/qwen3");
  const auto vocabulary = open_tokenizer(data);
  const ChatTemplate chat = ChatTemplate::named("chatml");
  EXPECT_EQ(chat.encode(*vocabulary, kTalk), vocabulary->encode(chat.text(kTalk)));
  EXPECT_EQ(chat.encode(*vocabulary, kTalk).front(), 151644);
}

// A SentencePiece model takes tokens that a text spells for text, and knows "[INST]" as nothing else.
TEST(ChatTemplate, SentencePieceModelsGetTheIdsOfTokens) {
  HEED_DATA_OR_SKIP(data, "tokenizers/mistral-spm-bpe-v1");
  const auto vocabulary = open_tokenizer(data);
  const std::vector<ChatMessage> talk = {{"user", "Hi"}, {"assistant", "Hello."}, {"user", "Bye"}};
  std::vector<int> expected = {1};
  for (const char* text : {"[INST] Hi [/INST]Hello.", "[INST] Bye [/INST]"}) {
    const std::vector<int> ids = vocabulary->encode(text);
    expected.insert(expected.end(), ids.begin(), ids.end());
    expected.push_back(2);
  }
  expected.pop_back();
  EXPECT_EQ(ChatTemplate::named("mistral").encode(*vocabulary, talk), expected);
}

TEST(ChatTemplate, RolesComeInTurn) {
  const auto refusal = [](const std::vector<ChatMessage>& talk) {
    return testing::refusal([&] { ChatTemplate::named("chatml").text(talk); });
  };
  EXPECT_NE(refusal({}).find("the last message"), std::string::npos);
  EXPECT_NE(refusal({{"assistant", "x"}}).find("the last message"), std::string::npos);
  EXPECT_NE(refusal({{"user", "x"}, {"user", "y"}}).find("message 2 must be the assistant's"), std::string::npos);
  EXPECT_NE(refusal({{"user", "x"}, {"system", "y"}, {"user", "z"}}).find("'system'"), std::string::npos);
  EXPECT_NE(testing::refusal([] { ChatTemplate::named("magic"); }).find("'magic'"), std::string::npos);
}

}  // namespace
}  // namespace heed
