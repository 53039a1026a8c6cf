// tokenizer.json's of what came before it: vocab.txt, and vocab.json with merges.txt.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/io/json.h"

namespace heed {

// BERT's of Google and Hugging Face (BertTokenizer).
struct BertRules {
  bool lower = true;
  bool chinese = true;  // Chinese characters are words
  bool strips_accents = true;
  std::string unknown = "[UNK]", classifier = "[CLS]", separator = "[SEP]", pad = "[PAD]", mask = "[MASK]";
};

// `pieces` by id. Throws heed::Error naming `name` where the unknown, classifier or separator piece is not there.
Json bert_definition(std::span<const std::string> pieces, const BertRules& rules, std::string_view name);

// MPNet's, of BERT's: the mask takes the space before it along, and between two texts stand two separators.
Json mpnet_definition(Json bert, const BertRules& rules);

// GPT-2's (byte-level BPE): pieces with their ids as an object, merges as a list, and the tokens that a text may spell.
Json gpt2_definition(Json pieces, Json merges, std::span<const std::string> special_tokens, bool prefix_space);
// The same with <s> and </s> around texts, and between two (RoBERTa's).
Json roberta_definition(Json pieces, Json merges, std::span<const std::string> special_tokens, bool prefix_space,
                        const Json& begin, const Json& end, std::string_view mask);

// CLIP's: lower case, words that end with "</w>", and two tokens, as ["<|startoftext|>", 0], around a text.
Json clip_definition(Json pieces, Json merges, const Json& begin, const Json& end);

// The definition with these tokens too, each in the place of one that is spelled alike.
Json with_added_tokens(Json definition, std::span<const Json> tokens);

// The definition whose added token of this content, where it has one, has the property `is` ("lstrip": it takes the
// space before it along).
Json with_token_that(Json definition, std::string_view content, std::string_view is);

// An item of "added_tokens".
Json added_token(std::string_view content, Index id, bool is_special);

struct TemplateToken {
  std::string text;
  Index id;
};
// What stands around a text, and around two.
struct TemplateTokens {
  std::vector<TemplateToken> before, behind;
  // Between two texts, whose types are both 0; nothing: each text has its own before and behind it, the second's type
  // is 1.
  std::optional<std::vector<TemplateToken>> between;
};
// A "post_processor" that puts them there.
Json template_definition(const TemplateTokens& tokens);

// BERT's: "[CLS] A [SEP]" and "[CLS] A [SEP] B [SEP]", where the second text's type is 1.
Json bert_template(const TemplateToken& classifier, const TemplateToken& separator);

// The lines of merges.txt as such a list.
Json merges_of(std::string_view text, std::string_view name);

}  // namespace heed
