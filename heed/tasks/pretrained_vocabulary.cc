#include "heed/tasks/pretrained_vocabulary.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "heed/base/check.h"
#include "heed/base/file.h"
#include "heed/base/utf8.h"
#include "heed/io/json.h"
#include "heed/io/llama2c.h"
#include "heed/io/open_checkpoint.h"
#include "heed/pretrained/config_fields.h"
#include "heed/pretrained/ctranslate2_tokens.h"
#include "heed/pretrained/gguf_tokens.h"
#include "heed/pretrained/pretrained_model.h"
#include "heed/tasks/sentence_modules.h"
#include "heed/text/open_tokenizer.h"
#include "heed/text/plain_vocabulary.h"
#include "heed/text/tokenizer/definitions.h"
#include "heed/text/tokenizer/tokenizer.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

// What CTranslate2 puts around a source, of which two are one.
Json template_of_sources(const Ctranslate2Tokens& tokens, const std::vector<std::string>& pieces) {
  const auto token = [&](const std::string& piece, bool is_put) -> std::vector<TemplateToken> {
    if (!is_put) return {};
    return {{piece, ctranslate2_id(pieces, piece, tokens.unknown)}};
  };
  return template_definition(
      {token(tokens.begin, tokens.begins_source), token(tokens.end, tokens.ends_source), std::vector<TemplateToken>{}});
}

// CTranslate2 reads texts that are pieces already, with spaces between them.
std::shared_ptr<const Vocabulary> pieces_between_spaces(const fs::path& folder, std::string_view side,
                                                        const Ctranslate2Tokens& tokens) {
  const std::vector<std::string> pieces = ctranslate2_pieces(folder, side, tokens.unknown);
  std::vector<Json::Member> ids;
  for (std::size_t id = 0; id < pieces.size(); ++id) {
    HEED_CHECK(valid_utf8(pieces[id]), "{}: the {} vocabulary: piece {} is not valid UTF-8", folder.string(), side, id);
    ids.emplace_back(pieces[id], static_cast<Index>(id));
  }
  const Json tokenizer =
      Json::object({{"added_tokens", Json::array()},
                    {"pre_tokenizer", Json::object({{"type", "WhitespaceSplit"}})},
                    {"post_processor", side == "source" ? template_of_sources(tokens, pieces) : Json()},
                    {"model", Json::object({{"type", "WordLevel"},
                                            {"vocab", Json::object(std::move(ids))},
                                            {"unk_token", tokens.unknown}})}});
  return std::make_shared<Tokenizer>(Tokenizer::from_json(tokenizer.dump(), folder.string()));
}

// GGUF's tokenizer.ggml.*.
std::shared_ptr<const Vocabulary> vocabulary_in(const Checkpoint& file) {
  const Json& metadata = file.metadata();
  const auto key = [](std::string_view name) { return fmt::format("tokenizer.ggml.{}", name); };
  PlainVocabulary plain;
  const Json model = metadata[key("model")];
  static constexpr std::pair<std::string_view, PlainVocabulary::Kind> kKinds[] = {
      {"llama", PlainVocabulary::Kind::llama},
      {"gpt2", PlainVocabulary::Kind::gpt2},
      {"bert", PlainVocabulary::Kind::bert},
      {"t5", PlainVocabulary::Kind::t5}};
  const auto kind = std::ranges::find(kKinds, std::string_view(model.string()),
                                      &std::pair<std::string_view, PlainVocabulary::Kind>::first);
  if (kind == std::end(kKinds)) model.refuse("must be llama, gpt2, bert or t5");
  plain.kind = kind->second;
  plain.pieces = gguf_pieces(metadata);
  const bool is_llama = plain.kind == PlainVocabulary::Kind::llama, is_t5 = plain.kind == PlainVocabulary::Kind::t5;
  if (metadata.has(key("scores"))) {
    plain.scores = metadata[key("scores")].float_list();
  } else if (is_llama || is_t5) {
    plain.scores.resize(plain.pieces.size());
  }
  if (metadata.has(key("token_type"))) {
    for (Index type : metadata[key("token_type")].integer_list(0, 6)) {
      plain.types.push_back(static_cast<PlainVocabulary::Type>(std::max<Index>(type, 1)));
    }
  }
  if (metadata.has(key("merges"))) plain.merges = metadata[key("merges")].string_list();
  if (metadata.has(key("pre"))) plain.cut = metadata[key("pre")].string();
  const auto id = [&](std::string_view name) { return gguf_token_id(metadata, name); };
  plain.symbols = {.pad = id("padding_token_id"),
                   .unknown = id("unknown_token_id"),
                   .begin = id("bos_token_id"),
                   .end = id("eos_token_id"),
                   .classifier = id("cls_token_id"),
                   .separator = id("seperator_token_id"),  // as the format spells it
                   .mask = id("mask_token_id")};
  const bool begins = is_llama || (plain.kind == PlainVocabulary::Kind::gpt2 && begins_texts(plain.cut));
  if (flag_or(metadata, {key("add_bos_token")}, begins) && plain.symbols.begin >= 0) {
    plain.before = {plain.symbols.begin};
  }
  if (flag_or(metadata, {key("add_eos_token")}, is_t5) && plain.symbols.end >= 0) plain.behind = {plain.symbols.end};
  plain.space_prefix = flag_or(metadata, {key("add_space_prefix")}, true);
  plain.single_spaces = flag_or(metadata, {key("remove_extra_whitespaces")}, false);
  return std::make_shared<Tokenizer>(make_tokenizer(plain, file.name()));
}

// llama2.c's tokenizer.bin, or tok512.bin, whose pieces <unk>, <s> and </s> come first and whose bytes follow them.
std::shared_ptr<const Vocabulary> llama2c_vocabulary(const fs::path& path) {
  const Llama2cVocabulary read = read_llama2c_vocabulary(path);
  PlainVocabulary plain{.pieces = read.pieces, .scores = read.scores};
  plain.symbols = {.unknown = 0, .begin = 1, .end = 2};
  plain.before = {1};
  return std::make_shared<Tokenizer>(make_tokenizer(plain, path.string()));
}

// The vocabulary beside llama2.c's file: tokenizer.bin, or the only tok*.bin; nothing where there is none.
fs::path llama2c_vocabulary_beside(const fs::path& model) {
  const fs::path folder = model.parent_path();
  if (file_exists(folder / "tokenizer.bin")) return folder / "tokenizer.bin";
  std::vector<fs::path> found;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder.empty() ? "." : folder, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("tok") && name.ends_with(".bin")) found.push_back(entry.path());
  }
  return found.size() == 1 ? found.front() : fs::path();
}

bool has_file_of(const fs::path& folder, std::string_view side) {
  return file_exists(folder / fmt::format("{}_vocabulary.txt", side)) ||
         file_exists(folder / fmt::format("{}_vocabulary.json", side));
}

// Where a model's vocabularies are.
struct VocabularyPlace {
  enum class Kind { nowhere, gguf, llama2c, ctranslate2, tokenizer } kind = Kind::nowhere;
  fs::path path{};  // of the file, or of the folder that has several
};

VocabularyPlace place_of_vocabularies(const fs::path& given) {
  const fs::path path = weights_of_sentence_folder(given);
  std::error_code error;
  const bool is_folder = fs::is_directory(path, error);
  const fs::path folder = is_folder ? path : path.parent_path();
  if (!is_folder || !has_tokenizer(folder)) {
    const fs::path weights = checkpoint_path(path);
    const CheckpointFormat format = open_checkpoint(weights).format();
    if (format == CheckpointFormat::gguf) return {VocabularyPlace::Kind::gguf, weights};
    if (format == CheckpointFormat::llama2c) {
      const fs::path beside = llama2c_vocabulary_beside(weights);
      return beside.empty() ? VocabularyPlace{} : VocabularyPlace{VocabularyPlace::Kind::llama2c, beside};
    }
  }
  if (file_exists(folder / "model.bin") && (has_file_of(folder, "target") || has_file_of(folder, "shared"))) {
    return {VocabularyPlace::Kind::ctranslate2, folder};
  }
  return has_tokenizer(folder) ? VocabularyPlace{VocabularyPlace::Kind::tokenizer, folder} : VocabularyPlace{};
}

Vocabularies joint(std::shared_ptr<const Vocabulary> vocabulary) { return {vocabulary, vocabulary}; }

}  // namespace

bool has_vocabularies(const fs::path& path) {
  return place_of_vocabularies(path).kind != VocabularyPlace::Kind::nowhere;
}

Vocabularies open_vocabularies(const fs::path& path) {
  const VocabularyPlace place = place_of_vocabularies(path);
  switch (place.kind) {
    case VocabularyPlace::Kind::gguf:
      return joint(vocabulary_in(open_checkpoint(place.path)));
    case VocabularyPlace::Kind::llama2c:
      return joint(llama2c_vocabulary(place.path));
    case VocabularyPlace::Kind::ctranslate2: {
      const Ctranslate2Tokens tokens = read_ctranslate2_tokens(place.path, open_checkpoint(place.path / "model.bin"));
      const std::shared_ptr<const Vocabulary> source = pieces_between_spaces(place.path, "source", tokens);
      // The target's pieces are counted where the model is described.
      const Index rows = describe_pretrained(place.path).config.source_vocabulary;
      HEED_CHECK(source->size() == rows, "{}: its source vocabulary has {} pieces, but its embedding has {} rows",
                 place.path.string(), source->size(), rows);
      return {source, has_file_of(place.path, "shared") ? source : pieces_between_spaces(place.path, "target", tokens)};
    }
    case VocabularyPlace::Kind::tokenizer: {
      const std::shared_ptr<const Vocabulary> source = open_tokenizer(place.path, TokenizerSide::source);
      const bool two = file_exists(place.path / "source.spm") && file_exists(place.path / "target.spm");
      return {source, two ? open_tokenizer(place.path, TokenizerSide::target) : source};
    }
    case VocabularyPlace::Kind::nowhere:
      break;
  }
  fail("{}: has no tokenizer: neither tokenizer.json nor another that heed reads beside its weights", path.string());
}

}  // namespace heed
