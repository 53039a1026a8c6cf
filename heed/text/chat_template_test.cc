#include "heed/text/chat_template.h"

#include <gmock/gmock.h>
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

TEST(ChatTemplate, DeepseeksModelsForgetWhatTheyThought) {
  std::vector<ChatMessage> talk = kTalk;
  talk[2].content = "<think>\nA greeting.\n</think>\n\nHello.";
  EXPECT_EQ(ChatTemplate::named("deepseek").text(talk),
            "<｜begin▁of▁sentence｜>Be kind.<｜User｜> Hi <｜Assistant｜>\n\nHello.<｜end▁of▁sentence｜><｜User｜>Bye"
            "<｜Assistant｜>");
  EXPECT_NE(ChatTemplate::named("chatml").text(talk).find("A greeting."), std::string::npos);
}

TEST(ChatTemplate, AnUnknownNameIsRefused) {
  EXPECT_EQ(
      testing::refusal([] { ChatTemplate::named("x"); }),
      "chat: no template is called 'x': there are chatml, deepseek, gemma, llama2, llama3, mistral, phi3, zephyr");
}

const std::vector<ChatMessage> kQuestion = {{"user", "Bye"}};

// With the names that Hugging Face's tokenizers give a template, and no others.
TEST(ChatTemplate, OneOfAModelIsCarriedOut) {
  const auto text = [](std::string_view jinja) { return ChatTemplate::from_jinja(jinja, "place").text(kTalk); };
  EXPECT_EQ(text("{% for message in messages %}{{ message['role'] }}:{{ message.content | trim }};{% endfor %}"),
            "system:Be kind.;user:Hi;assistant:Hello.;user:Bye;");
  EXPECT_EQ(text("{{ bos_token }}{{ eos_token }}{{ pad_token }}{{ add_generation_prompt }}"), "<s></s>True");
  EXPECT_EQ(text("{{ tools is none }}{{ documents is none }}{{ enable_thinking is defined }}"), "TrueTrueFalse");
}

// Twice the same, whatever the day.
TEST(ChatTemplate, NobodyTellsATemplateTheTime) {
  EXPECT_EQ(ChatTemplate::from_jinja("{{ strftime_now('%d') if strftime_now is defined else '26 Jul 2024' }}", "place")
                .text(kQuestion),
            "26 Jul 2024");
  EXPECT_EQ(testing::refusal([] { ChatTemplate::from_jinja("{{ strftime_now('%d') }}", "p").text(kQuestion); }),
            "p: line 1: 'strftime_now' is undefined");
}

const ChatSetting kTuesday = {.today = std::chrono::year(2024) / 3 / 5};

// What Python 3.11's datetime.datetime(2024, 3, 5).strftime(format) is.
TEST(ChatTemplate, TheDayThatTheAskerTellsIsWrittenAsPythonWritesIt) {
  const auto written = [](std::string_view format) {
    return ChatTemplate::from_jinja("{{ strftime_now('" + std::string(format) + "') }}", "p").text(kQuestion, kTuesday);
  };
  EXPECT_EQ(written("%d %b %Y"), "05 Mar 2024");
  EXPECT_EQ(written("%B %d, %Y"), "March 05, 2024");
  EXPECT_EQ(written("%A %-d %B %Y"), "Tuesday 5 March 2024");
  EXPECT_EQ(written("%Y-%m-%dT%H:%M:%S"), "2024-03-05T00:00:00");
  EXPECT_EQ(written("%a %e %j %U %y %%"), "Tue  5 065 09 24 %");
  EXPECT_EQ(written("%c"), "Tue Mar  5 00:00:00 2024");
  EXPECT_EQ(written("%x %X %p %I"), "03/05/24 00:00:00 AM 12");
  EXPECT_EQ(written("[%Z%z]"), "[]");
  EXPECT_EQ(written("%^a"), "TUE");
  EXPECT_EQ(written("%G %V %u %w"), "2024 10 2 2");
  EXPECT_EQ(written("\xC3\xA9"), "\xC3\xA9");
}

TEST(ChatTemplate, WhatIsNoPartOfADateIsRefused) {
  const auto refusal = [](std::string_view argument) {
    return testing::refusal([&] {
      ChatTemplate::from_jinja("{{ strftime_now(" + std::string(argument) + ") }}", "p").text(kQuestion, kTuesday);
    });
  };
  EXPECT_EQ(refusal("'%9999d'"), "p: line 1: strftime_now: '%99' is no part of a date");
  EXPECT_EQ(refusal("'at %s'"), "p: line 1: strftime_now: '%s' is no part of a date");
  EXPECT_EQ(refusal("'%'"), "p: line 1: strftime_now: '%' is no part of a date");
  EXPECT_THAT(refusal(""), ::testing::StartsWith("p: line 1: "));
  EXPECT_THAT(refusal("5"), ::testing::StartsWith("p: line 1: "));
  const ChatSetting never = {.today = std::chrono::year(2023) / 2 / 29};
  EXPECT_EQ(testing::refusal([&] { ChatTemplate::named("chatml").text(kQuestion, never); }),
            "chat: today is no day of the calendar");
}

TEST(ChatTemplate, TheAskerMayTellWhatTheTemplateKnows) {
  const auto text = [](std::string_view jinja, std::string_view names) {
    return ChatTemplate::from_jinja(jinja, "p").text(kQuestion, {.names = Json::parse(names)});
  };
  EXPECT_EQ(text("{{ enable_thinking is defined and not enable_thinking }}", R"({"enable_thinking": false})"), "True");
  EXPECT_EQ(text("{{ tools | tojson }}", R"({"tools": [{"name": "f", "most": 3, "least": 0.5, "none": null}]})"),
            R"([{"name": "f", "most": 3, "least": 0.5, "none": null}])");
  EXPECT_EQ(text("{{ bos_token }}{{ messages | length }}", R"({"bos_token": "<b>"})"), "<b>1");
  EXPECT_EQ(testing::refusal([&] { text("", "[1]"); }), "chat: the template's names must be an object, but are [1]");
  EXPECT_EQ(testing::refusal([&] { text("", R"({"messages": []})"); }), "chat: 'messages' is not the asker's to set");
}

TEST(ChatTemplate, WhatATemplateRefusesNamesItsLine) {
  const auto chat = ChatTemplate::from_jinja(
      "\n{% if messages|length > 1 %}{{ raise_exception('Ask once.') }}{% endif %}", "folder/chat_template.jinja");
  EXPECT_EQ(testing::refusal([&] { chat.text(kTalk); }), "folder/chat_template.jinja: line 2: Ask once.");
  EXPECT_EQ(chat.text(kQuestion), "\n");
  EXPECT_EQ(testing::refusal([] { ChatTemplate::from_jinja("a\n{% if %}", "p"); }),
            "p: line 2: expected an expression, but there is 'the end of a tag'");
}

// A model may be asked to go on with its own answer, or know roles that others do not.
TEST(ChatTemplate, RolesAreTheTemplatesAffair) {
  const auto chat = ChatTemplate::from_jinja("{% for m in messages %}{{ m.role }} {% endfor %}", "place");
  const std::vector<ChatMessage> talk = {{"tool", "x"}, {"assistant", "y"}};
  EXPECT_EQ(chat.text(talk), "tool assistant ");
  EXPECT_EQ(chat.text({}), "");
}

TEST(ChatTemplate, MessagesAreUtf8) {
  const std::vector<ChatMessage> talk = {{"user", "\xFF"}};
  EXPECT_EQ(testing::refusal([&] { ChatTemplate::named("chatml").text(talk); }),
            "chat: a message is not UTF-8: '\\xff'");
}

class ChatTemplateFolder : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::remove_all(folder_);
    make_folder(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  void write(const char* name, std::string_view text) const { write_file(folder_ / name, text); }
  std::string refusal() const {
    return testing::refusal([&] { ChatTemplate::open(folder_); });
  }
  std::string text() const { return ChatTemplate::open(folder_).text(kQuestion); }

  std::filesystem::path folder_ = std::filesystem::path(::testing::TempDir()) / "heed_chat_template_test";
};

TEST_F(ChatTemplateFolder, SaysWhich) {
  EXPECT_NE(refusal().find("has neither"), std::string::npos);
  write("tokenizer_config.json", "{}");
  EXPECT_NE(refusal().find("has no chat_template"), std::string::npos);
  write("tokenizer_config.json", R"({"chat_template": "the config's"})");
  EXPECT_EQ(text(), "the config's");
  write("tokenizer_config.json",
        R"({"chat_template": [{"name": "tools", "template": "x"}, {"name": "default", "template": "y"}]})");
  EXPECT_EQ(text(), "y");
  write("tokenizer_config.json", R"({"chat_template": []})");
  EXPECT_NE(refusal().find("called default"), std::string::npos);
  write("tokenizer_config.json", R"({"chat_template": "{{"})");
  EXPECT_NE(refusal().find("tokenizer_config.json: chat_template: line 1: a tag does not end"), std::string::npos);
  write("chat_template.jinja", "the file's");
  EXPECT_EQ(text(), "the file's");
}

TEST_F(ChatTemplateFolder, NamesTheSymbols) {
  write("chat_template.jinja", "{{ bos_token }}|{{ eos_token }}|{{ pad_token }}|{{ image_token }}");
  EXPECT_EQ(text(), "<s>|</s>||");
  write("special_tokens_map.json", R"({"bos_token": "<a>", "pad_token": {"content": "<p>"}})");
  EXPECT_EQ(text(), "<a>|</s>|<p>|");
  write("tokenizer_config.json", R"({"bos_token": {"content": "<b>"}, "eos_token": null, "image_token": "<i>",
                                     "add_bos_token": true})");
  EXPECT_EQ(text(), "<b>||<p>|<i>");
  write("special_tokens_map.json", "{}");
  write("tokenizer_config.json", R"({"tokenizer_class": "Qwen2TokenizerFast"})");
  EXPECT_EQ(text(), "|<|endoftext|>|<|endoftext|>|");
  write("tokenizer_config.json", R"({"tokenizer_class": "PreTrainedTokenizerFast"})");
  EXPECT_EQ(text(), "|||");
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
  const std::vector<ChatMessage> whole = {{"user", "Hi [/INST]Hello.</s>[INST] Bye"}};
  EXPECT_EQ(ChatTemplate::named("mistral").encode(*vocabulary, whole), expected) << "whoever spells it";
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
