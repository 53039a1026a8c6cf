#include "heed/text/sentencepiece_vocabulary.h"

#include <sentencepiece_processor.h>

#include "heed/base/check.h"
#include "heed/base/control_characters.h"
#include "heed/base/file.h"
#include "heed/base/file_writer.h"
#include "heed/text/sentencepiece_loading.h"
#include "heed/text/sentencepiece_model_check.h"

namespace heed {

struct SentencePieceVocabulary::Impl {
  sentencepiece::SentencePieceProcessor processor;
  std::string bytes;
};

SentencePieceVocabulary SentencePieceVocabulary::from_bytes(std::string_view model, std::string_view name) {
  // SentencePiece trusts parts of a model enough to read outside it; those are checked before it sees the bytes.
  check_sentencepiece_model(model, name, SentencePieceRules::own);
  auto impl = std::make_shared<Impl>();
  impl->bytes = model;
  load_sentencepiece(impl->bytes, name, impl->processor);
  const auto& processor = impl->processor;
  const SymbolIds symbols{
      .pad = processor.pad_id(), .unknown = processor.unk_id(), .begin = processor.bos_id(), .end = processor.eos_id()};
  HEED_CHECK(symbols == kOwnSymbols,
             "{}: the ids of pad, unknown, begin and end must be {} {} {} {}, but are {} {} {} {}", name,
             kOwnSymbols.pad, kOwnSymbols.unknown, kOwnSymbols.begin, kOwnSymbols.end, symbols.pad, symbols.unknown,
             symbols.begin, symbols.end);
  return SentencePieceVocabulary(std::move(impl));
}

SentencePieceVocabulary SentencePieceVocabulary::load(const std::filesystem::path& path) {
  return from_bytes(read_file(path), path.string());
}

std::filesystem::path SentencePieceVocabulary::path_in(const std::filesystem::path& folder, std::string_view stem) {
  return folder / fmt::format("{}.spm", stem);
}

std::vector<int> SentencePieceVocabulary::encode(std::string_view sentence) const {
  std::vector<int> ids;
  const auto status = impl_->processor.Encode(sentence, &ids);
  HEED_CHECK(status.ok(), "SentencePieceVocabulary::encode: {}", status.message());
  return ids;
}

std::string SentencePieceVocabulary::text_of(std::span<const int> ids, Specials) const {
  std::vector<int> visible;
  visible.reserve(ids.size());
  for (const int id : ids) {
    check_id(id, "SentencePieceVocabulary::decode");
    if (!is_special(id)) visible.push_back(id);
  }
  std::string sentence;
  const auto status = impl_->processor.Decode(visible, &sentence);
  HEED_CHECK(status.ok(), "SentencePieceVocabulary::decode: {}", status.message());
  return without_control_characters(sentence);  // pieces hold none, but byte pieces and the model's own rules may
}

std::string SentencePieceVocabulary::piece(int id) const {
  check_id(id, "SentencePieceVocabulary::piece");
  return impl_->processor.IdToPiece(id);
}

int SentencePieceVocabulary::id_of(std::string_view piece) const {
  const int id = impl_->processor.PieceToId(piece);  // unknown() where there is none
  return impl_->processor.IdToPiece(id) == piece ? id : -1;
}

Index SentencePieceVocabulary::size() const { return impl_->processor.GetPieceSize(); }

void SentencePieceVocabulary::save(const std::filesystem::path& folder, std::string_view stem) const {
  make_folder(folder);
  write_file(path_in(folder, stem), impl_->bytes);
}

const std::string& SentencePieceVocabulary::bytes() const { return impl_->bytes; }

std::string SentencePieceVocabulary::surface(int id) const { return surface_of_piece(impl_->processor.IdToPiece(id)); }

}  // namespace heed
