#include "heed/tasks/chat.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "heed/base/file.h"
#include "heed/base/file_writer.h"
#include "heed/testing/file_bytes.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

constexpr const char* kZephyr =
    "{% for message in messages %}{{'<|user|>\n' + message['content'] + eos_token}}{% endfor %}{{ '<|assistant|>' }}";

class Chat : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) /
              (std::string("heed_chat_") + ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    testing::GgufBytes file;
    file.text("tokenizer.ggml.model", "llama").text("tokenizer.chat_template", kZephyr);
    file.texts("tokenizer.ggml.tokens", {"<unk>", "[begin]", "[end]"});
    write_file(folder_ / "m.gguf", file.bytes());
  }
  static std::string asked(const ChatTemplate& chat) {
    const std::vector<ChatMessage> messages{{"user", "Why?"}};
    return chat.text(messages);
  }
  fs::path folder_;
};

TEST_F(Chat, TheSymbolsOfAGgufsTemplateAreItsPieces) {
  EXPECT_EQ(asked(chat_template_of(folder_ / "m.gguf")), "<|user|>\nWhy?[end]<|assistant|>");
}

TEST_F(Chat, AFolderOfAGgufAloneHasItsTemplate) {
  EXPECT_EQ(asked(chat_template_of(folder_)), asked(chat_template_of(folder_ / "m.gguf")));
  write_file(folder_ / "chat_template.jinja", kZephyr);
  EXPECT_EQ(asked(chat_template_of(folder_)), "<|user|>\nWhy?</s><|assistant|>") << "the folder's own is first";
}

}  // namespace
}  // namespace heed
