// Models that give the pieces of a SentencePiece model other ids than its file, and know tokens that it has not:
// fairseq's (XLM-RoBERTa, CamemBERT, mBART, mBART 50, M2M-100, NLLB) and PEGASUS'. Their folders may hold nothing but
// that file.
//
//   const PlainVocabulary model = read_sentencepiece_pieces(bytes, "sentencepiece.bpe.model");
//   Tokenizer::from_definition(renumbered_definition(model, {.tokenizer_class = "MBart50Tokenizer"}, name), name);
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "heed/io/json.h"
#include "heed/text/plain_vocabulary.h"

namespace heed {

struct Renumbering {
  std::string tokenizer_class;    // as Hugging Face's files name it
  std::string source_language{};  // "de_DE", of NLLB "deu_Latn", of M2M-100 "de"; empty: English
  bool language_behind = false;   // of NLLB: a text's language stands behind it
  std::string language_set{};     // of M2M-100: "m2m100" or "wmt21"; empty: the first
  std::optional<Json> list{};     // of M2M-100: vocab.json, {"piece": id}
  std::optional<Index> offset{};  // of PEGASUS: by how much ids are moved; 103 where it is not said
};

bool is_renumbered(std::string_view tokenizer_class);

// The content of a tokenizer.json for the model, `model` being what its file says. Throws heed::Error that begins with
// `name` where the file's first pieces are not the symbols that such a file has, M2M-100's list lacks a piece or has an
// id twice, a language is not one of the model's, or PEGASUS' offset is another.
Json renumbered_definition(const PlainVocabulary& model, const Renumbering& how, std::string_view name);

}  // namespace heed
