#include "heed/text/vocabulary.h"

#include "heed/base/check.h"
#include "heed/base/file.h"
#include "heed/text/sentencepiece_tokenizer.h"
#include "heed/text/sentencepiece_vocabulary.h"
#include "heed/text/sentencepiece_words.h"
#include "heed/text/tokenizer/tokenizer.h"
#include "heed/text/whitespace_vocabulary.h"

namespace heed {

EncodedText Vocabulary::encode_special(std::string_view text) const {
  EncodedText encoded{encode(text), {}};
  encoded.types.assign(encoded.ids.size(), 0);
  return encoded;
}

EncodedText Vocabulary::encode_special(std::string_view first, std::string_view second) const {
  EncodedText pair{encode(first), {}};
  const std::vector<int> ids = encode(second);
  pair.types.assign(pair.ids.size(), 0);
  pair.ids.insert(pair.ids.end(), ids.begin(), ids.end());
  pair.types.resize(pair.ids.size(), 1);
  return pair;
}

std::vector<int> Vocabulary::word_of_pieces(std::span<const int> ids) const {
  constexpr int kNextWord = -2;  // a piece of space only: known when the next word starts
  std::vector<int> words(ids.size(), -1);
  int last_word = -1;
  bool between_words = true;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    check_id(ids[i], "word_of_pieces");
    if (is_special(ids[i])) continue;
    int word = kNextWord;
    for (const char byte : surface(ids[i])) {
      if (byte == ' ' || byte == '\n' || byte == '\t' || byte == '\r') {
        between_words = true;
        continue;
      }
      if (between_words) ++last_word;
      between_words = false;
      if (word == kNextWord) word = last_word;
    }
    words[i] = word;
  }
  int following = last_word;
  for (std::size_t i = ids.size(); i-- > 0;) {
    if (words[i] == kNextWord) words[i] = following;
    if (words[i] >= 0) following = words[i];
  }
  return words;
}

void Vocabulary::check_id(int id, std::string_view function) const {
  HEED_CHECK(id >= 0 && id < size(), "{}: id {} is not in the vocabulary of {} pieces", function, id, size());
}

std::vector<std::filesystem::path> vocabulary_paths(const std::filesystem::path& folder, std::string_view stem) {
  return {SentencePieceVocabulary::path_in(folder, stem), WhitespaceVocabulary::path_in(folder, stem),
          Tokenizer::path_in(folder, stem), SentencePieceTokenizer::path_in(folder, stem),
          SentencePieceWords::path_in(folder, stem)};
}

std::unique_ptr<Vocabulary> load_vocabulary(const std::filesystem::path& folder, std::string_view stem) {
  std::vector<std::filesystem::path> there;
  std::string names;
  for (const std::filesystem::path& path : vocabulary_paths(folder, stem)) {
    names += (names.empty() ? "" : ", ") + path.string();
    if (file_exists(path)) there.push_back(path);
  }
  HEED_CHECK(!there.empty(), "load_vocabulary: there is none of {}", names);
  HEED_CHECK(there.size() == 1, "load_vocabulary: there are both {} and {}; remove one", there.front().string(),
             there.back().string());
  const std::filesystem::path& path = there.front();
  if (path == SentencePieceVocabulary::path_in(folder, stem))
    return std::make_unique<SentencePieceVocabulary>(SentencePieceVocabulary::load(path));
  if (path == WhitespaceVocabulary::path_in(folder, stem))
    return std::make_unique<WhitespaceVocabulary>(WhitespaceVocabulary::load(path));
  if (path == Tokenizer::path_in(folder, stem)) return std::make_unique<Tokenizer>(Tokenizer::load(path));
  if (path == SentencePieceTokenizer::path_in(folder, stem))
    return std::make_unique<SentencePieceTokenizer>(SentencePieceTokenizer::load(path));
  std::filesystem::path model = path;
  return std::make_unique<SentencePieceWords>(SentencePieceWords::load(model.replace_extension(".spm"), path));
}

}  // namespace heed
