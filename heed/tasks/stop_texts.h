// Texts that end a continuation where they come.
//
//   const StopTexts stops({"\n\n"});
//   stops.find("one\n\ntwo", 0);                 // 3
//   stops.before("one\n\ntwo", 0, true);         // "one"
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "heed/base/error.h"

namespace heed {

class StopTexts {
 public:
  StopTexts() = default;
  // Throws heed::Error where one is empty or not valid UTF-8.
  explicit StopTexts(std::vector<std::string> texts);

  bool empty() const { return texts_.empty(); }
  // Where the first of them begins, at byte `from` of the text or behind it; npos: none does.
  std::size_t find(std::string_view text, std::size_t from) const;
  // The text up to where the first of them begins. Where it has not `ended`, it may go on: what may yet become the
  // first of them is left out, too, so that later ones begin with it.
  std::string_view before(std::string_view text, std::size_t from, bool ended) const;

 private:
  std::vector<std::string> texts_;
};

}  // namespace heed
