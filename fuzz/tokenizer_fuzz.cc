// tokenizer.json: one that is taken gives ids of its vocabulary for any text, and UTF-8 for any ids; written and read
// again it is the same.
#include "heed/text/tokenizer/tokenizer.h"

#include <algorithm>

#include "heed/base/file.h"
#include "heed/base/utf8.h"
#include "heed/text/streaming_decoder.h"
#include "property.h"
#include "scratch_file.h"

namespace heed::fuzz {
namespace {

constexpr std::string_view kTokenizedTexts[] = {
    "the cat läuft ﬁ ① 日本語。 x",         "", " a  b ccc\n<s>", "\xFF\xC3(", "I've 123 [CLS] e\u0301 Å \xE2\x96\x81",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"};
constexpr Index kMostTokens = 300;

void check_decoding(const Vocabulary& vocabulary, const std::vector<int>& ids) {
  for (const Specials specials : {Specials::drop, Specials::keep}) {
    const auto text = taken([&] { return vocabulary.decode(ids, specials); });
    if (text) require(valid_utf8(*text), "what is decoded is UTF-8");
  }
  taken([&] {
    StreamingDecoder stream(vocabulary);
    for (const int id : ids) stream.add(id);
    return stream.finish();
  });
  const auto words = taken([&] { return vocabulary.word_of_pieces(ids); });
  if (words) {
    require(words->size() == ids.size() && std::ranges::all_of(*words, [](int word) { return word >= -1; }),
            "every piece has a word or none");
  }
}

void check_tokenizer(std::string_view bytes) {
  const auto vocabulary = taken([&] { return Tokenizer::from_json(bytes, "input"); });
  if (!vocabulary) return;
  vocabulary->save(scratch_folder(), "written");
  const Tokenizer again = Tokenizer::load(Tokenizer::path_in(scratch_folder(), "written"));
  require(again.size() == vocabulary->size() && again.symbols() == vocabulary->symbols(),
          "what is written reads as the same tokenizer");
  for (const std::string_view text : kTokenizedTexts) {
    const auto encoded = taken([&] { return vocabulary->encode_special(text, "b"); });
    if (!encoded) continue;
    require(encoded->ids.size() == encoded->types.size(), "every id has a type");
    for (const int id : encoded->ids) require(id >= 0 && id < vocabulary->size(), "ids are of the vocabulary");
    require(taken([&] { return again.encode_special(text, "b"); }) == encoded, "what is written encodes alike");
    check_decoding(*vocabulary, encoded->ids);
  }
  for (int id = 0; id < std::min(vocabulary->size(), kMostTokens); ++id) check_decoding(*vocabulary, {id, id});
}

}  // namespace
}  // namespace heed::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  heed::fuzz::check_tokenizer(heed::fuzz::bytes_of(data, size));
  return 0;
}
