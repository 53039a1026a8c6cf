#include "heed/pretrained/ctranslate2_tokens.h"

#include <fmt/format.h>

#include <algorithm>

#include "heed/base/check.h"
#include "heed/base/file.h"
#include "heed/io/ctranslate2.h"
#include "heed/io/json.h"
#include "heed/pretrained/config_fields.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

constexpr Index kFirstVersionWithConfig = 6;

// A text is its bytes, as numbers.
std::string text_or(const Checkpoint& file, const std::string& name, const std::string& otherwise) {
  if (!file.has(name)) return otherwise;
  const Tensor text = file.tensor(name);
  HEED_CHECK(text.dtype() == DType::i8, "{}: {} must be a text, in int8, but is {}", file.name(), name,
             describe(text.view()));
  return {text.data<char>(), static_cast<std::size_t>(text.size())};
}

bool says(const Checkpoint& file, const std::string& name, bool otherwise) {
  if (!file.has(name)) return otherwise;
  const Tensor flag = file.tensor(name);
  HEED_CHECK(flag.dtype() == DType::i8 && flag.size() == 1, "{}: {} must be a flag, in int8, but is {}", file.name(),
             name, describe(flag.view()));
  return *flag.data<std::int8_t>() != 0;
}

Ctranslate2Tokens tokens_of_variables(const Checkpoint& file) {
  Ctranslate2Tokens tokens;
  tokens.unknown = text_or(file, "unk_token", tokens.unknown);
  tokens.begin = text_or(file, "bos_token", tokens.begin);
  tokens.end = text_or(file, "eos_token", tokens.end);
  tokens.begins_source = says(file, "with_source_bos", false);
  tokens.ends_source = says(file, "with_source_eos", false);
  tokens.start = says(file, "with_target_bos", true) ? tokens.begin : tokens.end;
  if (says(file, "user_decoder_start_tokens", false)) tokens.start.reset();
  return tokens;
}

Ctranslate2Tokens tokens_of_config(const Json& config) {
  Ctranslate2Tokens tokens;
  const auto text = [&](std::string_view name, const std::string& otherwise) {
    return find_field(config, {name}).value_or(Json(otherwise)).string();
  };
  tokens.unknown = text("unk_token", tokens.unknown);
  tokens.begin = text("bos_token", tokens.begin);
  tokens.end = text("eos_token", tokens.end);
  tokens.begins_source = flag_or(config, {"add_source_bos"}, false);
  tokens.ends_source = flag_or(config, {"add_source_eos"}, false);
  tokens.start = text("decoder_start_token", tokens.begin);
  if (config.has("decoder_start_token") && config["decoder_start_token"].is_null()) tokens.start.reset();
  return tokens;
}

}  // namespace

Ctranslate2Tokens read_ctranslate2_tokens(const fs::path& folder, const Checkpoint& file) {
  if (file.metadata()["binary_version"].integer() < kFirstVersionWithConfig) return tokens_of_variables(file);
  const fs::path config = folder / "config.json";
  return tokens_of_config(file_exists(config) ? read_json(config) : Json::object());
}

std::vector<std::string> ctranslate2_pieces(const fs::path& folder, std::string_view side, const std::string& unknown) {
  for (const std::string& name : {fmt::format("{}_vocabulary", side), std::string("shared_vocabulary")}) {
    for (const char* ending : {".json", ".txt"}) {
      const fs::path path = folder / (name + ending);
      if (!file_exists(path)) continue;
      std::vector<std::string> pieces = read_ctranslate2_vocabulary(path);
      if (std::ranges::find(pieces, unknown) == pieces.end()) pieces.push_back(unknown);
      return pieces;
    }
  }
  fail("{}: has neither {}_vocabulary nor shared_vocabulary, as .json or .txt", folder.string(), side);
}

std::int32_t ctranslate2_id(const std::vector<std::string>& pieces, const std::string& piece,
                            const std::string& unknown) {
  auto found = std::ranges::find(pieces, piece);
  if (found == pieces.end()) found = std::ranges::find(pieces, unknown);
  return static_cast<std::int32_t>(found - pieces.begin());
}

}  // namespace heed
