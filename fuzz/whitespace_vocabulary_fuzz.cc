// A list of words: each word's id gives the word back, and a list that was read and is written again reads the same.
#include "heed/text/whitespace_vocabulary.h"

#include "property.h"
#include "scratch_file.h"

namespace heed::fuzz {
namespace {

std::vector<std::string> pieces_of(const WhitespaceVocabulary& vocabulary) {
  std::vector<std::string> pieces;
  for (int id = 0; id < vocabulary.size(); ++id) pieces.push_back(vocabulary.piece(id));
  return pieces;
}

void check_whitespace_vocabulary(std::string_view bytes) {
  const std::filesystem::path file = scratch_file("input.vocab.txt", bytes);
  const auto vocabulary = taken([&] { return WhitespaceVocabulary::load(file); });
  if (!vocabulary) return;
  const std::vector<std::string> pieces = pieces_of(*vocabulary);
  for (int id = kOwnSymbols.end + 1; id < vocabulary->size(); ++id) {
    require(vocabulary->encode(pieces[static_cast<std::size_t>(id)]) == std::vector<int>{id}, "a word's id is its own");
    vocabulary->decode(std::vector<int>{id, id});
  }
  vocabulary->save(scratch_folder(), "written");
  const auto again = WhitespaceVocabulary::load(WhitespaceVocabulary::path_in(scratch_folder(), "written"));
  require(pieces_of(again) == pieces, "what is written reads the same");
}

}  // namespace
}  // namespace heed::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  heed::fuzz::check_whitespace_vocabulary(heed::fuzz::bytes_of(data, size));
  return 0;
}
