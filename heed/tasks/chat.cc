#include "heed/tasks/chat.h"

#include "heed/base/check.h"
#include "heed/base/file.h"
#include "heed/io/open_checkpoint.h"
#include "heed/pretrained/gguf_tokens.h"
#include "heed/tasks/purpose.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

bool has_template(const fs::path& folder) {
  return file_exists(folder / "chat_template.jinja") || file_exists(folder / "tokenizer_config.json");
}

}  // namespace

ChatTemplate chat_template_of(const fs::path& path) {
  std::error_code error;
  const bool is_folder = fs::is_directory(path, error);
  if (is_folder && has_template(path)) return ChatTemplate::open(path);
  const Checkpoint file = open_checkpoint(path);
  const fs::path beside = path.has_parent_path() ? path.parent_path() : ".";
  if (file.format() != CheckpointFormat::gguf) return ChatTemplate::open(is_folder ? path : beside);
  const Json& metadata = file.metadata();
  HEED_CHECK(metadata.has("tokenizer.chat_template"), "{}: has no tokenizer.chat_template: its model answers nobody",
             file.name());
  const std::vector<std::string> pieces = gguf_pieces(metadata);
  const auto symbol = [&](std::string_view key) {
    const std::int32_t id = gguf_token_id(metadata, key);
    return id < 0 ? std::string() : pieces[static_cast<std::size_t>(id)];
  };
  return ChatTemplate::from_jinja(metadata["tokenizer.chat_template"].string(), file.name(),
                                  {{"bos_token", symbol("bos_token_id")}, {"eos_token", symbol("eos_token_id")}});
}

std::vector<int> chat_prompt(const ModelFolder& folder, const ChatTemplate& chat, std::span<const ChatMessage> messages,
                             const ChatSetting& setting) {
  check_purpose(continues_text(folder.config), folder, "continues no text");
  return chat.encode(*folder.target_vocabulary, messages, setting);
}

}  // namespace heed
