// What a model can use of a vocabulary that has more pieces than the model's embedding has rows, as when a token was
// added to the one and not to the other.
//
//   std::shared_ptr<const Vocabulary> pieces = open_tokenizer("llama");       // 32001 of them, the last is <pad>
//   pieces = bounded_vocabulary(std::move(pieces), 32000);
//   pieces->encode("a <pad>");                                                // heed::Error that names <pad>
#pragma once

#include <memory>

#include "heed/text/vocabulary.h"

namespace heed {

// The first `rows` pieces of another vocabulary, at least one. A text whose ids there are all below `rows` has the same
// ids; encode and encode_special throw heed::Error for any other, with the piece, its id and the rows. To all else the
// pieces beyond are not there: a symbol among them is -1, and decode and piece refuse their ids. It is saved whole.
class BoundedVocabulary final : public Vocabulary {
 public:
  BoundedVocabulary(std::shared_ptr<const Vocabulary> whole, Index rows);

  const Vocabulary& whole() const { return *whole_; }

  std::vector<int> encode(std::string_view text) const override;
  EncodedText encode_special(std::string_view text) const override;
  EncodedText encode_special(std::string_view first, std::string_view second) const override;
  bool is_special(int id) const override { return whole_->is_special(id); }
  std::string piece(int id) const override;
  std::string surface(int id) const override;
  int id_of(std::string_view piece) const override;
  Index size() const override { return rows_; }
  std::string_view kind() const override { return whole_->kind(); }
  void save(const std::filesystem::path& folder, std::string_view stem) const override { whole_->save(folder, stem); }

 private:
  std::string text_of(std::span<const int> ids, Specials specials) const override;
  void check_known(std::span<const int> ids) const;

  std::shared_ptr<const Vocabulary> whole_;
  Index rows_;
};

// The vocabulary itself where it has no more pieces than that.
std::shared_ptr<const Vocabulary> bounded_vocabulary(std::shared_ptr<const Vocabulary> vocabulary, Index rows);

}  // namespace heed
