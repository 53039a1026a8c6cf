// Texts through a Transformer, in batches of about as many tokens: its vectors of their tokens.
//
//   const TextReader reader(folder);                                 // an encoder, or what else reads whole texts
//   const std::vector<EncodedText> texts = reader.encode(lines, "input");
//   reader.read(texts, 2048, [&](const ReadBatch& batch) { use(batch.texts, batch.hidden); });
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/progress.h"
#include "heed/models/transformer.h"
#include "heed/tasks/model_folder.h"

namespace heed {

struct ReadBatch {
  const Context& context;
  std::vector<Index> texts;  // which of them its rows are
  TokenBatch tokens;         // padded
  Var hidden;                // [rows, longest, width]
};

// What a text's vectors are of a model with an encoder and a decoder.
enum class ReadBy {
  encoder,
  decoder,  // which reads the text again, behind the token that it begins with: a classifier's   (Lewis et al. 2020)
};

// How long a text may be.
struct TextLimit {
  std::optional<Index> most = {};  // tokens, where the model can hold more
  bool cut = false;                // a longer text loses its last tokens, but none of its template
};

// Of a model with an encoder it takes the encoder's output, of a language model what its projection reads. The folder
// outlives it.
class TextReader {
 public:
  // `by` is for a model that has both. Throws heed::Error where the model is no Transformer.
  explicit TextReader(const ModelFolder& folder, ReadBy by = ReadBy::encoder);

  const Transformer& model() const { return model_; }
  const Vocabulary& vocabulary() const { return vocabulary_; }

  // The ids of each line with what its vocabulary's template puts around a text, or around the two that a tab parts;
  // of heed's own models, with the end token behind a source and the begin token before a language model's text.
  // Throws heed::Error that names `name` and the line for one of no tokens, of more than the limit or the model can
  // hold where it may not be cut, as two texts never are, or with several tabs.
  std::vector<EncodedText> encode(std::span<const std::string> lines, std::string_view name,
                                  const TextLimit& limit = {}) const;

  // Calls `use` with batches that hold about batch_tokens tokens, until every text has been in one. A text's vectors
  // have the same bits in any. Progress counts texts. The observer has been shown each batch before it is used.
  void read(std::span<const EncodedText> texts, Index batch_tokens, const std::function<void(const ReadBatch&)>& use,
            const Progress& progress, AttentionObserver* observer = nullptr) const;

  // Whose vectors a text's are.
  EmbeddedSide side() const;
  Index layers() const;

 private:
  EncodedText ids_of(const std::string& line) const;
  Var hidden(const Context& context, const TokenBatch& tokens, const Tensor& types) const;

  const ModelFolder& folder_;
  const Transformer& model_;
  const Vocabulary& vocabulary_;
  ReadBy by_;
};

}  // namespace heed
