#include "heed/text/bounded_vocabulary.h"

#include <utility>

#include "heed/base/check.h"
#include "heed/base/printable.h"

namespace heed {
namespace {

SymbolIds symbols_below(Index rows, SymbolIds symbols) {
  for (int* id : {&symbols.pad, &symbols.unknown, &symbols.begin, &symbols.end, &symbols.classifier, &symbols.separator,
                  &symbols.mask}) {
    if (*id >= rows) *id = -1;
  }
  return symbols;
}

}  // namespace

BoundedVocabulary::BoundedVocabulary(std::shared_ptr<const Vocabulary> whole, Index rows)
    : Vocabulary(symbols_below(rows, whole->symbols())), whole_(std::move(whole)), rows_(rows) {}

void BoundedVocabulary::check_known(std::span<const int> ids) const {
  for (const int id : ids) {
    HEED_CHECK(id < rows_, "the text has the token '{}', whose id is {}, but the model's embedding has {} rows",
               printable(whole_->piece(id)), id, rows_);
  }
}

std::vector<int> BoundedVocabulary::encode(std::string_view text) const {
  std::vector<int> ids = whole_->encode(text);
  check_known(ids);
  return ids;
}

EncodedText BoundedVocabulary::encode_special(std::string_view text) const {
  EncodedText encoded = whole_->encode_special(text);
  check_known(encoded.ids);
  return encoded;
}

EncodedText BoundedVocabulary::encode_special(std::string_view first, std::string_view second) const {
  EncodedText encoded = whole_->encode_special(first, second);
  check_known(encoded.ids);
  return encoded;
}

std::string BoundedVocabulary::piece(int id) const {
  check_id(id, "piece");
  return whole_->piece(id);
}

std::string BoundedVocabulary::surface(int id) const {
  check_id(id, "surface");
  return whole_->surface(id);
}

int BoundedVocabulary::id_of(std::string_view piece) const {
  const int id = whole_->id_of(piece);
  return id < rows_ ? id : -1;
}

std::string BoundedVocabulary::text_of(std::span<const int> ids, Specials specials) const {
  for (const int id : ids) check_id(id, "decode");
  return whole_->decode(ids, specials);
}

std::shared_ptr<const Vocabulary> bounded_vocabulary(std::shared_ptr<const Vocabulary> vocabulary, Index rows) {
  if (vocabulary->size() <= rows) return vocabulary;
  return std::make_shared<const BoundedVocabulary>(std::move(vocabulary), rows);
}

}  // namespace heed
