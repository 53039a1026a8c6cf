#include "heed/text/sentencepiece_words.h"

#include <sentencepiece_processor.h>

#include "heed/base/check.h"
#include "heed/base/file.h"
#include "heed/base/file_writer.h"
#include "heed/base/utf8.h"
#include "heed/io/json.h"
#include "heed/text/sentencepiece_loading.h"
#include "heed/text/sentencepiece_model_check.h"
#include "heed/text/tokenizer/piece_table.h"

namespace heed {

struct SentencePieceWords::Impl {
  sentencepiece::SentencePieceProcessor processor;
  std::string model, list;
  PieceTable pieces;
};

SentencePieceWords SentencePieceWords::from_bytes(std::string_view model, std::string_view model_name,
                                                  std::string_view list, std::string_view list_name) {
  check_sentencepiece_model(model, model_name, SentencePieceRules::library);
  auto impl = std::make_shared<Impl>();
  impl->model = model;
  impl->list = list;
  load_sentencepiece(impl->model, model_name, impl->processor);
  const Json json = Json::parse(list, list_name);
  for (const auto& [piece, id] : json.members()) {
    if (!piece.empty()) impl->pieces.add(piece, id.integer(0, PieceTable::kMostPieces - 1));
  }
  const SymbolIds symbols{
      .pad = impl->pieces.find("<pad>"), .unknown = impl->pieces.find("<unk>"), .end = impl->pieces.find("</s>")};
  HEED_CHECK(symbols.unknown >= 0 && symbols.end >= 0, "{}: has no <unk> or no </s>", list_name);
  return SentencePieceWords(std::move(impl), symbols);
}

SentencePieceWords SentencePieceWords::load(const std::filesystem::path& model, const std::filesystem::path& list) {
  return from_bytes(read_file(model), model.string(), read_file(list), list.string());
}

std::filesystem::path SentencePieceWords::path_in(const std::filesystem::path& folder, std::string_view stem) {
  return folder / fmt::format("{}.words.json", stem);
}

std::vector<int> SentencePieceWords::encode(std::string_view text) const {
  Index wrong = 0;
  HEED_CHECK(valid_utf8(text, &wrong), "encode: byte {} of the text is not valid UTF-8", wrong);
  std::vector<int> ids;
  while (!text.empty()) {
    std::size_t words = text.size(), symbol = 0;
    for (const int id : {end(), unknown(), pad()}) {
      if (id < 0) continue;
      const std::size_t at = text.find(impl_->pieces.piece(id));
      if (at < words) words = at, symbol = impl_->pieces.piece(id).size();
    }
    encode_words(text.substr(0, words), ids);
    if (symbol > 0) ids.push_back(impl_->pieces.find(text.substr(words, symbol)));
    text.remove_prefix(words + symbol);
  }
  return ids;
}

void SentencePieceWords::encode_words(std::string_view text, std::vector<int>& ids) const {
  const auto add = [&](std::string_view piece) {
    const int id = impl_->pieces.find(piece);
    ids.push_back(id >= 0 ? id : unknown());
  };
  if (const std::size_t last = text.rfind("<<"); text.starts_with(">>") && last != text.npos && last > 2) {
    add(text.substr(0, last + 2));
    text.remove_prefix(last + 2);
  }
  std::vector<std::string> pieces;
  const auto status = impl_->processor.Encode(text, &pieces);
  HEED_CHECK(status.ok(), "SentencePieceWords::encode: {}", status.message());
  for (const std::string& one : pieces) add(one);
}

EncodedText SentencePieceWords::encode_special(std::string_view text) const {
  EncodedText encoded{encode(text), {}};
  encoded.ids.push_back(end());
  encoded.types.assign(encoded.ids.size(), 0);
  return encoded;
}

EncodedText SentencePieceWords::encode_special(std::string_view first, std::string_view second) const {
  EncodedText pair = Vocabulary::encode_special(first, second);
  pair.ids.push_back(end());
  pair.types.push_back(pair.types.empty() ? 0 : pair.types.back());
  return pair;
}

std::string SentencePieceWords::piece(int id) const {
  check_id(id, "SentencePieceWords::piece");
  return impl_->pieces.piece(id);
}

int SentencePieceWords::id_of(std::string_view piece) const { return impl_->pieces.find(piece); }

Index SentencePieceWords::size() const { return impl_->pieces.size(); }

void SentencePieceWords::save(const std::filesystem::path& folder, std::string_view stem) const {
  make_folder(folder);
  std::filesystem::path model = path_in(folder, stem);
  write_file(model.replace_extension(".spm"), impl_->model);
  write_file(path_in(folder, stem), impl_->list);
}

std::string SentencePieceWords::text_of(std::span<const int> ids, Specials specials) const {
  std::vector<std::string> pieces;
  for (const int id : ids) {
    check_id(id, "SentencePieceWords::decode");
    if (specials == Specials::keep || !is_special(id)) pieces.push_back(impl_->pieces.piece(id));
  }
  std::string text;
  const auto status = impl_->processor.Decode(pieces, &text);
  HEED_CHECK(status.ok(), "SentencePieceWords::decode: {}", status.message());
  return text;
}

std::string SentencePieceWords::surface(int id) const { return surface_of_piece(impl_->pieces.piece(id)); }

}  // namespace heed
