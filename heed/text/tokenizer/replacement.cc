#include "heed/text/tokenizer/replacement.h"

#include "heed/base/utf8.h"
#include "heed/text/tokenizer/growth.h"

namespace heed {

Pattern::Pattern(const Json& json) {
  if (json.has("Regex")) {
    regex_.emplace(json["Regex"].string(), json.where());
  } else if (json.has("String")) {
    text_ = json["String"].string();
    if (text_.empty()) regex_.emplace("(?:)", json.where());  // matches before each character, as with Hugging Face
  } else {
    json.refuse("must have String or Regex");
  }
}

void Pattern::for_each_match(std::string_view text,
                             const std::function<void(std::size_t begin, std::size_t end)>& use) const {
  if (regex_) {
    regex_->for_each_match(text, use);
    return;
  }
  for (std::size_t at = text.find(text_); at != std::string_view::npos; at = text.find(text_, at + text_.size())) {
    use(at, at + text_.size());
  }
}

std::size_t Pattern::match_at_start(std::string_view text) const {
  if (regex_) return regex_->match_at_start(text);
  return text.starts_with(text_) ? text_.size() : 0;
}

Replacement::Replacement(const Json& json) : pattern_(json["pattern"]), content_(json["content"].string()) {}

std::string Replacement::apply(std::string_view text) const {
  std::string replaced;
  std::size_t kept = 0;
  const std::size_t given = text.size();
  pattern_.for_each_match(text, [&](std::size_t begin, std::size_t end) {
    replaced.append(text, kept, begin - kept);
    replaced += content_;
    check_growth(replaced.size(), given, "a Replace of the tokenizer");
    kept = end;
  });
  replaced.append(text, kept);
  return replaced;
}

bool Replacement::loses_first(std::string_view text) const {
  const std::size_t match = pattern_.match_at_start(text);
  return match > 0 && (content_.empty() || match > utf8_length(text[0]));
}

}  // namespace heed
