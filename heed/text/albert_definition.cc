#include "heed/text/albert_definition.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "heed/base/check.h"
#include "heed/text/tokenizer/definitions.h"

namespace heed {
namespace {

bool is_number_and_comma(std::string_view piece) {
  if (piece.size() < 2 || !piece.ends_with(',')) return false;
  const char last = piece[piece.size() - 2];
  return last >= '0' && last <= '9';
}

TemplateToken albert_symbol(const PlainVocabulary& model, const std::string& piece, std::string_view name) {
  const auto found = std::ranges::find(model.pieces, piece);
  HEED_CHECK(found != model.pieces.end(), "{}: of an AlbertTokenizer, there must be a piece '{}'", name, piece);
  return {piece, static_cast<Index>(found - model.pieces.begin())};
}

}  // namespace

Json albert_definition(PlainVocabulary model, const AlbertRules& rules, std::string_view name) {
  const TemplateToken classifier = albert_symbol(model, "[CLS]", name), separator = albert_symbol(model, "[SEP]", name);
  constexpr float kLastResort = -100;
  for (std::size_t id = 0; id < model.pieces.size(); ++id) {
    if (is_number_and_comma(model.pieces[id])) model.scores[id] += kLastResort;
  }
  Json definition = tokenizer_definition(model, name);
  std::vector<Json> steps;
  const auto add = [&](std::string_view type) { steps.push_back(Json::object({{"type", type}})); };
  for (const char* quote : {"``", "''"}) {
    steps.push_back(
        Json::object({{"type", "Replace"}, {"pattern", Json::object({{"String", quote}})}, {"content", "\""}}));
  }
  if (!rules.keeps_accents) add("NFKD"), add("StripAccents");
  if (rules.lower) add("Lowercase");
  steps.push_back(definition["normalizer"]);
  definition.set("normalizer", Json::object({{"type", "Sequence"}, {"normalizers", Json::array(std::move(steps))}}));
  definition.set("post_processor", bert_template(classifier, separator));
  return with_token_that(std::move(definition), "[MASK]", "lstrip");
}

}  // namespace heed
