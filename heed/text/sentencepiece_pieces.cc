#include "heed/text/sentencepiece_pieces.h"

#include <string>

#include "heed/base/check.h"
#include "heed/text/sentencepiece_fields.h"
#include "heed/text/sentencepiece_model_check.h"

namespace heed {
namespace {

// message SentencePiece { string piece = 1; float score = 2; Type type = 3; }
void add_piece(std::string_view bytes, std::string_view name, PlainVocabulary& plain) {
  plain.pieces.emplace_back();
  plain.scores.push_back(0);
  plain.types.push_back(PlainVocabulary::Type::normal);
  for (SentencePieceMessage piece(bytes, name); !piece.done();) {
    const SentencePieceField field = piece.next();
    if (field.number == 1) plain.pieces.back() = field.bytes;
    if (field.number == 2) plain.scores.back() = field.number32();
    if (field.number == 3) plain.types.back() = static_cast<PlainVocabulary::Type>(field.value);
  }
}

// message TrainerSpec { ...; ModelType model_type = 3; ...; bool treat_whitespace_as_suffix = 24; ... }
void read_trainer_spec(std::string_view bytes, std::string_view name, PlainVocabulary& plain) {
  constexpr std::uint64_t kUnigram = 1, kBpe = 2;
  for (SentencePieceMessage trainer(bytes, name); !trainer.done();) {
    const SentencePieceField field = trainer.next();
    if (field.number == 3) {
      HEED_CHECK(field.value == kUnigram || field.value == kBpe,
                 "{}: must be a unigram or a BPE model, but has the type {}", name, field.value);
      plain.kind = field.value == kBpe ? PlainVocabulary::Kind::llama : PlainVocabulary::Kind::t5;
    }
    HEED_CHECK(field.number != 24 || field.value == 0, "{}: a model with treat_whitespace_as_suffix is not supported",
               name);
  }
}

// message NormalizerSpec { string name = 1; bytes precompiled_charsmap = 2; bool add_dummy_prefix = 3;
//                          bool remove_extra_whitespaces = 4; bool escape_whitespaces = 5; ... }
void read_normalizer_spec(std::string_view bytes, std::string_view name, PlainVocabulary& plain) {
  for (SentencePieceMessage normaliser(bytes, name); !normaliser.done();) {
    const SentencePieceField field = normaliser.next();
    if (field.number == 2) plain.character_map = field.bytes;
    if (field.number == 3) plain.space_prefix = field.value != 0;
    if (field.number == 4) plain.single_spaces = field.value != 0;
    HEED_CHECK(field.number != 5 || field.value != 0, "{}: a model without escape_whitespaces is not supported", name);
  }
}

}  // namespace

PlainVocabulary read_sentencepiece_pieces(std::string_view bytes, std::string_view name) {
  check_sentencepiece_model(bytes, name, SentencePieceRules::library);
  PlainVocabulary plain{.kind = PlainVocabulary::Kind::t5, .single_spaces = true};
  for (SentencePieceMessage model(bytes, name); !model.done();) {
    const SentencePieceField field = model.next();
    if (field.number == 1) add_piece(field.bytes, name, plain);
    if (field.number == 2) read_trainer_spec(field.bytes, name, plain);
    if (field.number == 3) read_normalizer_spec(field.bytes, name, plain);
  }
  for (std::size_t id = 0; id < plain.types.size(); ++id) {
    if (plain.types[id] == PlainVocabulary::Type::unknown) plain.symbols.unknown = static_cast<int>(id);
  }
  HEED_CHECK(plain.symbols.unknown >= 0, "{}: has no piece for what is unknown", name);
  return plain;
}

}  // namespace heed
