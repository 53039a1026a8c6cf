// The special tokens around a text, or around two: tokenizer.json's "post_processor".
//
//   const SpecialTemplate around(json["post_processor"]);
//   around.apply(ids);   // [CLS] ids [SEP]
#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "heed/io/json.h"
#include "heed/text/vocabulary.h"

namespace heed {

// A post-processor like this one, with the token of that id wherever it has one of those that are `replaced`: of
// NLLB's, the language that a text is in. Throws heed::Error naming the place where it has none around a text.
Json with_special_token(const Json& json, const std::function<bool(std::string_view)>& replaced, std::string_view token,
                        int id);

class SpecialTemplate {
 public:
  // Nothing around a text.
  SpecialTemplate() = default;
  // BertProcessing, ByteLevel (which adds nothing), RobertaProcessing, Sequence, TemplateProcessing; null: nothing.
  // Throws heed::Error naming the place for any other, or what one of them lacks.
  explicit SpecialTemplate(const Json& json);

  EncodedText apply(std::span<const int> ids) const;
  EncodedText apply(std::span<const int> first, std::span<const int> second) const;
  // The largest id that it adds; -1 where it adds none.
  int largest_id() const;

 private:
  struct Part {
    int text = -1;           // 0 or 1: the ids of that text
    std::vector<int> ids{};  // otherwise these
    int type = 0;
  };

  void read_template(const Json& json);
  void read_cls_and_sep(const Json& json, bool roberta);
  static EncodedText fill(std::span<const Part> parts, std::span<const int> first, std::span<const int> second);

  std::vector<Part> single_ = {{.text = 0}};
  std::vector<Part> pair_ = {{.text = 0}, {.text = 1, .type = 1}};
};

}  // namespace heed
