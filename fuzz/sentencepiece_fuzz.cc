// SentencePiece's models: one that is taken is safe to use, and what it encodes and decodes is as Vocabulary says;
// taken apart, too.
#include <algorithm>
#include <array>

#include "heed/base/control_characters.h"
#include "heed/base/utf8.h"
#include "heed/text/albert_definition.h"
#include "heed/text/renumbered_pieces.h"
#include "heed/text/sentencepiece_pieces.h"
#include "heed/text/sentencepiece_vocabulary.h"
#include "heed/text/tokenizer/tokenizer.h"
#include "property.h"

namespace heed::fuzz {
namespace {

constexpr std::string_view kTexts[] = {"the cat läuft ﬁ ① 日本語。 x", "", " a  b ccc ", "\xFF\xC3(",
                                       "Å K ℌ ﷺ \xE2\x96\x81"};
constexpr Index kMostPieces = 300;

// `decode` is of ids that encode gave, or of any.
void check_decoding(const SentencePieceVocabulary& vocabulary, const std::vector<int>& ids) {
  const auto text = taken([&] { return vocabulary.decode(ids); });
  if (text) require(!has_control_character(*text) && valid_utf8(*text), "what is decoded is one line of UTF-8");
  const std::vector<int> words = vocabulary.word_of_pieces(ids);
  require(words.size() == ids.size() && std::ranges::all_of(words, [](int word) { return word >= -1; }),
          "every piece has a word or none");
}

void check_taken_apart(std::string_view bytes) {
  auto model = taken([&] { return read_sentencepiece_pieces(bytes, "input"); });
  constexpr std::array<std::string_view, 3> kSymbols = {"<unk>", "<s>", "</s>"};
  if (!model || model->pieces.size() < kSymbols.size()) return;
  const auto check_texts = [&](const auto& definition) {
    const auto tokenizer = taken([&] { return Tokenizer::from_definition(definition(), "input"); });
    if (!tokenizer) return;
    for (const std::string_view text : kTexts) {
      const auto ids = taken([&] { return tokenizer->encode(text); });
      if (ids) require(valid_utf8(tokenizer->decode(*ids)), "what is decoded is UTF-8");
    }
  };
  std::ranges::copy(kSymbols, model->pieces.begin());
  for (const char* kind : {"MBart50Tokenizer", "XLMRobertaTokenizer", "CamembertTokenizer"}) {
    check_texts([&] { return renumbered_definition(*model, {.tokenizer_class = kind}, "input"); });
  }
  model->pieces[1] = "[CLS]", model->pieces[2] = "[SEP]";
  check_texts([&] { return albert_definition(*model, {}, "input"); });
}

void check_sentencepiece(std::string_view bytes) {
  check_taken_apart(bytes);
  const auto vocabulary = taken([&] { return SentencePieceVocabulary::from_bytes(bytes, "input"); });
  if (!vocabulary) return;
  require(vocabulary->bytes() == bytes, "a model is kept as it is");
  for (const std::string_view text : kTexts) {
    const auto ids = taken([&] { return vocabulary->encode(text); });
    if (!ids) continue;
    for (const int id : *ids) {
      require(id >= 0 && id < vocabulary->size() && id != kOwnSymbols.pad && id != kOwnSymbols.begin &&
                  id != kOwnSymbols.end,
              "text becomes pieces of the vocabulary, and none of pad, begin and end");
    }
    check_decoding(*vocabulary, *ids);
  }
  for (int id = 0; id < std::min(vocabulary->size(), kMostPieces); ++id) {
    require(!has_control_character(vocabulary->piece(id)), "a piece can be shown");
    check_decoding(*vocabulary, {id, id});
  }
}

}  // namespace
}  // namespace heed::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  heed::fuzz::check_sentencepiece(heed::fuzz::bytes_of(data, size));
  return 0;
}
