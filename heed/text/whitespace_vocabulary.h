// A vocabulary of the tokens of text that is tokenised already: one token between two spaces.
//
//   WhitespaceVocabulary words = WhitespaceVocabulary::build(lines, {.min_frequency = 2});
//   words.encode("ein mann läu@@ ft .");                    // five ids
//   words.decode(ids) == "ein mann läuft .";                // "@@ " joins, as subword-nmt's BPE writes it
//   words.save("model", "source");                          // model/source.vocab.txt
#pragma once

#include <unordered_map>

#include "heed/text/vocabulary.h"

namespace heed {

struct WhitespaceOptions {
  Index min_frequency = 1;  // rarer tokens become unknown
  Index max_size = 0;       // pieces in all, the four symbols included; 0: no limit
};

// Its file is UTF-8 text, one token a line, line number - 1 the id; the first four lines are <pad>, <unk>, <s>, </s>.
class WhitespaceVocabulary final : public Vocabulary {
 public:
  // Counts the tokens of the lines and keeps the most frequent, ties in byte order. A token spelled like one of the
  // four symbols, or with a control character, is not kept. Throws heed::Error if an option is out of range, a line is
  // not UTF-8, or no token is left.
  static WhitespaceVocabulary build(std::span<const std::string> lines, const WhitespaceOptions& options = {});
  // Throws heed::Error naming the file and the line: invalid UTF-8, an empty line, white space or a control character
  // in a token, a token that is there twice, a file whose first lines are not the four symbols or that holds nothing
  // else.
  static WhitespaceVocabulary load(const std::filesystem::path& path);
  // folder/stem.vocab.txt
  static std::filesystem::path path_in(const std::filesystem::path& folder, std::string_view stem);

  std::vector<int> encode(std::string_view sentence) const override;
  std::string piece(int id) const override;
  int id_of(std::string_view piece) const override;
  Index size() const override { return static_cast<Index>(tokens_.size()); }
  std::string_view kind() const override { return "whitespace"; }
  void save(const std::filesystem::path& folder, std::string_view stem) const override;

 private:
  // Finds a std::string key by a std::string_view, without a copy.
  struct TokenHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view token) const { return std::hash<std::string_view>{}(token); }
  };

  WhitespaceVocabulary();
  // Returns false where the token is there already.
  bool add(std::string token);
  std::string text_of(std::span<const int> ids, Specials specials) const override;
  std::string surface(int id) const override;

  std::vector<std::string> tokens_;
  std::unordered_map<std::string, int, TokenHash, std::equal_to<>> ids_;
};

}  // namespace heed
