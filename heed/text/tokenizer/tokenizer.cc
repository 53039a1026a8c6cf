#include "heed/text/tokenizer/tokenizer.h"

#include <algorithm>
#include <array>
#include <utility>

#include "heed/base/check.h"
#include "heed/base/file.h"
#include "heed/base/file_writer.h"
#include "heed/base/utf8.h"
#include "heed/text/tokenizer/added_tokens.h"
#include "heed/text/tokenizer/json_fields.h"
#include "heed/text/tokenizer/normaliser.h"
#include "heed/text/tokenizer/piece_decoder.h"
#include "heed/text/tokenizer/pre_tokenizer.h"
#include "heed/text/tokenizer/special_template.h"
#include "heed/text/tokenizer/symbols.h"
#include "heed/text/tokenizer/token_model.h"

namespace heed {

struct Tokenizer::Impl {
  std::string definition;
  std::unique_ptr<const Normaliser> normaliser;       // null: none
  std::unique_ptr<const PreTokenizer> pre_tokenizer;  // null: none
  std::unique_ptr<const TokenModel> model;
  AddedTokens added;
  SpecialTemplate around;
  std::unique_ptr<const PieceDecoder> decoder;
  std::vector<bool> special;  // by id
  Index size = 0;

  const std::string& piece(int id) const {
    static const std::string none;
    if (const AddedToken* token = added.token(id)) return token->content;
    return id < model->pieces().size() ? model->pieces().piece(id) : none;
  }
  int id_of(std::string_view piece) const {
    const int id = added.find(piece);
    return id >= 0 ? id : model->pieces().find(piece);
  }
  std::vector<int> encode(std::string_view text) const;
};

std::vector<int> Tokenizer::Impl::encode(std::string_view text) const {
  Index wrong = 0;
  HEED_CHECK(valid_utf8(text, &wrong), "encode: byte {} of the text is not valid UTF-8", wrong);
  std::vector<int> ids;
  const WordSink tokenize = [&](Word word) { model->tokenize(word.text, ids); };
  added.split(text, normaliser.get(), [&](Word word, int id) {
    if (id >= 0) {
      ids.push_back(id);
    } else if (pre_tokenizer == nullptr) {
      tokenize(word);
    } else {
      pre_tokenizer->split(word, tokenize);
    }
  });
  return ids;
}

Tokenizer Tokenizer::read(std::string text, const Json& json) {
  auto impl = std::make_shared<Impl>();
  const auto member = [&](std::string_view key) { return json.has(key) ? json[key] : Json(); };
  impl->definition = std::move(text);
  impl->normaliser = read_normaliser(member("normalizer"));
  impl->pre_tokenizer = read_pre_tokenizer(member("pre_tokenizer"));
  impl->model = read_token_model(json["model"], impl->pre_tokenizer == nullptr);
  if (is_given(json, "added_tokens")) {
    for (const Json& item : json["added_tokens"].items()) {
      const AddedToken token = read_added_token(item);
      try {
        impl->added.add(token, impl->model->pieces());
      } catch (const Error& error) {
        throw Error(item.where() + ": " + error.what());
      }
    }
  }
  impl->added.finish(impl->normaliser.get());
  impl->around = SpecialTemplate(member("post_processor"));
  impl->decoder = read_piece_decoder(member("decoder"));
  // What goes around a text may be no token's: that leaves a hole.
  impl->size =
      1 + std::max<Index>({impl->model->pieces().size() - 1, impl->added.largest_id(), impl->around.largest_id()});
  impl->special.resize(static_cast<std::size_t>(impl->size));
  for (const int id : impl->added.special_ids()) impl->special[static_cast<std::size_t>(id)] = true;
  const auto find = [&](std::string_view piece) { return impl->id_of(piece); };
  const SymbolIds symbols =
      json.has("symbols") ? read_symbols(json["symbols"], impl->size) : symbols_by_name(find, impl->model->unknown());
  return Tokenizer(std::move(impl), symbols);
}

Tokenizer Tokenizer::from_json(std::string_view text, std::string_view name) {
  return read(std::string(text), Json::parse(text, name));
}

Tokenizer Tokenizer::from_definition(const Json& definition, std::string_view name) {
  return read(definition.dump(), definition.named(name));
}

Tokenizer Tokenizer::with_symbols(const SymbolIds& symbols) const {
  check_symbols(symbols, size(), "Tokenizer::with_symbols");
  return Tokenizer(impl_, symbols);
}

Tokenizer Tokenizer::with_special_token(const std::function<bool(std::string_view)>& replaced, int id) const {
  Json json = Json::parse(impl_->definition, "tokenizer");
  const Json around = json.has("post_processor") ? json["post_processor"] : Json();
  json.set("post_processor", heed::with_special_token(around, replaced, piece(id), id));
  json.set("symbols", symbols_json(symbols()));
  return read(json.dump(), json);
}

Tokenizer Tokenizer::load(const std::filesystem::path& path) { return from_json(read_file(path), path.string()); }

std::filesystem::path Tokenizer::path_in(const std::filesystem::path& folder, std::string_view stem) {
  return folder / fmt::format("{}.tokenizer.json", stem);
}

std::vector<int> Tokenizer::encode(std::string_view text) const { return impl_->encode(text); }

EncodedText Tokenizer::encode_special(std::string_view text) const { return impl_->around.apply(encode(text)); }

EncodedText Tokenizer::encode_special(std::string_view first, std::string_view second) const {
  return impl_->around.apply(encode(first), encode(second));
}

bool Tokenizer::is_special(int id) const {
  return id >= 0 && id < size() && impl_->special[static_cast<std::size_t>(id)];
}

std::string Tokenizer::piece(int id) const {
  check_id(id, "Tokenizer::piece");
  return impl_->piece(id);
}

int Tokenizer::id_of(std::string_view piece) const { return impl_->id_of(piece); }

Index Tokenizer::size() const { return impl_->size; }

void Tokenizer::save(const std::filesystem::path& folder, std::string_view stem) const {
  Json json = Json::parse(impl_->definition);
  json.set("symbols", symbols_json(symbols()));
  make_folder(folder);
  write_file(path_in(folder, stem), json.dump());
}

std::string Tokenizer::text_of(std::span<const int> ids, Specials specials) const {
  std::vector<std::string> pieces;
  pieces.reserve(ids.size());
  for (const int id : ids) {
    check_id(id, "Tokenizer::decode");
    const std::string& text = impl_->piece(id);
    if (!text.empty() && (specials == Specials::keep || !is_special(id))) pieces.push_back(text);
  }
  std::string text;
  if (pieces.empty()) return text;
  for (const std::string& part : impl_->decoder->decode(std::move(pieces))) text += part;
  return text;
}

// What decoding a piece behind another one adds: a decoder may treat the first one in a text differently.
std::string Tokenizer::surface(int id) const {
  static const std::string kBefore = "x";
  std::string text;
  for (const std::string& part : impl_->decoder->decode({kBefore, impl_->piece(id)})) text += part;
  return text.starts_with(kBefore) ? text.substr(kBefore.size()) : text;
}

}  // namespace heed
