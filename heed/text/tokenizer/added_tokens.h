// Tokens that are found in a text before anything else is done to it: tokenizer.json's "added_tokens".
//
//   AddedTokens tokens;
//   tokens.add({.content = "<sep>", .special = true}, model.pieces());
//   tokens.finish(normaliser);
//   tokens.split(text, normaliser, [&](const Word& text, int id) { ... });   // id -1: between tokens
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "heed/io/json.h"
#include "heed/text/tokenizer/normaliser.h"
#include "heed/text/tokenizer/piece_table.h"
#include "heed/text/tokenizer/pre_tokenizer.h"

namespace heed {

struct AddedToken {
  std::string content;
  bool special = false;      // decoding may leave it out
  bool single_word = false;  // only where no letter, digit or mark stands beside it
  bool lstrip = false;       // with the white space before it
  bool rstrip = false;       // with the white space behind it
  bool normalized = true;    // looked for in the normalised text, as the normaliser makes it
};

class AddedTokens {
 public:
  static constexpr std::size_t kLongest = 4096;                    // bytes of a token
  static constexpr std::size_t kMostBytes = std::size_t{4} << 20;  // of all together

  // Adds a token under the model's id for it, or behind as many ids as the model has pieces and new tokens came before
  // it, whoever has that id. Throws heed::Error for one of more than kLongest bytes, and where all have more than
  // kMostBytes. Tokens must be added before split is called.
  void add(const AddedToken& token, const PieceTable& pieces);
  // Prepares the search; call once, after all have been added.
  void finish(const Normaliser* normaliser);

  // Calls use(word, id) for each token of the text, and with -1 for what lies between them, normalised. Null: no
  // normaliser.
  using Use = std::function<void(Word word, int id)>;
  void split(std::string_view text, const Normaliser* normaliser, const Use& use) const;

  // -1 where no token has this content.
  int find(std::string_view content) const;
  // Nothing where the id is no token's.
  const AddedToken* token(int id) const;
  bool is_special(std::string_view content) const;
  // The ids of the special tokens.
  std::vector<int> special_ids() const;
  // The largest id; -1 where there is none.
  int largest_id() const { return largest_id_; }

 private:
  // A trie over bytes, whose longest match at each place counts.
  class Trie {
   public:
    void add(std::string_view text, int id);
    // The length of the longest match at the start of the text, and its id; 0 where there is none.
    std::size_t longest(std::string_view text, int& id) const;
    // The first place at or after `from` where a token may begin.
    std::size_t next_start(std::string_view text, std::size_t from) const;

   private:
    struct Node {
      int id = -1;
      std::uint32_t first_child = 0, next_sibling = 0;  // 0: none, for the root is nobody's
      char byte = 0;
    };
    // 0 where the node has no such child.
    std::uint32_t child(std::uint32_t node, char byte) const;

    std::vector<Node> nodes_{1};
    std::array<bool, 256> starts_{};
  };

  void find_in(const Trie& trie, Word text, const Use& use) const;

  std::vector<AddedToken> special_tokens_;     // the first of each content, in the order in which they were added
  std::vector<AddedToken> plain_tokens_;       // in that order too
  std::unordered_map<std::string, int> ids_;   // by content
  std::unordered_map<int, AddedToken> by_id_;  // the last one with an id
  std::unordered_set<std::string> special_;    // contents
  Trie plain_, normalised_;
  int largest_id_ = -1;
  Index new_tokens_ = 0;  // that are no pieces of the model's
  std::size_t bytes_ = 0;
};

AddedToken read_added_token(const Json& json);

}  // namespace heed
