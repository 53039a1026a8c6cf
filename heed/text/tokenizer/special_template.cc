#include "heed/text/tokenizer/special_template.h"

#include <algorithm>

#include "heed/text/tokenizer/json_fields.h"
#include "heed/text/tokenizer/piece_table.h"

namespace heed {
namespace {

int read_id(const Json& json) { return static_cast<int>(json.integer(0, PieceTable::kMostPieces - 1)); }
int read_type(const Json& json) { return is_given(json, "type_id") ? read_id(json["type_id"]) : 0; }

constexpr Index kMostParts = 256;

}  // namespace

SpecialTemplate::SpecialTemplate(const Json& json) {
  if (json.is_null()) return;
  const std::string type = type_of(json);
  if (type == "TemplateProcessing") {
    read_template(json);
  } else if (type == "BertProcessing" || type == "RobertaProcessing") {
    read_cls_and_sep(json, type == "RobertaProcessing");
  } else if (type == "Sequence") {
    bool adds = false;
    for (const Json& step : json["processors"].items()) {
      if (step.is_null() || type_of(step) == "ByteLevel") continue;
      if (adds) step.refuse("must be the only post-processor that adds tokens");
      *this = SpecialTemplate(step);
      adds = true;
    }
  } else if (type != "ByteLevel") {
    json["type"].refuse("must be a post-processor that heed has");
  }
}

void SpecialTemplate::read_template(const Json& json) {
  const auto read_parts = [&](const Json& list) {
    if (list.size() > kMostParts) list.refuse("must have 256 parts at most");
    std::vector<Part> parts;
    for (const Json& item : list.items()) {
      if (item.has("Sequence")) {
        const std::string& which = item["Sequence"]["id"].string();
        if (which != "A" && which != "B") item["Sequence"]["id"].refuse("must be A or B");
        parts.push_back({.text = which == "A" ? 0 : 1, .type = read_type(item["Sequence"])});
        continue;
      }
      const Json token = item["SpecialToken"];
      Part part{.type = read_type(token)};
      const Json ids = json["special_tokens"][token["id"].string()]["ids"];
      if (ids.size() > kMostParts) ids.refuse("must have 256 ids at most");
      for (const Json& id : ids.items()) part.ids.push_back(read_id(id));
      parts.push_back(std::move(part));
    }
    return parts;
  };
  single_ = read_parts(json["single"]);
  pair_ = read_parts(json["pair"]);
}

// BERT: [CLS] A [SEP] B [SEP], where B and what is behind it are of type 1. RoBERTa: <s> A </s> </s> B </s>, all of 0.
void SpecialTemplate::read_cls_and_sep(const Json& json, bool roberta) {
  const auto token = [&](std::string_view key) {
    const Json both = json[key];
    if (both.kind() != Json::Kind::array || both.size() != 2) both.refuse("must be a token and its id");
    return read_id(both[Index{1}]);
  };
  const int cls = token("cls"), sep = token("sep");
  const int second = roberta ? 0 : 1;
  single_ = {{.ids = {cls}}, {.text = 0}, {.ids = {sep}}};
  pair_ = single_;
  if (roberta) pair_.push_back({.ids = {sep}});
  pair_.push_back({.text = 1, .type = second});
  pair_.push_back({.ids = {sep}, .type = second});
}

Json with_special_token(const Json& json, const std::function<bool(std::string_view)>& replaced, std::string_view token,
                        int id) {
  constexpr std::string_view kNone = "must have a token around a text that can be replaced";
  const std::string type = json.is_null() ? "" : type_of(json);
  Json changed = json;
  if (type == "Sequence") {
    Json steps = Json::array();
    bool has_template = false;
    for (const Json& step : json["processors"].items()) {
      const bool is_template = !step.is_null() && type_of(step) == "TemplateProcessing";
      steps.append(is_template ? with_special_token(step, replaced, token, id) : step);
      has_template = has_template || is_template;
    }
    if (!has_template) json.refuse(kNone);
    changed.set("processors", steps);
    return changed;
  }
  if (type != "TemplateProcessing") json.refuse(kNone);
  const auto is_replaced = [&](const Json& part) {
    return part.has("SpecialToken") && replaced(part["SpecialToken"]["id"].string());
  };
  const auto with_token = [&](const Json& parts) {
    Json list = Json::array();
    for (Json part : parts.items()) {
      if (is_replaced(part)) {
        Json special = part["SpecialToken"];
        special.set("id", token);
        part.set("SpecialToken", special);
      }
      list.append(part);
    }
    return list;
  };
  if (std::ranges::none_of(json["single"].items(), is_replaced)) json.refuse(kNone);
  changed.set("single", with_token(json["single"]));
  changed.set("pair", with_token(json["pair"]));
  Json tokens = json["special_tokens"];
  tokens.set(token, Json::object({{"id", token}, {"ids", Json::array({id})}, {"tokens", Json::array({token})}}));
  changed.set("special_tokens", tokens);
  return changed;
}

EncodedText SpecialTemplate::apply(std::span<const int> ids) const { return fill(single_, ids, {}); }

EncodedText SpecialTemplate::apply(std::span<const int> first, std::span<const int> second) const {
  return fill(pair_, first, second);
}

int SpecialTemplate::largest_id() const {
  int largest = -1;
  for (const auto* parts : {&single_, &pair_}) {
    for (const Part& part : *parts) {
      for (const int id : part.ids) largest = std::max(largest, id);
    }
  }
  return largest;
}

EncodedText SpecialTemplate::fill(std::span<const Part> parts, std::span<const int> first,
                                  std::span<const int> second) {
  EncodedText text;
  for (const Part& part : parts) {
    const std::span<const int> ids = part.text == 0 ? first : part.text == 1 ? second : std::span<const int>(part.ids);
    text.ids.insert(text.ids.end(), ids.begin(), ids.end());
    text.types.resize(text.ids.size(), part.type);
  }
  return text;
}

}  // namespace heed
