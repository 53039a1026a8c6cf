#include "heed/text/streaming_decoder.h"

#include <span>

namespace heed {
namespace {

constexpr std::string_view kUnreadable = "\xEF\xBF\xBD";  // U+FFFD: perhaps the first bytes of a character

}  // namespace

std::string StreamingDecoder::add(int id) {
  ids_.push_back(id);
  const std::string all = vocabulary_.decode(ids_, specials_);
  const bool certain = !all.ends_with(kUnreadable) && all.starts_with(returned_text_);
  if (!certain || all.size() == returned_text_.size()) return "";
  std::string fresh = all.substr(returned_text_.size());
  // The ids whose text was returned before are no longer needed: those of now stand before what comes next.
  ids_.erase(ids_.begin(), ids_.begin() + static_cast<std::ptrdiff_t>(returned_));
  returned_ = ids_.size();
  returned_text_ = vocabulary_.decode(ids_, specials_);
  return fresh;
}

std::string StreamingDecoder::finish() {
  const std::string all = vocabulary_.decode(ids_, specials_);
  std::string rest = all.starts_with(returned_text_) ? all.substr(returned_text_.size()) : "";
  ids_.clear();
  returned_ = 0;
  returned_text_.clear();
  return rest;
}

}  // namespace heed
