#include "heed/pretrained/gguf_tokens.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>

namespace heed {
namespace {

std::string key_of(std::string_view name) { return fmt::format("tokenizer.ggml.{}", name); }

// llama.cpp's ids of a model of SentencePiece's kind, and of BPE.
struct DefaultId {
  std::string_view model, key;
  std::int32_t id;
};
constexpr std::array<DefaultId, 5> kDefaultIds{{{"llama", "unknown_token_id", 0},
                                                {"llama", "bos_token_id", 1},
                                                {"llama", "eos_token_id", 2},
                                                {"gpt2", "bos_token_id", 11},
                                                {"gpt2", "eos_token_id", 11}}};

std::int32_t default_id(const Json& metadata, std::string_view key) {
  if (!metadata.has(key_of("model"))) return -1;
  const std::string model = metadata[key_of("model")].string();
  const auto known =
      std::ranges::find_if(kDefaultIds, [&](const DefaultId& each) { return each.model == model && each.key == key; });
  return known == kDefaultIds.end() ? -1 : known->id;
}

}  // namespace

std::vector<std::string> gguf_pieces(const Json& metadata) {
  std::vector<std::string> pieces = metadata[key_of("tokens")].string_list();
  for (std::size_t id = 0; id < pieces.size(); ++id) {
    if (pieces[id].empty()) pieces[id] = fmt::format("[EMPTY_{}]", id);
  }
  return pieces;
}

std::int32_t gguf_token_id(const Json& metadata, std::string_view key) {
  const auto of_piece = [&](Index id) {
    return id >= 0 && id < metadata[key_of("tokens")].size() ? static_cast<std::int32_t>(id) : -1;
  };
  const std::string name = key_of(key);
  const std::int32_t named = metadata.has(name) ? of_piece(metadata[name].integer()) : -1;
  return named >= 0 ? named : of_piece(default_id(metadata, key));
}

std::int32_t gguf_begin(const Json& metadata) {
  const bool is_default_of_bpe = !metadata.has(key_of("bos_token_id")) && metadata.has(key_of("model")) &&
                                 metadata[key_of("model")] == Json("gpt2");
  return is_default_of_bpe ? -1 : gguf_token_id(metadata, "bos_token_id");
}

std::vector<std::int32_t> gguf_ends(const Json& metadata) {
  std::vector<std::int32_t> ends;
  if (!metadata.has(key_of("tokens"))) return ends;
  const std::vector<std::string> pieces = gguf_pieces(metadata);
  const auto has = [&](std::int32_t id) { return std::ranges::count(ends, id) > 0; };
  const auto add = [&](std::int32_t id) {
    if (id >= 0 && !has(id)) ends.push_back(id);
    return id >= 0;
  };
  const auto piece = [&](std::string_view text) {
    const auto found = std::ranges::find(pieces, text);
    return found == pieces.end() ? -1 : static_cast<std::int32_t>(found - pieces.begin());
  };
  const auto add_pieces = [&](std::initializer_list<std::string_view> texts) {
    bool any = false;
    for (const std::string_view text : texts) any = add(piece(text)) || any;
    return any;
  };
  add(gguf_token_id(metadata, "eos_token_id"));
  const bool has_end_of_turn = add(gguf_token_id(metadata, "eot_token_id"));
  add(gguf_token_id(metadata, "eom_token_id"));
  const bool has_known =
      add_pieces({"<|eot_id|>", "<|im_end|>", "<|end|>", "<|return|>", "<|call|>", "<end_of_turn>", "<|endoftext|>",
                  "<|eom_id|>", "<EOT>", "_<EOT>", "<|end_of_text|>", "<end_of_utterance>"});
  if (!has_end_of_turn && !has_known) add_pieces({"<｜end▁of▁sentence｜>"});  // DeepSeek's
  // In code: padding, and where one of several files ends.
  if (!add(gguf_token_id(metadata, "fim_pad_token_id"))) add_pieces({"<|fim_pad|>", "<fim-pad>", "<fim_pad>", "<PAD>"});
  if (!add(gguf_token_id(metadata, "fim_rep_token_id")))
    add_pieces({"<|fim_repo|>", "<|repo_name|>", "<fim-repo>", "<REPO>", "<reponame>"});
  if (!add(gguf_token_id(metadata, "fim_sep_token_id"))) add_pieces({"<|file_sep|>"});
  // A model that ends its answers by these ends its thoughts by <|end|>.
  if (has(piece("<|return|>")) && has(piece("<|call|>"))) std::erase(ends, piece("<|end|>"));
  return ends;
}

}  // namespace heed
