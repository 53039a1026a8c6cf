// A tokenizer from plain lists: what files of weights hold of their vocabulary (GGUF's tokenizer.ggml.*, llama2.c's
// tokenizer.bin).
//
//   PlainVocabulary plain{.kind = PlainVocabulary::Kind::llama, .pieces = pieces, .scores = scores};
//   plain.symbols = {.unknown = 0, .begin = 1, .end = 2};
//   plain.before = {1};
//   const Tokenizer tokenizer = make_tokenizer(plain, "stories260K.gguf");
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heed/io/json.h"
#include "heed/text/tokenizer/tokenizer.h"
#include "heed/text/vocabulary.h"

namespace heed {

struct PlainVocabulary {
  enum class Kind {
    llama,  // SentencePiece's BPE: two neighbours that are a piece are merged, the highest score first; pieces for bytes
    gpt2,   // BPE on bytes, by merges
    bert,   // WordPiece; a piece that begins a word begins with U+2581, unless some piece begins with "##"
    t5      // a unigram model
  };
  // As SentencePiece's models and GGUF number them.
  enum class Type { normal = 1, unknown = 2, control = 3, user_defined = 4, unused = 5, byte = 6 };

  Kind kind = Kind::llama;
  std::vector<std::string> pieces{};  // by id; of llama, with U+2581 or a space where a word begins
  std::vector<float> scores{};        // of llama and t5, one for each piece
  std::vector<Type> types{};          // one for each piece; empty: by their names and the symbols
  std::vector<std::string> merges{};  // of gpt2: "a b", the best first
  // Of gpt2, where text is cut, by llama.cpp's name for it: "" and "gpt-2", "llama-bpe", "qwen2", "gpt-4o", "tekken",
  // "starcoder", "falcon", "deepseek-coder", "deepseek-v3", "bloom" and names of models that are cut like one of these.
  std::string cut{};
  SymbolIds symbols{};
  // What encode_special puts around a text, by id; not of bert. Between two texts: behind and before, unless it is
  // said, which then also says that both texts have the type 0.
  std::vector<int> before{}, behind{};
  std::optional<std::vector<int>> between{};
  bool space_prefix = true;     // of llama and t5: a text begins as if a space stood before it
  bool single_spaces = false;   // of llama and t5: runs of spaces are one, and those at the ends go
  bool lower = true;            // of bert
  std::string character_map{};  // of llama and t5: SentencePiece's normaliser (NormalizerSpec.precompiled_charsmap)
};

// Tokens that a text may spell are found in it: of type control they are special, of type user_defined they are not.
// Throws heed::Error that begins with `name` for lists whose lengths differ, symbols that are not there, and a cut that
// is not known.
Tokenizer make_tokenizer(const PlainVocabulary& plain, std::string_view name);

// Whether llama.cpp begins a text that is cut so with the begin token where a file does not say it.
bool begins_texts(std::string_view cut);

// The same as the content of a tokenizer.json, which does not say `symbols`.
Json tokenizer_definition(const PlainVocabulary& plain, std::string_view name);

}  // namespace heed
