#include "heed/tasks/chat.h"

#include "heed/base/check.h"
#include "heed/io/open_checkpoint.h"

namespace heed {

ChatTemplate chat_template_of(const std::filesystem::path& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return ChatTemplate::open(path);
  const Checkpoint file = open_checkpoint(path);
  const Json& metadata = file.metadata();
  HEED_CHECK(metadata.has("tokenizer.chat_template"), "{}: has no tokenizer.chat_template: its model answers nobody",
             path.string());
  return ChatTemplate::recognised(metadata["tokenizer.chat_template"].string(), file.name());
}

}  // namespace heed
