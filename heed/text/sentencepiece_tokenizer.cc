#include "heed/text/sentencepiece_tokenizer.h"

#include <sentencepiece_processor.h>

#include "heed/base/check.h"
#include "heed/base/file.h"
#include "heed/base/file_writer.h"
#include "heed/base/utf8.h"
#include "heed/text/sentencepiece_loading.h"
#include "heed/text/sentencepiece_model_check.h"

namespace heed {
namespace {

// An own field at the end of the message, number 7654 of type bytes: "begins", "ends", both with a space, or nothing.
constexpr std::string_view kTemplateTag = "\xB2\xDE\x03";

std::string template_field(const SentencePieceTemplate& around) {
  const std::string text = std::string(around.begins ? "begins" : "") + (around.begins && around.ends ? " " : "") +
                           (around.ends ? "ends" : "");
  return std::string(kTemplateTag) + static_cast<char>(text.size()) + text;
}

// Takes the field from the model's end, where save put it.
void take_template(std::string_view& model, SentencePieceTemplate& around) {
  for (const bool begins : {false, true}) {
    for (const bool ends : {false, true}) {
      const std::string field = template_field({begins, ends});
      if (!model.ends_with(field)) continue;
      model.remove_suffix(field.size());
      around = {begins, ends};
      return;
    }
  }
}

}  // namespace

struct SentencePieceTokenizer::Impl {
  sentencepiece::SentencePieceProcessor processor;
  std::string bytes;
  SentencePieceTemplate around;
};

SentencePieceTokenizer SentencePieceTokenizer::from_bytes(std::string_view model, std::string_view name,
                                                          SentencePieceTemplate around) {
  take_template(model, around);
  check_sentencepiece_model(model, name, SentencePieceRules::library);
  auto impl = std::make_shared<Impl>();
  impl->bytes = model;
  impl->around = around;
  load_sentencepiece(impl->bytes, name, impl->processor);
  const auto& processor = impl->processor;
  const SymbolIds symbols{
      .pad = processor.pad_id(), .unknown = processor.unk_id(), .begin = processor.bos_id(), .end = processor.eos_id()};
  HEED_CHECK(!around.begins || symbols.begin >= 0, "{}: a text is to begin with a symbol that the model lacks", name);
  HEED_CHECK(!around.ends || symbols.end >= 0, "{}: a text is to end with a symbol that the model lacks", name);
  return SentencePieceTokenizer(std::move(impl), symbols);
}

SentencePieceTokenizer SentencePieceTokenizer::load(const std::filesystem::path& path, SentencePieceTemplate around) {
  return from_bytes(read_file(path), path.string(), around);
}

std::filesystem::path SentencePieceTokenizer::path_in(const std::filesystem::path& folder, std::string_view stem) {
  return folder / fmt::format("{}.model", stem);
}

std::vector<int> SentencePieceTokenizer::encode(std::string_view text) const {
  Index wrong = 0;
  HEED_CHECK(valid_utf8(text, &wrong), "encode: byte {} of the text is not valid UTF-8", wrong);
  std::vector<int> ids;
  const auto status = impl_->processor.Encode(text, &ids);
  HEED_CHECK(status.ok(), "SentencePieceTokenizer::encode: {}", status.message());
  return ids;
}

EncodedText SentencePieceTokenizer::with_symbols(std::vector<int> ids, int type) const {
  if (impl_->around.begins) ids.insert(ids.begin(), begin());
  if (impl_->around.ends) ids.push_back(end());
  EncodedText text{std::move(ids), {}};
  text.types.assign(text.ids.size(), type);
  return text;
}

EncodedText SentencePieceTokenizer::encode_special(std::string_view text) const {
  return with_symbols(encode(text), 0);
}

EncodedText SentencePieceTokenizer::encode_special(std::string_view first, std::string_view second) const {
  EncodedText pair = with_symbols(encode(first), 0);
  const EncodedText behind = with_symbols(encode(second), 1);
  pair.ids.insert(pair.ids.end(), behind.ids.begin(), behind.ids.end());
  pair.types.insert(pair.types.end(), behind.types.begin(), behind.types.end());
  return pair;
}

bool SentencePieceTokenizer::is_special(int id) const {
  return id >= 0 && id < size() && impl_->processor.IsControl(id);
}

std::string SentencePieceTokenizer::piece(int id) const {
  check_id(id, "SentencePieceTokenizer::piece");
  return impl_->processor.IdToPiece(id);
}

int SentencePieceTokenizer::id_of(std::string_view piece) const {
  const int id = impl_->processor.PieceToId(piece);  // unknown() where there is none
  return id >= 0 && impl_->processor.IdToPiece(id) == piece ? id : -1;
}

Index SentencePieceTokenizer::size() const { return impl_->processor.GetPieceSize(); }

void SentencePieceTokenizer::save(const std::filesystem::path& folder, std::string_view stem) const {
  make_folder(folder);
  write_file(path_in(folder, stem), impl_->bytes + template_field(impl_->around));
}

std::string SentencePieceTokenizer::text_of(std::span<const int> ids, Specials) const {
  for (const int id : ids) check_id(id, "SentencePieceTokenizer::decode");
  std::string text;
  const auto status = impl_->processor.Decode(std::vector<int>(ids.begin(), ids.end()), &text);
  HEED_CHECK(status.ok(), "SentencePieceTokenizer::decode: {}", status.message());
  return text;
}

std::string SentencePieceTokenizer::surface(int id) const { return surface_of_piece(impl_->processor.IdToPiece(id)); }

}  // namespace heed
