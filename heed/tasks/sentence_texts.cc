#include "heed/tasks/sentence_texts.h"

#include <fmt/core.h>

#include "heed/base/check.h"
#include "heed/base/file.h"
#include "heed/io/json.h"
#include "heed/pretrained/config_fields.h"
#include "heed/tasks/sentence_modules.h"
#include "heed/unicode/unicode.h"

namespace heed {
namespace {

constexpr std::string_view kPrompts = "config_sentence_transformers.json";
// Named after the model's family, once.
constexpr std::string_view kLengths[] = {"sentence_bert_config.json",       "sentence_roberta_config.json",
                                         "sentence_distilbert_config.json", "sentence_camembert_config.json",
                                         "sentence_albert_config.json",     "sentence_xlm-roberta_config.json",
                                         "sentence_xlnet_config.json"};

bool lies_in(const std::filesystem::path& model, std::string_view file) {
  return std::filesystem::is_directory(model) && file_exists(model / file);
}

// The length that a tokenizer cuts texts to; none where it says a number that stands for any.
std::optional<Index> length_of_tokenizer(const std::filesystem::path& folder) {
  constexpr double kMost = 1 << 24;
  if (!lies_in(folder, "tokenizer_config.json")) return {};
  const auto length = find_field(read_json(folder / "tokenizer_config.json"), {"model_max_length"});
  if (!length || length->number() > kMost) return {};
  return length->integer(1);
}

std::string prompt_names(const SentenceTexts& texts) {
  std::string names;
  for (const auto& [name, prompt] : texts.prompts) names += fmt::format("{}{}", names.empty() ? "" : ", ", name);
  return names.empty() ? "none" : names;
}

}  // namespace

std::string SentenceTexts::as_read(const std::string& text, const std::string& prompt_name,
                                   std::string_view name) const {
  const std::string& wanted = prompt_name.empty() ? prompt : prompt_name;
  const auto found = prompts.find(wanted);
  HEED_CHECK(wanted.empty() || found != prompts.end(), "the model's folder has no prompt \"{}\", but {}", wanted,
             prompt_names(*this));
  std::string read = wanted.empty() ? text : found->second + text;
  if (lower_case) read = encode_utf8(to_lower(decode_utf8(read, name)));
  return read;
}

SentenceTexts read_sentence_texts(const std::filesystem::path& model) {
  SentenceTexts texts;
  const std::filesystem::path weights = weights_of_sentence_folder(model);
  for (std::string_view file : kLengths) {
    if (!lies_in(weights, file)) continue;
    const Json config = read_json(weights / file);
    if (find_field(config, {"max_seq_length"})) texts.most_tokens = extent(config, {"max_seq_length"});
    texts.lower_case = flag_or(config, {"do_lower_case"}, false);
    break;
  }
  if (!texts.most_tokens && lies_in(model, "modules.json")) texts.most_tokens = length_of_tokenizer(weights);
  if (!lies_in(model, kPrompts)) return texts;
  const Json config = read_json(model / kPrompts);
  if (const auto prompts = find_field(config, {"prompts"})) {
    for (const auto& [name, prompt] : prompts->members()) texts.prompts[std::string(name)] = prompt.string();
  }
  if (const auto prompt = find_field(config, {"default_prompt_name"})) {
    texts.prompt = prompt->string();
    if (!texts.prompts.contains(texts.prompt)) prompt->refuse("must be one of prompts");
  }
  return texts;
}

void copy_sentence_texts(const std::filesystem::path& model, const std::filesystem::path& folder) {
  const SentenceTexts texts = read_sentence_texts(model);
  if (texts.most_tokens || texts.lower_case) {
    Json config = Json::object({{"do_lower_case", texts.lower_case}});
    if (texts.most_tokens) config.set("max_seq_length", *texts.most_tokens);
    write_json(folder / kLengths[0], config);
  }
  if (lies_in(model, kPrompts)) write_json(folder / kPrompts, read_json(model / kPrompts));
}

}  // namespace heed
